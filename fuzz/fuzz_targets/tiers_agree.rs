//! Every tier writes the same wire, and gives the same result for any wire, including hostile ones.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mpress_codec::simd::Simd;
use mpress_fuzz::{decode, encode, pair, split};

fuzz_target!(|data: &[u8]| {
    let Some((codec, setting, len, bytes)) = split(data) else { return };
    let results = |simd| {
        let (mut encoder, mut decoder) = pair(codec, setting, simd);
        (encode(&mut *encoder, bytes), decode(&mut *decoder, bytes, len))
    };
    let scalar = results(Simd::SCALAR);
    for simd in Simd::available().filter(|simd| *simd != Simd::SCALAR) {
        assert!(results(simd) == scalar, "{simd:?} differs from scalar");
    }
});
