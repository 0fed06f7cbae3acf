//! Any bytes are decoded or refused, without a panic and, on an error, without output (the helper checks this). An accepted wire was consumed to
//! its last byte, so without that byte it is truncated.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mpress_codec::simd::Simd;
use mpress_codec::{CodecId, DecodeErrorKind, decompress_with};
use mpress_fuzz::{decode, encode, pair, split};

fuzz_target!(|data: &[u8]| {
    let Some((codec, setting, len, wire)) = split(data) else { return };
    let new = || pair(codec, setting, Simd::detect());
    // With the right check, as an attacker would send it.
    let message = [&[1][..], wire, &crc32fast::hash(&[&[1][..], wire].concat()).to_le_bytes()].concat();
    let id = CodecId(wire.first().copied().unwrap_or_default());
    if let Ok(raw) = decompress_with::<u8>(id, &mut new().1, &message, len) {
        assert!(raw.len() <= len, "more than was allowed");
    }
    if let Ok(raw) = decode(&mut *new().1, wire, len) {
        let (_, without_last) = wire.split_last().expect("no codec accepts nothing");
        assert_eq!(decode(&mut *new().1, without_last, len), Err(DecodeErrorKind::Truncated));
        let (mut encoder, mut decoder) = new();
        let wire = encode(&mut *encoder, &raw);
        assert!(
            decode(&mut *decoder, &wire, len) == Ok(raw),
            "the decoded message does not survive a round trip"
        );
    }
});
