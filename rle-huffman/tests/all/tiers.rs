//! Every tier writes the same bytes and gives the same result for any wire.

use crate::support_settings as settings;

use mpress_codec::conformance::{decode, encode, families, random_bytes, tiers};
use settings::{SETTINGS, Setting};

/// Bytes of which each value is about half as frequent as the previous one: the longest codes would exceed the limit.
fn skewed(len: usize) -> Vec<u8> {
    let noise = random_bytes(9, len * 4);
    noise.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word).leading_zeros() as u8).collect()
}

/// Runs of 1 to 40 bytes.
fn runs(len: usize) -> Vec<u8> {
    random_bytes(4, len).iter().flat_map(|byte| vec![*byte; usize::from(byte % 40) + 1]).take(len).collect()
}

fn agree(setting: &Setting, raw: &[u8], what: &str) {
    let mut pairs: Vec<_> = tiers().into_iter().map(setting.make).collect();
    let wires: Vec<_> = pairs.iter_mut().map(|(encoder, _)| encode(encoder, raw)).collect();
    for (wire, (_, decoder)) in wires.iter().zip(&mut pairs) {
        assert!(*wire == wires[0], "{what}, {} bytes, {}: other bytes", raw.len(), setting.name);
        let back = decode(decoder, wire, raw.len());
        assert!(back.as_deref() == Ok(raw), "{what}, {} bytes, {}", raw.len(), setting.name);
    }
    // Damaged wires: all tiers give the same result.
    for seed in 0..10 {
        let mut damaged = wires[0].clone();
        for change in random_bytes(seed, 12).as_chunks::<4>().0 {
            let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % damaged.len();
            damaged[at] ^= if at < 2 { 0 } else { change[2] };
        }
        let mut results = pairs.iter_mut().map(|(_, decoder)| decode(decoder, &damaged, raw.len()));
        let first = results.next().unwrap();
        assert!(results.all(|result| result == first), "{what}, {}, seed {seed}", setting.name);
    }
}

#[test]
fn all_tiers_agree() {
    for setting in &SETTINGS {
        for (name, generate) in families().into_iter().chain([("skewed", skewed as _), ("runs", runs as _)]) {
            for len in [0, 1, 9, 65, 511, 513, 4095, 4100, 20_003, 65_536, 140_005] {
                agree(setting, &generate(len), name);
            }
        }
    }
}

#[test]
fn every_length_of_short_messages() {
    for setting in &SETTINGS {
        for len in 0..400 {
            agree(setting, &runs(len), "runs");
        }
    }
}
