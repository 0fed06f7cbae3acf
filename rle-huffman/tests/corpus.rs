//! Every message of the corpus of real ones comes back, at every level, where it lies beside the repository.
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]

use mpress_codec::conformance::{decode, encode, levels};
use mpress_rle_huffman::{Code, Decoder, Encoder, Huffman, Rle, ShannonFano, Symbol, Width};
use std::fs;
use std::path::Path;

/// The ratio of messages each sent as it is where that is shorter.
fn ratio<C: Code>(messages: &[&[u8]], encoder: &Encoder<C>, what: &str) -> f64 {
    let mut lens = (0, 0);
    for level in levels() {
        let mut encoder = encoder.clone().with_level(level);
        let mut decoder = Decoder::<C>::new().with_level(level);
        for raw in messages {
            let wire = encode(&mut encoder, raw);
            assert!(decode(&mut decoder, &wire, raw.len()).as_deref() == Ok(*raw), "{what}, {level:?}");
            lens = (lens.0 + raw.len(), lens.1 + wire.len().min(raw.len()));
        }
    }
    lens.0 as f64 / lens.1 as f64
}

#[test]
fn the_whole_corpus_comes_back() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus");
    if !folder.exists() {
        eprintln!("SKIPPED: the whole corpus, which does not lie beside the repository");
        return;
    }
    let mut logarithms = [0.0; 4];
    let mut files = 0.0;
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if !name.ends_with(".f64") && !name.ends_with(".i32") {
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        let index = fs::read_to_string(folder.join(format!("{name}.idx"))).unwrap();
        let ranges = index.lines().skip(1).map(|line| {
            let mut fields = line.split(',').map(|field| field.parse::<usize>());
            let (offset, len) = (fields.next().unwrap().unwrap(), fields.next().unwrap().unwrap());
            offset..offset + len
        });
        let messages: Vec<&[u8]> = ranges.map(|range| &bytes[range]).collect();
        if name.ends_with(".f64") {
            let ratios = [
                ratio(&messages, &Encoder::<Huffman>::new(Width::One), name),
                ratio(&messages, &Encoder::<Huffman>::new(Width::Eight), name),
                ratio(&messages, &Encoder::<ShannonFano>::new(Width::Eight), name),
                ratio(&messages, &Encoder::<Rle>::new(Symbol::Auto, Width::One), name),
            ];
            logarithms.iter_mut().zip(ratios).for_each(|(sum, ratio)| *sum += ratio.ln());
            files += 1.0;
        } else {
            let planes = ratio(&messages, &Encoder::<Huffman>::new(Width::Four), name);
            assert!(planes > 2.3, "{name}: {planes}");
            ratio(&messages, &Encoder::<Rle>::new(Symbol::Auto, Width::Four), name);
        }
    }
    let [bytes, planes, fano, rle] = logarithms.map(|sum| (sum / files).exp());
    assert!(bytes > 1.065, "Huffman codes of bytes: {bytes}");
    assert!(planes > 1.17, "Huffman codes of planes: {planes}");
    assert!(fano > 1.16 && fano <= planes, "Shannon-Fano codes of planes: {fano}");
    assert!(rle > 1.0, "run lengths: {rle}");
}
