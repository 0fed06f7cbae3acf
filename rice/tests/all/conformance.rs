//! The suite of `mpress-codec`, for every word and every mapping, at every tier.

use mpress_codec::conformance;
use mpress_rice::{Decoder, Encoder, Mapping, Rice, Word};

fn run<W: Word>() {
    conformance::at_each_tier(|simd| {
        conformance::run::<Rice<W>, _, _>(|| {
            (Encoder::<W>::auto().with_simd(simd), Decoder::<W>::new().with_simd(simd))
        });
        for &mapping in Mapping::ALL {
            conformance::run::<Rice<W>, _, _>(|| {
                (Encoder::<W>::new(mapping).with_simd(simd), Decoder::<W>::new().with_simd(simd))
            });
        }
    });
}

#[test]
fn words_of_8() {
    run::<u8>();
}

#[test]
fn words_of_16() {
    run::<u16>();
}

#[test]
fn words_of_32() {
    run::<u32>();
}

#[test]
fn words_of_64() {
    run::<u64>();
}

#[test]
fn ccsds() {
    use mpress_rice::ccsds::{Ccsds121, Decoder, Encoder, Parameters};
    let new = |bits| Parameters::new(bits).unwrap();
    let settings = [
        new(8),
        new(16).with_signed(true).with_block(64).unwrap(),
        new(24).with_three_bytes().unwrap().with_big_endian(true).with_block(8).unwrap(),
        new(32).with_preprocessor(false).with_block(16).unwrap().with_interval(1).unwrap(),
    ];
    conformance::at_each_tier(|simd| {
        for parameters in settings {
            conformance::run::<Ccsds121, _, _>(|| {
                (Encoder::new(parameters).with_simd(simd), Decoder::new().with_simd(simd))
            });
        }
    });
}

#[test]
fn the_defaults() {
    conformance::run_defaults::<Rice<u8>>();
    conformance::run_tight::<Rice<u8>>();
    conformance::run_defaults::<Rice<u16>>();
    conformance::run_tight::<Rice<u16>>();
    conformance::run_defaults::<Rice<u32>>();
    conformance::run_tight::<Rice<u32>>();
    conformance::run_defaults::<Rice<u64>>();
    conformance::run_tight::<Rice<u64>>();
    conformance::run_defaults::<mpress_rice::ccsds::Ccsds121>();
    conformance::run_tight::<mpress_rice::ccsds::Ccsds121>();
}
