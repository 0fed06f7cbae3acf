//! The suite of `mpress-codec`, for both formats at each effort.

use mpress_codec::conformance;
use mpress_lzo_compat::{Decoder, Effort, Encoder, Format, Lz77, Lzo1x};

fn run<F: Format>(effort: Effort) {
    conformance::run::<F, _, _>(|| (Encoder::<F>::new(effort), Decoder::<F>::new()));
}

#[test]
fn lz77_fast() {
    run::<Lz77>(Effort::Fast);
}

#[test]
fn lz77_normal() {
    run::<Lz77>(Effort::Normal);
}

#[test]
fn lzo1x_fast() {
    run::<Lzo1x>(Effort::Fast);
}

#[test]
fn lzo1x_normal() {
    run::<Lzo1x>(Effort::Normal);
}

#[test]
fn the_defaults() {
    conformance::run_defaults::<Lz77>();
    conformance::run_tight::<Lz77>();
    conformance::run_defaults::<Lzo1x>();
    conformance::run_tight::<Lzo1x>();
}
