//! Every message of integers of the corpus of real ones comes back, at every level, where it lies beside the repository; and some
//! of the others.
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]

use mpress_codec::conformance::{decode, encode, levels};
use mpress_codec::{Decode, Encode};
use mpress_rice::ccsds::{self, Parameters};
use mpress_rice::{Decoder, Encoder, Mapping, Word};
use std::fs;
use std::path::Path;

/// The messages of a file.
fn messages(folder: &Path, name: &str) -> Vec<Vec<u8>> {
    let bytes = fs::read(folder.join(name)).unwrap();
    let index = fs::read_to_string(folder.join(format!("{name}.idx"))).unwrap();
    let messages = index.lines().skip(1).map(|line| {
        let mut fields = line.split(',').map(|field| field.parse::<usize>());
        let (offset, len) = (fields.next().unwrap().unwrap(), fields.next().unwrap().unwrap());
        bytes[offset..offset + len].to_vec()
    });
    messages.collect()
}

/// Gives the ratio of messages.
fn run(messages: &[Vec<u8>], mut encoder: impl Encode, mut decoder: impl Decode, what: &str) -> f64 {
    let mut lens = (0, 0);
    for raw in messages {
        let wire = encode(&mut encoder, raw);
        assert!(decode(&mut decoder, &wire, raw.len()).as_ref() == Ok(raw), "{what}");
        lens = (lens.0 + raw.len(), lens.1 + wire.len().min(raw.len()));
    }
    lens.0 as f64 / lens.1 as f64
}

fn rice<W: Word>(messages: &[Vec<u8>], mapping: Option<Mapping>, what: &str) -> f64 {
    levels().into_iter().fold(0.0, |_, level| {
        let encoder = mapping.map_or(Encoder::<W>::auto(), Encoder::new).with_level(level);
        run(messages, encoder, Decoder::<W>::new().with_level(level), what)
    })
}

fn folder() -> Option<std::path::PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus");
    if !folder.exists() {
        eprintln!("SKIPPED: the corpus, which does not lie beside the repository");
        return None;
    }
    Some(folder)
}

#[test]
fn integers_come_back_smaller() {
    let Some(folder) = folder() else { return };
    let messages = messages(&folder, "is.i32");
    for (mapping, floor) in [
        (None, 3.39),
        (Some(Mapping::Offset), 3.35),
        (Some(Mapping::Delta), 3.20),
        (Some(Mapping::Unsigned), 1.7),
        (Some(Mapping::Signed), 1.6),
    ] {
        let ratio = rice::<u32>(&messages, mapping, "is.i32");
        assert!(ratio > floor, "{mapping:?}: {ratio}");
    }
    let parameters = Parameters::new(32).unwrap().with_signed(true);
    for level in levels() {
        let (encoder, decoder) = (ccsds::Encoder::new(parameters), ccsds::Decoder::new());
        let ratio = run(&messages, encoder.with_level(level), decoder.with_level(level), "is.i32");
        assert!(ratio > 3.18, "CCSDS: {ratio}");
    }
    rice::<u8>(&messages[..10], None, "is.i32");
    rice::<u16>(&messages[..10], None, "is.i32");
    rice::<u64>(&messages[..10], None, "is.i32");
}

#[test]
fn floats_come_back() {
    let Some(folder) = folder() else { return };
    for name in ["bt.f64", "sp.f64", "lu.f64", "cg.f64", "mg.f64", "ft.f64", "sweep3d.f64"] {
        let mut messages = messages(&folder, name);
        messages.truncate(20);
        rice::<u64>(&messages, None, name);
        rice::<u8>(&messages, None, name);
        let parameters = Parameters::new(16).unwrap().with_block(64).unwrap();
        run(&messages, ccsds::Encoder::new(parameters), ccsds::Decoder::new(), name);
    }
}
