//! Wires written by an encoder: they must stay readable as long as their version exists. `NAME.raw` is the message, `NAME.CODEC` its wire.
//! The current encoder may write different wires, because its choices may be better.
//!
//! With `MPRESS_WRITE_GOLDEN=1`, missing files are written. Existing files never change.
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]

use mpress_codec::Codec;
use mpress_codec::conformance::{decode, encode, random_bytes, tiers};
use mpress_rice::ccsds::{self, Parameters};
use mpress_rice::{Decoder, Encoder, Rice, Word};
use std::fs;
use std::path::{Path, PathBuf};

/// Messages of more than one block, one for each mapping that suits it.
fn messages() -> [(&'static str, Vec<u8>); 9] {
    let words =
        |n: u32, word: &dyn Fn(u32) -> u32| (0..n).flat_map(|i| word(i).to_le_bytes()).collect::<Vec<u8>>();
    let noise = random_bytes(3, 4 * 700);
    let noise = |i: u32| u32::from_le_bytes(*noise[4 * i as usize..].first_chunk().unwrap());
    // Half as many values with each further bit.
    let geometric = |i: u32| noise(i) >> 16 >> noise(i).leading_ones().min(15);
    [
        ("empty", Vec::new()),
        ("tail", b"12345".to_vec()),
        ("zeros", vec![0; 2601]),
        ("noise", random_bytes(5, 700)),
        ("unsigned", words(650, &|i| geometric(i) >> 6)),
        ("signed", words(650, &|i| (geometric(i) >> 6).wrapping_sub(100))),
        ("ramp", words(650, &|i| i * i * 5 + 1_000_000 + noise(i) % 32)),
        ("range", words(650, &|i| 3_000_000_000 + i / 300 * 5000 + noise(i) % 1000)),
        ("outliers", words(650, &|i| if noise(i) % 90 == 0 { 900 } else { noise(i) >> 8 & 3 })),
    ]
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn golden(name: &str, bytes: impl FnOnce() -> Vec<u8>) -> Vec<u8> {
    let path = folder().join(name);
    if std::env::var_os("MPRESS_WRITE_GOLDEN").is_some() && !path.exists() {
        fs::write(&path, bytes()).unwrap();
    }
    fs::read(path).unwrap()
}

fn run<W: Word>() {
    for (name, raw) in messages() {
        assert!(golden(&format!("{name}.raw"), || raw.clone()) == raw, "{name}.raw has changed");
        let file = format!("{name}.{}", Rice::<W>::NAME);
        let wire = golden(&file, || encode(&mut Encoder::<W>::auto(), &raw));
        for simd in tiers() {
            let back = decode(&mut Decoder::<W>::new().with_simd(simd), &wire, raw.len());
            assert!(back.as_ref() == Ok(&raw), "{file} at {simd:?} is not read");
        }
    }
}

#[test]
fn written_words_of_8() {
    run::<u8>();
}

#[test]
fn written_words_of_16() {
    run::<u16>();
}

#[test]
fn written_words_of_32() {
    run::<u32>();
}

#[test]
fn written_words_of_64() {
    run::<u64>();
}

#[test]
fn written_ccsds() {
    let new = |bits| Parameters::new(bits).unwrap();
    for (name, raw) in messages() {
        for (setting, parameters) in [
            ("8", new(8).with_block(8).unwrap()),
            ("16", new(16).with_preprocessor(false).with_block(16).unwrap()),
            ("32", new(32).with_signed(true).with_interval(3).unwrap()),
        ] {
            let file = format!("{name}.ccsds121.{setting}");
            let wire = golden(&file, || encode(&mut ccsds::Encoder::new(parameters), &raw));
            for simd in tiers() {
                let back = decode(&mut ccsds::Decoder::new().with_simd(simd), &wire, raw.len());
                assert!(back.as_ref() == Ok(&raw), "{file} at {simd:?} is not read");
            }
        }
    }
}
