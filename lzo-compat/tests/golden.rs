//! Wires written by version 1. Encoders must reproduce them exactly, and decoders must read them, as long as version 1 exists.
//! `NAME.raw` is the message; `NAME.lz77.EFFORT` and `NAME.lzo1x.EFFORT` are its wires.
//!
//! `NAME.lzo1x.LEVEL` with a level of liblzo2, such as `999`, was written by liblzo2 2.10 and must be decoded.
//!
//! With `MPRESS_WRITE_GOLDEN=1`, missing files are written. Existing files never change.
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]

use mpress_codec::conformance::{decode, encode};
use mpress_lzo_compat::{Decoder, Effort, Encoder, Format, Lz77, Lzo1x};
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

const NAMES: [&str; 6] = ["empty", "far", "keys", "noise", "text", "zeros"];

fn golden(name: &str, wire: &[u8]) -> Vec<u8> {
    let path = folder().join(name);
    if std::env::var_os("MPRESS_WRITE_GOLDEN").is_some() && !path.exists() {
        fs::write(&path, wire).unwrap();
    }
    fs::read(path).unwrap()
}

fn run<F: Format>() {
    for &effort in Effort::ALL {
        // One encoder for all messages: the output does not depend on earlier messages.
        let mut encoder = Encoder::<F>::new(effort);
        for name in NAMES {
            let raw = fs::read(folder().join(format!("{name}.raw"))).unwrap();
            let wire = encode(&mut encoder, &raw);
            let name = format!("{name}.{}.{}", F::NAME, effort.name());
            let golden = golden(&name, &wire);
            assert!(wire == golden, "{name} has changed");
            assert!(decode(&mut Decoder::<F>::new(), &golden, raw.len()) == Ok(raw), "{name}");
        }
    }
}

#[test]
fn version_1_of_lz77() {
    run::<Lz77>();
}

#[test]
fn lzo1x() {
    run::<Lzo1x>();
}

#[test]
fn streams_of_liblzo2() {
    for name in NAMES {
        let raw = fs::read(folder().join(format!("{name}.raw"))).unwrap();
        for level in ["1", "999"] {
            let name = format!("{name}.lzo1x.{level}");
            let wire = fs::read(folder().join(&name)).unwrap();
            assert!(decode(&mut Decoder::<Lzo1x>::new(), &wire, raw.len()).as_ref() == Ok(&raw), "{name}");
        }
    }
}
