//! Every message of the corpus of real ones comes back, where it lies beside the repository.
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]

use mpress_codec::conformance::{decode, encode};
use mpress_lzo_compat::{Decoder, Effort, Encoder, Format, Lz77, Lzo1x};
use std::fs;
use std::path::Path;

/// Sends messages and gives their ratio.
fn run<'a, F: Format>(messages: impl Iterator<Item = &'a [u8]>, effort: Effort, what: &str) -> f64 {
    let mut encoder = Encoder::<F>::new(effort);
    let mut lens = (0, 0);
    for raw in messages {
        let wire = encode(&mut encoder, raw);
        let back = decode(&mut Decoder::<F>::new(), &wire, raw.len());
        assert!(back.as_deref() == Ok(raw), "{what}, {} at {effort:?}", F::NAME);
        lens = (lens.0 + raw.len(), lens.1 + wire.len());
    }
    lens.0 as f64 / lens.1 as f64
}

#[test]
fn the_whole_corpus_comes_back() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus");
    if !folder.exists() {
        eprintln!("SKIPPED: the corpus, which does not lie beside the repository");
        return;
    }
    let mut files = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if !name.ends_with(".f64") && !name.ends_with(".i32") {
            continue;
        }
        files += 1;
        let bytes = fs::read(&path).unwrap();
        let index = fs::read_to_string(folder.join(format!("{name}.idx"))).unwrap();
        let ranges = index.lines().skip(1).map(|line| {
            let mut fields = line.split(',').map(|field| field.parse::<usize>());
            let (offset, len) = (fields.next().unwrap().unwrap(), fields.next().unwrap().unwrap());
            offset..offset + len
        });
        let messages = ranges.map(|range| &bytes[range]);
        for effort in Effort::ALL {
            let ratios =
                [run::<Lz77>(messages.clone(), effort, name), run::<Lzo1x>(messages.clone(), effort, name)];
            // Noise stays noise; zeros and keys that come again do not.
            let least = match (name, effort) {
                ("bt.f64", _) => 1.12,
                ("is.i32", Effort::Fast) => 1.2,
                ("is.i32", Effort::Normal) => 1.4,
                _ => 0.99,
            };
            assert!(ratios.iter().all(|ratio| *ratio > least), "{name} at {effort:?}: {ratios:?}");
        }
    }
    assert!(files > 0);
}
