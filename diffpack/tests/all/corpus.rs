//! Round-trips every message of the corpus of real messages, if it is next to the repository, at every tier and
//! effort.

use mpress_codec::conformance::{decode, encode, tiers};
use mpress_corpus::shared::corpus;
use mpress_diffpack::{Decoder, Effort, Encoder, Word};

/// Returns the ratio of the messages, sent in order.
fn run<'a, W: Word>(messages: impl Iterator<Item = &'a [u8]> + Clone, effort: Effort, what: &str) -> f64 {
    let mut lens = (0, 0);
    for simd in tiers() {
        let mut fresh = Encoder::<W>::new(effort).with_simd(simd);
        let mut remembering = Encoder::<W>::remembering(effort).with_simd(simd);
        let mut decoder = Decoder::<W>::new().with_simd(simd);
        for raw in messages.clone() {
            for (encoder, counts) in [(&mut fresh, true), (&mut remembering, false)] {
                let wire = encode(encoder, raw);
                let back = decode(&mut decoder, &wire, raw.len());
                assert!(back.as_deref() == Ok(raw), "{what}, {effort:?}, {simd:?}");
                if counts {
                    lens = (lens.0 + raw.len(), lens.1 + wire.len().min(raw.len()));
                }
            }
        }
    }
    lens.0 as f64 / lens.1 as f64
}

#[test]
fn the_whole_corpus_comes_back() {
    let Some(files) = corpus() else { return };
    for (effort, floor, floor_of_integers) in
        [(Effort::Fast, 1.20, 3.3), (Effort::Balanced, 1.26, 3.3), (Effort::Ratio, 1.28, 3.3)]
    {
        let mut logarithms = Vec::new();
        for file in &files {
            let (messages, name) = (file.messages(), &file.name);
            if name.ends_with(".f64") {
                logarithms.push(run::<u64>(messages.clone(), effort, name).ln());
                run::<u32>(messages.clone().take(40), effort, name);
                run::<u16>(messages.take(20), effort, name);
            } else if name.ends_with(".i32") {
                let ratio = run::<u32>(messages, effort, name);
                assert!(ratio > floor_of_integers, "{name}, {effort:?}: {ratio}");
            }
        }
        let mean = (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp();
        assert!(mean > floor, "geometric mean of the ratios, {effort:?}: {mean}");
    }
}
