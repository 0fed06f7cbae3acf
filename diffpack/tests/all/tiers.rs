//! Every tier writes the same bytes and decodes every wire to the same result.

use crate::header;
use mpress_codec::conformance::{decode, encode, families, random_bytes, tiers};
use mpress_diffpack::{Decoder, Effort, Encoder, Word};

/// The wire of `raw`, which is the same at all tiers and which all tiers decode.
fn agree<W: Word>(effort: Effort, raw: &[u8], what: &str) -> Vec<u8> {
    let mut wires = tiers().into_iter().map(|simd| {
        let wire = encode(&mut Encoder::<W>::new(effort).with_simd(simd), raw);
        let back = decode(&mut Decoder::<W>::new().with_simd(simd), &wire, raw.len());
        assert!(
            back.as_deref() == Ok(raw),
            "{what}, {} bytes, {effort:?}, {simd:?}: does not round-trip",
            raw.len()
        );
        (simd, wire)
    });
    let (_, first) = wires.next().unwrap();
    for (simd, wire) in wires {
        assert!(wire == first, "{what}, {} bytes, {effort:?}: other bytes at {simd:?}", raw.len());
    }
    first
}

fn run<W: Word>() {
    for &effort in Effort::ALL {
        for (name, generate) in families() {
            for len in [0, 1, 9, 800, 2048, 2050, 4096, 5003, 20_000, 100_001] {
                let wire = agree::<W>(effort, &generate(len), name);
                // Damaged wires: all tiers give the same result.
                for seed in 0..20 {
                    let mut damaged = wire.clone();
                    for change in random_bytes(seed, 16).as_chunks::<4>().0 {
                        let at = usize::from(u16::from_le_bytes([change[0], change[1]]));
                        if at >= header(0, len).len() && at < damaged.len() {
                            damaged[at] ^= change[2];
                        }
                    }
                    let mut results = tiers()
                        .into_iter()
                        .map(|simd| decode(&mut Decoder::<W>::new().with_simd(simd), &damaged, len));
                    let first = results.next().unwrap();
                    assert!(
                        results.all(|result| result == first),
                        "{name}, {len} bytes, {effort:?}, seed {seed}"
                    );
                }
            }
        }
    }
}

#[test]
fn words_of_64() {
    run::<u64>();
}

#[test]
fn words_of_32() {
    run::<u32>();
}

#[test]
fn words_of_16() {
    run::<u16>();
}
