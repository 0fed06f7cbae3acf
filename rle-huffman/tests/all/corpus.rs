//! Round-trips every message of the corpus of real messages, if it is next to the repository, at every
//! tier.

use mpress_codec::conformance::{decode, encode, tiers};
use mpress_corpus::shared::corpus;
use mpress_rle_huffman::{Code, Decoder, Encoder, Huffman, Rle, ShannonFano, Symbol, Width};

/// The ratio of messages, each sent raw if that is shorter.
fn ratio<C: Code>(messages: &[&[u8]], encoder: &Encoder<C>, what: &str) -> f64 {
    let mut lens = (0, 0);
    for simd in tiers() {
        let mut encoder = encoder.clone().with_simd(simd);
        let mut decoder = Decoder::<C>::new().with_simd(simd);
        for raw in messages {
            let wire = encode(&mut encoder, raw);
            assert!(decode(&mut decoder, &wire, raw.len()).as_deref() == Ok(*raw), "{what}, {simd:?}");
            lens = (lens.0 + raw.len(), lens.1 + wire.len().min(raw.len()));
        }
    }
    lens.0 as f64 / lens.1 as f64
}

#[test]
fn the_whole_corpus_comes_back() {
    let Some(corpus) = corpus() else { return };
    let mut logarithms = [0.0; 4];
    let mut files = 0.0;
    for file in corpus {
        let (messages, name): (Vec<_>, _) = (file.messages().collect(), &file.name);
        if name.ends_with(".f64") {
            let ratios = [
                ratio(&messages, &Encoder::<Huffman>::new(Width::One), name),
                ratio(&messages, &Encoder::<Huffman>::new(Width::Eight), name),
                ratio(&messages, &Encoder::<ShannonFano>::new(Width::Eight), name),
                ratio(&messages, &Encoder::<Rle>::new(Symbol::Auto, Width::One), name),
            ];
            logarithms.iter_mut().zip(ratios).for_each(|(sum, ratio)| *sum += ratio.ln());
            files += 1.0;
        } else if name.ends_with(".i32") {
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
