//! Round-trips every message of integers in the corpus of real messages, if it is next to the repository, and some of its other messages, at every
//! tier.

use mpress_codec::conformance::{decode, encode, tiers};
use mpress_codec::{Decode, Encode};
use mpress_corpus::shared::corpus;
use mpress_rice::ccsds::{self, Parameters};
use mpress_rice::{Decoder, Encoder, Mapping, Word};

/// Returns the ratio of messages.
fn run(messages: &[&[u8]], mut encoder: impl Encode, mut decoder: impl Decode, what: &str) -> f64 {
    let mut lens = (0, 0);
    for raw in messages {
        let wire = encode(&mut encoder, raw);
        assert!(decode(&mut decoder, &wire, raw.len()).as_deref() == Ok(*raw), "{what}");
        lens = (lens.0 + raw.len(), lens.1 + wire.len().min(raw.len()));
    }
    lens.0 as f64 / lens.1 as f64
}

fn rice<W: Word>(messages: &[&[u8]], mapping: Option<Mapping>, what: &str) -> f64 {
    tiers().into_iter().fold(0.0, |_, simd| {
        let encoder = mapping.map_or(Encoder::<W>::auto(), Encoder::new).with_simd(simd);
        run(messages, encoder, Decoder::<W>::new().with_simd(simd), what)
    })
}

#[test]
fn integers_come_back_smaller() {
    let Some(files) = corpus() else { return };
    let file = files.iter().find(|file| file.name == "is.i32").unwrap();
    let messages: Vec<_> = file.messages().collect();
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
    for simd in tiers() {
        let (encoder, decoder) = (ccsds::Encoder::new(parameters), ccsds::Decoder::new());
        let ratio = run(&messages, encoder.with_simd(simd), decoder.with_simd(simd), "is.i32");
        assert!(ratio > 3.18, "CCSDS: {ratio}");
    }
    rice::<u8>(&messages[..10], None, "is.i32");
    rice::<u16>(&messages[..10], None, "is.i32");
    rice::<u64>(&messages[..10], None, "is.i32");
}

#[test]
fn floats_come_back() {
    let Some(files) = corpus() else { return };
    for file in files.iter().filter(|file| file.name.ends_with(".f64")) {
        let (messages, name): (Vec<_>, _) = (file.messages().take(20).collect(), &*file.name);
        rice::<u64>(&messages, None, name);
        rice::<u8>(&messages, None, name);
        let parameters = Parameters::new(16).unwrap().with_block(64).unwrap();
        run(&messages, ccsds::Encoder::new(parameters), ccsds::Decoder::new(), name);
    }
}
