//! Decoders are pooled: after any wires and a reset, a decoder gives the same result as a new one for every wire.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mpress_codec::simd::Simd;
use mpress_fuzz::{continuing, decode, encode, pair, split};

fuzz_target!(|data: &[u8]| {
    let Some((codec, setting, raw_len, mut rest)) = split(data) else { return };
    // Codec numbers beyond the table mean codecs whose state carries over from message to message.
    let new = || match codec {
        0xc0.. => continuing(codec, setting),
        _ => pair(codec, setting, Simd::detect()),
    };
    let mut used = new().1;
    let raw: Vec<u8> = rest.iter().copied().cycle().take(raw_len.min(64 * rest.len())).collect();
    let good = encode(&mut *new().0, &raw);
    // Each step is a wire: taken directly from the input, or a valid one with a part replaced.
    for _ in 0..16 {
        let Some(([what, low, high, len], next)) = rest.split_first_chunk() else { break };
        let (bytes, next) = next.split_at(usize::from(*len).min(next.len()));
        rest = next;
        let at = usize::from(u16::from_le_bytes([*low, *high]));
        let (wire, len) = match what % 4 {
            0 => (bytes.to_vec(), at % 20_000),
            1 => (good.clone(), at % 20_000),
            2 => (good[..at % good.len()].to_vec(), raw.len()),
            _ => {
                let mut wire = good.clone();
                wire[at % good.len()..].iter_mut().zip(bytes).for_each(|(byte, other)| *byte ^= other);
                (wire, raw.len())
            }
        };
        let result = decode(&mut *used, &wire, len);
        if what & 0x80 == 0 {
            // Twice, so that it has seen more than one wire since the reset.
            let _ = decode(&mut *used, &good, raw.len());
            used.reset();
            assert!(decode(&mut *used, &wire, len) == decode(&mut *new().1, &wire, len), "unlike a new one");
        }
        if result.is_err() || what & 0x40 == 0 {
            used.reset();
            assert!(decode(&mut *used, &good, raw.len()).as_ref() == Ok(&raw), "not the message");
            used.reset();
        }
    }
});
