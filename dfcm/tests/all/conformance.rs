//! The suite of `mpress-codec`, for both words and every way to create an encoder, at every tier.

use mpress_codec::conformance;
use mpress_codec::simd::Simd;
use mpress_dfcm::{Decoder, Dfcm, Encoder, Lines, Word, lanes};

/// `make` returns an encoder, and the number of lines that its decoder must support.
fn run<W: Word>(make: impl Fn(Simd) -> (Encoder<W, Vec<u64>>, Lines)) {
    conformance::at_each_tier(|simd| {
        conformance::run::<Dfcm<W>, _, _>(|| {
            let (encoder, lines) = make(simd);
            let memory = vec![0xdead_beef; lines.words::<W>()];
            (encoder, Decoder::<W, _>::with_lines(memory, lines).unwrap().with_simd(simd))
        });
    });
}

fn lines(log2: u8) -> Lines {
    Lines::new(log2).unwrap()
}

fn memory() -> Vec<u64> {
    vec![0xdead_beef; Lines::MAX_SIZED.words::<u64>()]
}

fn sized<W: Word>() {
    run::<W>(|simd| (Encoder::new(memory()).unwrap().with_simd(simd), Lines::MAX_SIZED));
}

fn one_line<W: Word>() {
    run::<W>(|simd| (Encoder::with_lines(memory(), lines(0)).unwrap().with_simd(simd), lines(0)));
}

fn continuing<W: Word>() {
    run::<W>(|simd| (Encoder::continuing(memory(), lines(9)).unwrap().with_simd(simd), lines(9)));
}

#[test]
fn doubles_sized() {
    sized::<u64>();
}

#[test]
fn doubles_one_line() {
    one_line::<u64>();
}

#[test]
fn doubles_continuing() {
    continuing::<u64>();
}

#[test]
fn floats_sized() {
    sized::<u32>();
}

#[test]
fn floats_one_line() {
    one_line::<u32>();
}

#[test]
fn floats_continuing() {
    continuing::<u32>();
}

#[test]
fn the_defaults() {
    conformance::run_defaults::<Dfcm<u64>>();
    conformance::run_tight::<Dfcm<u64>>();
    conformance::run_defaults::<Dfcm<u32>>();
    conformance::run_tight::<Dfcm<u32>>();
    conformance::run_defaults::<lanes::Lanes<u64>>();
    conformance::run_tight::<lanes::Lanes<u64>>();
    conformance::run_defaults::<lanes::Lanes<u32>>();
    conformance::run_tight::<lanes::Lanes<u32>>();
}
