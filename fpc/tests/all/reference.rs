//! Streams written by FPC 1.1: the decoder reads them, and the encoder writes the same bytes.
//!
//! A few small streams are in `tests/reference`; the whole collection is next to the repository.

use mpress_codec::conformance::{decode, encode, tiers};
use mpress_corpus::shared::skipped;
use mpress_fpc::stream::{Decoder, Encoder, TableLevel};
use std::fs;
use std::path::Path;

/// Tests every `NAME.levelL.fpc` of a folder with its `NAME.raw`. Returns their number.
fn run(folder: &Path) -> usize {
    let mut tested = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_str().unwrap();
        let Some((name, number)) = file.strip_suffix(".fpc").and_then(|stem| stem.split_once(".level"))
        else {
            continue;
        };
        let tables = TableLevel::new(number.parse().unwrap()).unwrap();
        let theirs = fs::read(&path).unwrap();
        let raw = fs::read(folder.join(format!("{name}.raw"))).unwrap();
        for simd in tiers() {
            let memory = || vec![7; tables.words()];
            let mut decoder = Decoder::new(memory(), tables).unwrap().with_simd(simd);
            assert!(decode(&mut decoder, &theirs, raw.len()).as_ref() == Ok(&raw), "{file} at {simd:?}");
            let ours = encode(&mut Encoder::new(memory(), tables).unwrap().with_simd(simd), &raw);
            assert!(masked(ours) == masked(theirs.clone()), "{file} at {simd:?} is another stream");
        }
        tested += 1;
    }
    tested
}

/// The stream with 0 in the half byte that FPC 1.1 leaves undefined: the last code, if the number of values is odd.
fn masked(mut stream: Vec<u8>) -> Vec<u8> {
    let mut at = 1;
    while let Some(&[a, b, c, d, e, f]) = stream.get(at..at + 6).and_then(|head| head.first_chunk()) {
        let (values, len) = (u32::from_le_bytes([a, b, c, 0]), u32::from_le_bytes([d, e, f, 0]));
        if values % 2 == 1 {
            stream[at + 6 + values as usize / 2] &= 0xf0;
        }
        at += len as usize;
    }
    stream
}

#[test]
fn streams_of_fpc_1_1() {
    assert_eq!(run(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference")), 12);
}

#[test]
fn all_streams_of_fpc_1_1() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/golden/fpc");
    if !folder.exists() {
        skipped("the whole collection of streams, which is not next to the repository");
        return;
    }
    assert_eq!(run(&folder), 21);
}
