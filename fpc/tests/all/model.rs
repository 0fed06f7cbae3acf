//! The kernels write exactly the bytes that the format page specifies: they are compared with a second implementation at every tier.

use crate::support_model as model;

use model::Model;
use mpress_codec::conformance::{decode, encode, families, tiers};
use mpress_fpc::{Decoder, Encoder, Word};
use std::fs;
use std::path::Path;

/// Lengths around rows of 64 values, lanes and blocks of 960, with and without a tail.
const LENGTHS: [usize; 19] =
    [0, 3, 8, 9, 24, 32, 63, 127, 512, 520, 1027, 3839, 3840, 3844, 7672, 7680, 7688, 15_400, 23_041];

fn run<W: Word>(raw: &[u8], what: &str) {
    let expected =
        Model { width: 8 * size_of::<W>(), top: if size_of::<W>() == 8 { 12 } else { 9 } }.message(raw);
    for simd in tiers() {
        let wire = encode(&mut Encoder::<W>::new().with_simd(simd), raw);
        assert!(wire == expected, "{what}, {} bytes, {simd:?}", raw.len());
        let back = decode(&mut Decoder::<W>::new().with_simd(simd), &expected, raw.len());
        assert!(back.as_deref() == Ok(raw), "{what}, {} bytes, {simd:?}", raw.len());
    }
}

#[test]
fn families_are_written_as_the_page_says() {
    for (name, generate) in families() {
        for len in LENGTHS {
            run::<u64>(&generate(len), name);
            run::<u32>(&generate(len), name);
        }
    }
}

#[test]
fn golden_messages_are_written_as_the_page_says() {
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "raw") {
            let raw = fs::read(&path).unwrap();
            run::<u64>(&raw, path.to_str().unwrap());
            run::<u32>(&raw, path.to_str().unwrap());
        }
    }
}
