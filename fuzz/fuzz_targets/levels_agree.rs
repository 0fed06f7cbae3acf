//! Every level writes the same wire, and gives the same result for any wire, including hostile ones.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mpress_codec::simd::Level;
use mpress_fuzz::{decode, encode, pair, split};

fuzz_target!(|data: &[u8]| {
    let Some((codec, setting, len, bytes)) = split(data) else { return };
    let results = |level| {
        let (mut encoder, mut decoder) = pair(codec, setting, level);
        (encode(&mut *encoder, bytes), decode(&mut *decoder, bytes, len))
    };
    let scalar = results(Level::SCALAR);
    for level in Level::available().filter(|level| *level != Level::SCALAR) {
        assert!(results(level) == scalar, "{level:?} differs from scalar");
    }
});
