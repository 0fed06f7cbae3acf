//! The suite of `mpress-codec`, for every code and setting, at every tier.

use mpress_codec::conformance;
use mpress_rle_huffman::{Code, Decoder, Encoder, Huffman, Rle, ShannonFano, Symbol, Width};

fn run<C: Code>(make: impl Fn() -> Encoder<C>) {
    conformance::at_each_tier(|simd| {
        conformance::run::<C, _, _>(|| (make().with_simd(simd), Decoder::<C>::new().with_simd(simd)));
    });
}

#[test]
fn runs_of_symbols() {
    for symbol in Width::ALL {
        run::<Rle>(|| Encoder::<Rle>::new(Symbol::Of(symbol), Width::One));
    }
}

#[test]
fn runs_chosen_and_in_planes() {
    run::<Rle>(|| Encoder::<Rle>::new(Symbol::Auto, Width::One));
    run::<Rle>(|| Encoder::<Rle>::new(Symbol::Auto, Width::Eight));
    run::<Rle>(|| Encoder::<Rle>::new(Symbol::Of(Width::Four), Width::Two));
}

#[test]
fn huffman() {
    for planes in Width::ALL {
        run::<Huffman>(|| Encoder::<Huffman>::new(planes));
    }
}

#[test]
fn shannon_fano() {
    for planes in [Width::One, Width::Eight] {
        run::<ShannonFano>(|| Encoder::<ShannonFano>::new(planes));
    }
}

#[test]
fn the_defaults() {
    conformance::run_defaults::<Rle>();
    conformance::run_tight::<Rle>();
    conformance::run_defaults::<Huffman>();
    conformance::run_tight::<Huffman>();
    conformance::run_defaults::<ShannonFano>();
    conformance::run_tight::<ShannonFano>();
}
