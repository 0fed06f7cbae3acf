//! Round-trips every message of the corpus of real messages, if it is next to the repository.

use mpress_codec::conformance::{decode, encode};
use mpress_corpus::shared::corpus;
use mpress_lzo_compat::{Decoder, Effort, Encoder, Format, Lz77, Lzo1x};

/// Sends messages and returns their ratio.
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
    let Some(files) = corpus() else { return };
    for file in files {
        let (messages, name) = (file.messages(), &*file.name);
        for &effort in Effort::ALL {
            let ratios =
                [run::<Lz77>(messages.clone(), effort, name), run::<Lzo1x>(messages.clone(), effort, name)];
            // Noise does not compress; zeros and repeated keys do.
            let least = match (name, effort) {
                ("bt.f64", _) => 1.12,
                ("is.i32", Effort::Fast) => 1.2,
                ("is.i32", Effort::Normal) => 1.4,
                _ => 0.99,
            };
            assert!(ratios.iter().all(|ratio| *ratio > least), "{name} at {effort:?}: {ratios:?}");
        }
    }
}
