//! Wires written by an encoder. Encoders must reproduce them exactly, and decoders must read them, as long as their version exists. `NAME.raw` is the
//! message, `NAME.dfcm` and `NAME.dfcm32` are its wires by `Encoder::new`; `sequence.dfcm` and `sequence.dfcm32` are the wires of all messages, in
//! the order below, by `Encoder::continuing` with 2^9 lines, each preceded by its length in four bytes.
//!
//! `NAME.lanes` and `NAME.lanes32` are the wires of interleaved lanes.
//!
//! With `MPRESS_WRITE_GOLDEN=1`, missing files are written. Existing files never change.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test reports by panicking")]

use mpress_codec::conformance::{at_each_tier, decode, encode};
use mpress_codec::{Codec, Reset};
use mpress_dfcm::{Decoder, Dfcm, Encoder, Lines, Word, lanes};
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// The messages, in the order of `sequence.*`.
const NAMES: [&str; 12] = [
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

fn messages() -> [(&'static str, Vec<u8>); 12] {
    NAMES.map(|name| (name, fs::read(folder().join(format!("{name}.raw"))).unwrap()))
}

fn golden(name: &str, wire: &[u8]) -> Vec<u8> {
    let path = folder().join(name);
    if std::env::var_os("MPRESS_WRITE_GOLDEN").is_some() && !path.exists() {
        fs::write(&path, wire).unwrap();
    }
    fs::read(path).unwrap()
}

fn memory() -> Vec<u64> {
    vec![1; Lines::MAX.words::<u64>()]
}

fn run<W: Word>() {
    let lines = Lines::new(9).unwrap();
    let extension = Dfcm::<W>::NAME;
    at_each_tier(|simd| {
        let mut alone = Encoder::<W, _>::new(memory()).unwrap().with_simd(simd);
        let mut continuing = Encoder::<W, _>::continuing(memory(), lines).unwrap().with_simd(simd);
        let mut decoder = Decoder::<W, _>::new(memory()).unwrap().with_simd(simd);
        let mut sequence = Vec::new();
        for (name, raw) in messages() {
            let wire = encode(&mut alone, &raw);
            let golden = golden(&format!("{name}.{extension}"), &wire);
            assert!(wire == golden, "{name}.{extension} at {simd:?} has changed");
            assert!(decode(&mut decoder, &golden, raw.len()) == Ok(raw.clone()), "{name}.{extension}");

            let wire = encode(&mut continuing, &raw);
            sequence.extend((wire.len() as u32).to_le_bytes());
            sequence.extend(wire);
        }
        let golden = golden(&format!("sequence.{extension}"), &sequence);
        assert!(sequence == golden, "sequence.{extension} at {simd:?} has changed");
        let mut rest = &golden[..];
        decoder.reset();
        for (name, raw) in messages() {
            let (len, wire) = rest.split_first_chunk().unwrap();
            let (wire, next) = wire.split_at(u32::from_le_bytes(*len) as usize);
            assert!(decode(&mut decoder, wire, raw.len()) == Ok(raw), "{name} in sequence.{extension}");
            rest = next;
        }
        continuing.reset();
    });
}

fn run_lanes<W: Word>(extension: &str) {
    at_each_tier(|simd| {
        let mut encoder = lanes::Encoder::<W>::new().with_simd(simd);
        let mut decoder = lanes::Decoder::<W>::new().with_simd(simd);
        for (name, raw) in messages() {
            let wire = encode(&mut encoder, &raw);
            let golden = golden(&format!("{name}.{extension}"), &wire);
            assert!(wire == golden, "{name}.{extension} at {simd:?} has changed");
            assert!(decode(&mut decoder, &golden, raw.len()) == Ok(raw), "{name}.{extension}");
        }
    });
}

#[test]
fn version_2_of_lanes() {
    run_lanes::<u64>("lanes");
    run_lanes::<u32>("lanes32");
}

#[test]
fn version_1_of_doubles() {
    run::<u64>();
}

#[test]
fn version_1_of_floats() {
    run::<u32>();
}
