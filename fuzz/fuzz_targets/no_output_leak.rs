//! The previous contents of a buffer do not affect the result: differently filled buffers get the same output.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mpress_codec::simd::Simd;
use mpress_fuzz::{decode_over, encode_over, pair, split};

fuzz_target!(|data: &[u8]| {
    let Some((codec, setting, len, bytes)) = split(data) else { return };
    let results = |fill| {
        let (mut encoder, mut decoder) = pair(codec, setting, Simd::detect());
        (encode_over(&mut *encoder, bytes, fill), decode_over(&mut *decoder, bytes, len, fill))
    };
    assert!(results(0x00) == results(0xff), "the buffer's old contents show");
});
