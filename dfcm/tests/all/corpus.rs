//! Round-trips every message of a corpus of real messages: the samples in `tests/data`, and the whole corpus if it is next to the
//! repository.

use crate::support_real as real;

use mpress_codec::conformance::{decode, encode, tiers};
use mpress_corpus::shared::corpus;
use mpress_dfcm::{Decoder, Encoder, Lines, Word, lanes};

fn memory() -> Vec<u64> {
    vec![1; Lines::MAX.words::<u64>()]
}

/// Sends messages in interleaved lanes and returns the ratio.
fn run_lanes<'a, W: Word>(messages: impl Iterator<Item = &'a [u8]> + Clone, what: &str) -> f64 {
    let mut lens = (0, 0);
    for simd in tiers() {
        let mut encoder = lanes::Encoder::<W>::new().with_simd(simd);
        let mut decoder = lanes::Decoder::<W>::new().with_simd(simd);
        for raw in messages.clone() {
            let wire = encode(&mut encoder, raw);
            assert!(decode(&mut decoder, &wire, raw.len()).as_deref() == Ok(raw), "{what}, {simd:?}, lanes");
            lens = (lens.0 + raw.len(), lens.1 + wire.len());
        }
    }
    lens.0 as f64 / lens.1 as f64
}

/// Sends messages individually and as a sequence, and returns the ratio of the individual ones.
fn run<'a, W: Word>(messages: impl Iterator<Item = &'a [u8]> + Clone, what: &str) -> f64 {
    let mut lens = (0, 0);
    for simd in tiers() {
        let mut alone = Encoder::<W, _>::new(memory()).unwrap().with_simd(simd);
        let mut continuing = Encoder::<W, _>::continuing(memory(), Lines::MAX).unwrap().with_simd(simd);
        let mut decoder = Decoder::<W, _>::new(memory()).unwrap().with_simd(simd);
        let mut follower = decoder.clone();
        for raw in messages.clone() {
            let wire = encode(&mut alone, raw);
            assert!(decode(&mut decoder, &wire, raw.len()).as_deref() == Ok(raw), "{what}, {simd:?}");
            lens = (lens.0 + raw.len(), lens.1 + wire.len());
            let wire = encode(&mut continuing, raw);
            assert!(
                decode(&mut follower, &wire, raw.len()).as_deref() == Ok(raw),
                "{what}, {simd:?}, sequence"
            );
        }
    }
    lens.0 as f64 / lens.1 as f64
}

#[test]
fn samples_come_back() {
    for (name, raw) in real::samples() {
        let ratio = run::<u64>([raw].into_iter(), name);
        assert!(ratio > 0.95, "{name}: ratio {ratio}");
        run::<u32>([raw].into_iter(), name);
        let ratio = run_lanes::<u64>([raw].into_iter(), name);
        assert!(ratio > 0.95, "{name}: ratio {ratio} in lanes");
        run_lanes::<u32>([raw].into_iter(), name);
    }
}

#[test]
fn the_whole_corpus_comes_back() {
    let Some(files) = corpus() else { return };
    let (mut logarithms, mut lanes_logarithms) = (Vec::new(), Vec::new());
    for file in files {
        let (messages, name) = (file.messages(), &file.name);
        if name.ends_with(".f64") {
            lanes_logarithms.push(run_lanes::<u64>(messages.clone(), name).ln());
            logarithms.push(run::<u64>(messages, name).ln());
        } else {
            run_lanes::<u32>(messages.clone(), name);
            run::<u32>(messages, name);
        }
    }
    let mean = |logarithms: &[f64]| (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp();
    assert!(mean(&logarithms) > 1.13, "geometric mean of the ratios: {}", mean(&logarithms));
    assert!(mean(&lanes_logarithms) > 1.155, "the same in lanes: {}", mean(&lanes_logarithms));
}
