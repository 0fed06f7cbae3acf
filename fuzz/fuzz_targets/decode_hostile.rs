//! Any bytes are decoded or refused, without a panic and without output on an error (which the helper checks). An accepted wire was consumed to its
//! last byte, so without that byte it is truncated.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mpress_codec::simd::Simd;
use mpress_codec::{Check, DecodeErrorKind, decode_to_vec};
use mpress_fuzz::{decode, encode, pair, split};

fuzz_target!(|data: &[u8]| {
    let Some((codec, setting, len, wire)) = split(data) else { return };
    let new = || pair(codec, setting, Simd::detect());
    if let Ok(raw) = decode_to_vec(&mut new().1, wire, len, Check::None) {
        assert!(raw.len() <= len, "more than was allowed");
    }
    if let Ok(raw) = decode(&mut *new().1, wire, len) {
        let (_, without_last) = wire.split_last().expect("no codec accepts nothing");
        assert_eq!(decode(&mut *new().1, without_last, len), Err(DecodeErrorKind::Truncated));
        let (mut encoder, mut decoder) = new();
        let wire = encode(&mut *encoder, &raw);
        assert!(
            decode(&mut *decoder, &wire, len) == Ok(raw),
            "what was decoded does not survive a round trip"
        );
    }
});
