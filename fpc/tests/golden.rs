//! Wires written by version 2. Encoders must reproduce them exactly, and decoders must read them, as long as version 2 exists. `NAME.raw` is the
//! message, `NAME.fpc` and `NAME.fpc32` are its wires.
//!
//! With `MPRESS_WRITE_GOLDEN=1`, missing files are written. Existing files never change.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test reports by panicking")]

use mpress_codec::Codec;
use mpress_codec::conformance::{at_each_tier, decode, encode};
use mpress_fpc::{Decoder, Encoder, Fpc, Word};
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

const NAMES: [&str; 13] = [
    "classes",
    "empty",
    "lu-message",
    "mg-message",
    "one-value",
    "ramp-two-blocks",
    "random",
    "records",
    "sine-f32",
    "specials",
    "specials-f32",
    "tail-only",
    "zeros",
];

fn golden(name: &str, wire: &[u8]) -> Vec<u8> {
    let path = folder().join(name);
    if std::env::var_os("MPRESS_WRITE_GOLDEN").is_some() && !path.exists() {
        fs::write(&path, wire).unwrap();
    }
    fs::read(path).unwrap()
}

fn run<W: Word>() {
    at_each_tier(|simd| {
        for name in NAMES {
            let raw = fs::read(folder().join(format!("{name}.raw"))).unwrap();
            let name = format!("{name}.{}", Fpc::<W>::NAME);
            let wire = encode(&mut Encoder::<W>::new().with_simd(simd), &raw);
            let golden = golden(&name, &wire);
            assert!(wire == golden, "{name} at {simd:?} has changed");
            assert!(
                decode(&mut Decoder::<W>::new().with_simd(simd), &golden, raw.len()) == Ok(raw),
                "{name}"
            );
        }
    });
}

#[test]
fn version_2_of_doubles() {
    run::<u64>();
}

#[test]
fn version_2_of_floats() {
    run::<u32>();
}
