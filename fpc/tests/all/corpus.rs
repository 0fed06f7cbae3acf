//! Round-trips every message of the corpus of real messages, if it is next to the repository.

use mpress_codec::conformance::{decode, encode, tiers};
use mpress_codec::{Decode, Encode};
use mpress_corpus::shared::corpus;
use mpress_fpc::stream::{self, TableLevel};
use mpress_fpc::{Decoder, Encoder, Word};

/// Sends messages and returns their ratio.
fn run<'a>(messages: impl Iterator<Item = &'a [u8]>, pair: (impl Encode, impl Decode), what: &str) -> f64 {
    let (mut encoder, mut decoder) = pair;
    let mut lens = (0, 0);
    for raw in messages {
        let wire = encode(&mut encoder, raw);
        assert!(decode(&mut decoder, &wire, raw.len()).as_deref() == Ok(raw), "{what}");
        lens = (lens.0 + raw.len(), lens.1 + wire.len());
    }
    lens.0 as f64 / lens.1 as f64
}

fn messages<'a, W: Word>(messages: impl Iterator<Item = &'a [u8]> + Clone, what: &str) -> f64 {
    let run = |simd| {
        let pair = (Encoder::<W>::new().with_simd(simd), Decoder::<W>::new().with_simd(simd));
        run(messages.clone(), pair, what)
    };
    tiers().into_iter().map(run).fold(0.0, f64::max)
}

fn streams<'a>(messages: impl Iterator<Item = &'a [u8]>, what: &str) -> f64 {
    let tables = TableLevel::CACHED;
    let memory = || vec![1; tables.words()];
    let (encoder, decoder) = (stream::Encoder::new(memory(), tables), stream::Decoder::new(memory(), tables));
    run(messages, (encoder.unwrap(), decoder.unwrap()), what)
}

#[test]
fn the_whole_corpus_comes_back() {
    let Some(files) = corpus() else { return };
    let mut ratios = Vec::new();
    for file in files {
        let (raws, name) = (file.messages(), &file.name);
        if name.ends_with(".f64") {
            ratios.push([messages::<u64>(raws.clone(), name), streams(raws, name)]);
        } else if name.ends_with(".i32") {
            messages::<u32>(raws, name);
        }
    }
    let mean = |mode: usize| {
        let logarithms = ratios.iter().map(|ratio| ratio[mode].ln());
        (logarithms.sum::<f64>() / ratios.len() as f64).exp()
    };
    assert!(mean(0) > 1.15, "geometric mean of the ratios of messages: {}", mean(0));
    assert!(mean(1) > 1.09, "geometric mean of the ratios of streams: {}", mean(1));
}
