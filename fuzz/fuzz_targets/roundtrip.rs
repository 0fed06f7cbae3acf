//! Every message round-trips, and its wire is within the bound; a truncated wire, an extended one and one of another length are refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mpress_codec::simd::Simd;
use mpress_codec::{CodecId, DecodeErrorKind, compress_with, decompress_with};
use mpress_fuzz::{decode, encode, pair, split};

fuzz_target!(|data: &[u8]| {
    let Some((codec, setting, cut, raw)) = split(data) else { return };
    let new = || pair(codec, setting, Simd::detect());
    let (mut encoder, mut decoder) = new();
    let mut wire = encode(&mut *encoder, raw);
    assert!(decode(&mut *decoder, &wire, raw.len()).as_deref() == Ok(raw), "no round trip");

    let prefix = &wire[..cut % wire.len()];
    assert_eq!(decode(&mut *new().1, prefix, raw.len()), Err(DecodeErrorKind::Truncated));
    let by = 8 * (1 + usize::from(setting));
    for other in [cut, raw.len() / 2, raw.len().saturating_sub(by), raw.len() + by, raw.len() ^ 1] {
        if other != raw.len() {
            decode(&mut *new().1, &wire, other).expect_err("another length");
        }
    }
    wire.push(setting);
    decode(&mut *new().1, &wire, raw.len()).expect_err("a byte too many");

    let (mut encoder, mut decoder) = new();
    let id = CodecId(codec);
    let message = compress_with(id, &mut encoder, raw).expect("memory");
    let back = decompress_with::<u8>(id, &mut decoder, &message, raw.len());
    assert!(back.as_deref() == Ok(raw), "no round trip in a vector");
});
