//! The suite of `mpress-codec`, for every word, effort and tier, with and without a remembering encoder.

use mpress_codec::conformance;
use mpress_diffpack::{Decoder, Diffpack, Effort, Encoder, Word};

fn run<W: Word>(effort: Effort) {
    conformance::at_each_tier(|simd| {
        let decoder = || Decoder::<W>::new().with_simd(simd);
        conformance::run::<Diffpack<W>, _, _>(|| (Encoder::<W>::new(effort).with_simd(simd), decoder()));
        // The encoders that the engine uses.
        let remembering = || Encoder::<W>::remembering(effort).with_simd(simd);
        conformance::run_remembering::<Diffpack<W>, _, _>(|| (remembering(), decoder()));
    });
}

macro_rules! suites {
    ($($name:ident: $word:ty, $effort:ident;)*) => { $(
        #[test]
        fn $name() {
            run::<$word>(Effort::$effort);
        }
    )* };
}

suites! {
    words_of_64_fast: u64, Fast;
    words_of_64_balanced: u64, Balanced;
    words_of_64_ratio: u64, Ratio;
    words_of_32_fast: u32, Fast;
    words_of_32_balanced: u32, Balanced;
    words_of_32_ratio: u32, Ratio;
    words_of_16_fast: u16, Fast;
    words_of_16_balanced: u16, Balanced;
    words_of_16_ratio: u16, Ratio;
}

#[test]
fn the_defaults() {
    conformance::run_defaults::<Diffpack<u64>>();
    conformance::run_defaults::<Diffpack<u32>>();
    conformance::run_defaults::<Diffpack<u16>>();
}
