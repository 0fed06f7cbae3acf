//! The suite of `mpress-codec`, for both words, at every tier.

use mpress_codec::conformance;
use mpress_fpc::stream::{self, FpcStream, TableLevel};
use mpress_fpc::{Decoder, Encoder, Fpc, Word};

fn messages<W: Word>() {
    conformance::at_each_tier(|simd| {
        conformance::run::<Fpc<W>, _, _>(|| {
            (Encoder::<W>::new().with_simd(simd), Decoder::<W>::new().with_simd(simd))
        });
    });
}

#[test]
fn doubles() {
    messages::<u64>();
}

#[test]
fn floats() {
    messages::<u32>();
}

#[test]
fn streams() {
    conformance::at_each_tier(|simd| {
        conformance::run::<FpcStream, _, _>(|| {
            let tables = TableLevel::new(9).unwrap();
            let memory = vec![0xdead_beef; tables.words()];
            let encoder = stream::Encoder::new(memory.clone(), tables).unwrap().with_simd(simd);
            (encoder, stream::Decoder::new(memory, tables).unwrap().with_simd(simd))
        });
    });
}

#[test]
fn the_defaults() {
    conformance::run_defaults::<Fpc<u64>>();
    conformance::run_tight::<Fpc<u64>>();
    conformance::run_defaults::<Fpc<u32>>();
    conformance::run_tight::<Fpc<u32>>();
    conformance::run_defaults::<FpcStream>();
    conformance::run_tight::<FpcStream>();
}
