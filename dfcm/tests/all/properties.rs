//! Random messages of many kinds round-trip exactly, and random wires do no harm.

use mpress_codec::conformance::{decode, encode, families, tiers};
use mpress_dfcm::{Decoder, Encoder, Lines, Word};
use proptest::collection::vec;
use proptest::prelude::*;

/// Messages: noise, families of data, a few repeated values, smooth fields, and any two of them concatenated.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let few = vec(any::<u64>(), 1..5).prop_flat_map(|values| {
        vec(proptest::sample::select(values), 0..600)
            .prop_map(|words| words.into_iter().flat_map(u64::to_le_bytes).collect())
    });
    let smooth = (any::<f64>(), any::<f64>(), 0..600_u32).prop_map(|(start, step, n)| {
        (0..n).flat_map(|i| (start + step * f64::from(i)).to_le_bytes()).collect::<Vec<u8>>()
    });
    let family = (proptest::sample::select(families().to_vec()), 0..5000_usize)
        .prop_map(|((_, generate), len)| generate(len));
    let one = prop_oneof![vec(any::<u8>(), 0..5000), few, smooth, family].boxed();
    (one.clone(), prop_oneof![Just(Vec::new()), one], 0..9_usize).prop_map(|(mut first, second, cut)| {
        first.extend(second);
        first.truncate(first.len().saturating_sub(cut));
        first
    })
}

fn lines() -> impl Strategy<Value = Lines> {
    (0..=15_u8).prop_map(|log2| Lines::new(log2).unwrap())
}

fn memory() -> Vec<u64> {
    vec![3; Lines::MAX.words::<u64>()]
}

fn self_contained<W: Word>(raw: &[u8], lines: Lines) {
    for simd in tiers() {
        let mut decoder = Decoder::<W, _>::new(memory()).unwrap().with_simd(simd);
        let mut encoder = Encoder::<W, _>::new(memory()).unwrap().with_simd(simd);
        let wire = encode(&mut encoder, raw);
        assert!(decode(&mut decoder, &wire, raw.len()).as_deref() == Ok(raw));
        let mut encoder = Encoder::<W, _>::with_lines(memory(), lines).unwrap().with_simd(simd);
        let wire = encode(&mut encoder, raw);
        assert!(decode(&mut decoder, &wire, raw.len()).as_deref() == Ok(raw));
    }
}

fn continuing<W: Word>(messages: &[Vec<u8>], lines: Lines) {
    for simd in tiers() {
        let mut decoder = Decoder::<W, _>::new(memory()).unwrap().with_simd(simd);
        let mut encoder = Encoder::<W, _>::continuing(memory(), lines).unwrap().with_simd(simd);
        for raw in messages {
            let wire = encode(&mut encoder, raw);
            assert!(decode(&mut decoder, &wire, raw.len()).as_ref() == Ok(raw));
        }
    }
}

/// Every tier gives the same result for any wire.
fn hostile<W: Word>(wire: &[u8], len: usize) {
    let results = tiers().into_iter().map(|simd| {
        let mut decoder = Decoder::<W, _>::new(memory()).unwrap().with_simd(simd);
        decode(&mut decoder, wire, len)
    });
    let results: Vec<_> = results.collect();
    assert!(results.iter().all(|result| *result == results[0]));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn messages_come_back(raw in message(), lines in lines()) {
        self_contained::<u64>(&raw, lines);
        self_contained::<u32>(&raw, lines);
    }

    #[test]
    fn sequences_come_back(messages in vec(message(), 1..6), lines in lines()) {
        continuing::<u64>(&messages, lines);
        continuing::<u32>(&messages, lines);
    }

    #[test]
    fn hostile_wires_do_no_harm(flags in any::<u8>(), body in vec(any::<u8>(), 0..3000), n in 0..600_usize) {
        let wire = [&[1, flags], &body[..]].concat();
        // A length that passes the header's check.
        let len = n * 8 + usize::from(flags >> 5);
        hostile::<u64>(&wire, len);
        hostile::<u32>(&wire, len);
    }

    #[test]
    fn a_changed_byte_does_no_harm(raw in message(), at in any::<usize>(), to in any::<u8>()) {
        let mut wire = encode(&mut Encoder::<u64, _>::new(memory()).unwrap(), &raw);
        let at = at % wire.len();
        wire[at] = to;
        hostile::<u64>(&wire, raw.len());
        hostile::<u32>(&wire, raw.len());
    }
}
