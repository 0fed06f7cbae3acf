//! The suite of `mpress-codec`, for every word and every mapping, at every level.

use mpress_codec::conformance;
use mpress_rice::{Decoder, Encoder, Mapping, Rice, Word};

fn run<W: Word>() {
    conformance::at_each_level(|level| {
        conformance::run::<Rice<W>, _, _>(|| {
            (Encoder::<W>::auto().with_level(level), Decoder::<W>::new().with_level(level))
        });
        for mapping in Mapping::ALL {
            conformance::run::<Rice<W>, _, _>(|| {
                (Encoder::<W>::new(mapping).with_level(level), Decoder::<W>::new().with_level(level))
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
    conformance::at_each_level(|level| {
        for parameters in settings {
            conformance::run::<Ccsds121, _, _>(|| {
                (Encoder::new(parameters).with_level(level), Decoder::new().with_level(level))
            });
        }
    });
}
