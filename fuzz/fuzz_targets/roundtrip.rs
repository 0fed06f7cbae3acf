//! Every message is restored, and its wire is within the bound; a truncated wire, an extended one and one of another length are refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mpress_codec::simd::Simd;
use mpress_codec::{Check, DecodeErrorKind, decode_to_vec, encode_to_vec};
use mpress_fuzz::{decode, encode, pair, shows_length, split};

fuzz_target!(|data: &[u8]| {
    let Some((codec, setting, cut, raw)) = split(data) else { return };
    let new = || pair(codec, setting, Simd::detect());
    let (mut encoder, mut decoder) = new();
    let mut wire = encode(&mut *encoder, raw);
    assert!(decode(&mut *decoder, &wire, raw.len()).as_deref() == Ok(raw), "it did not come back");

    let prefix = &wire[..cut % wire.len()];
    assert_eq!(decode(&mut *new().1, prefix, raw.len()), Err(DecodeErrorKind::Truncated));
    let by = 8 * (1 + usize::from(setting));
    for other in [cut, raw.len() / 2, raw.len().saturating_sub(by), raw.len() + by] {
        if other != raw.len() && shows_length(codec, setting) {
            decode(&mut *new().1, &wire, other).expect_err("another length");
        }
    }
    wire.push(setting);
    decode(&mut *new().1, &wire, raw.len()).expect_err("a byte too many");

    let (mut encoder, mut decoder) = new();
    let check = if setting.is_multiple_of(2) { Check::Crc32 } else { Check::None };
    let message = encode_to_vec(&mut encoder, raw, check).expect("memory");
    assert!(decode_to_vec(&mut decoder, &message, raw.len(), check).as_deref() == Ok(raw), "nor in a vector");
});
