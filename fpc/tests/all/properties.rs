//! Random messages of many kinds round-trip exactly, and random wires do no harm.

use crate::header;
use mpress_codec::conformance::{decode, encode, families, tiers};
use mpress_codec::simd::Simd;
use mpress_fpc::stream::{self, TableLevel};
use mpress_fpc::{Decoder, Encoder, Word};
use proptest::collection::vec;
use proptest::prelude::*;

/// Messages: noise, families of data, a few repeated values, smooth fields, residuals of all lengths, and any two of them concatenated.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let bytes = |words: Vec<u64>| words.into_iter().flat_map(u64::to_le_bytes).collect::<Vec<u8>>();
    let few = vec(any::<u64>(), 1..5)
        .prop_flat_map(move |values| vec(proptest::sample::select(values), 0..600).prop_map(bytes));
    let smooth = (any::<f64>(), any::<f64>(), 0..600_u32).prop_map(|(start, step, n)| {
        (0..n).flat_map(|i| (start + step * f64::from(i)).to_le_bytes()).collect::<Vec<u8>>()
    });
    let lengths =
        vec((any::<u64>(), 0..64_u32).prop_map(|(word, shift)| word >> shift), 0..1500).prop_map(bytes);
    let family = (proptest::sample::select(families().to_vec()), 0..12_000_usize)
        .prop_map(|((_, generate), len)| generate(len));
    let one = prop_oneof![vec(any::<u8>(), 0..9000), few, smooth, lengths, family].boxed();
    (one.clone(), prop_oneof![Just(Vec::new()), one], 0..9_usize).prop_map(|(mut first, second, cut)| {
        first.extend(second);
        first.truncate(first.len().saturating_sub(cut));
        first
    })
}

/// The head of a block that the decoder accepts, followed by anything.
fn blocks<W: Word>() -> impl Strategy<Value = Vec<u8>> {
    let head = (0..1_u16 << (size_of::<W>() + 1)).prop_map(u16::to_le_bytes);
    (head, vec(any::<u8>(), 0..4000)).prop_map(|(head, body)| [&head[..], &body].concat())
}

fn messages_come_back<W: Word>(raw: &[u8]) {
    let scalar = encode(&mut Encoder::<W>::new().with_simd(Simd::SCALAR), raw);
    for simd in tiers() {
        assert!(encode(&mut Encoder::<W>::new().with_simd(simd), raw) == scalar);
        assert!(decode(&mut Decoder::<W>::new().with_simd(simd), &scalar, raw.len()).as_deref() == Ok(raw));
    }
}

fn memory(tables: TableLevel) -> Vec<u64> {
    vec![3; tables.words()]
}

fn streams_come_back(raw: &[u8], tables: TableLevel) {
    for simd in tiers() {
        let mut encoder = stream::Encoder::new(memory(tables), tables).unwrap().with_simd(simd);
        let mut decoder = stream::Decoder::new(memory(tables), tables).unwrap().with_simd(simd);
        let wire = encode(&mut encoder, raw);
        assert!(decode(&mut decoder, &wire, raw.len()).as_deref() == Ok(raw));
    }
}

/// Every tier gives the same result for any wire.
fn hostile<W: Word>(wire: &[u8], len: usize) {
    let decoded = |simd| decode(&mut Decoder::<W>::new().with_simd(simd), wire, len);
    let expected = decoded(Simd::SCALAR);
    assert!(tiers().into_iter().all(|simd| decoded(simd) == expected));
}

fn hostile_stream(wire: &[u8], len: usize) {
    let tables = TableLevel::CACHED;
    let decoded =
        |simd| decode(&mut stream::Decoder::new(memory(tables), tables).unwrap().with_simd(simd), wire, len);
    let expected = decoded(Simd::SCALAR);
    assert!(tiers().into_iter().all(|simd| decoded(simd) == expected));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_come_back(raw in message(), level in 1..=14_u8) {
        messages_come_back::<u64>(&raw);
        messages_come_back::<u32>(&raw);
        streams_come_back(&raw, TableLevel::new(level).unwrap());
    }

    #[test]
    fn hostile_wires_do_no_harm(of_64 in blocks::<u64>(), of_32 in blocks::<u32>(), len in 0..10_000_usize) {
        hostile::<u64>(&[header(len), of_64].concat(), len);
        hostile::<u32>(&[header(len), of_32].concat(), len);
    }

    #[test]
    fn hostile_streams_do_no_harm(
        body in vec(any::<u8>(), 0..3000),
        values in 0..600_u16,
        len in any::<u16>(),
        n in 0..4800_usize,
    ) {
        let [a, b] = values.to_le_bytes();
        let [c, d] = len.to_le_bytes();
        hostile_stream(&[&[10, a, b, 0, c, d, 0], &body[..]].concat(), n);
    }

    #[test]
    fn a_changed_byte_does_no_harm(raw in message(), at in any::<usize>(), to in any::<u8>()) {
        let changed = |mut wire: Vec<u8>| {
            let at = at % wire.len();
            wire[at] = to;
            wire
        };
        hostile::<u64>(&changed(encode(&mut Encoder::<u64>::new(), &raw)), raw.len());
        hostile::<u32>(&changed(encode(&mut Encoder::<u32>::new(), &raw)), raw.len());
        let tables = TableLevel::CACHED;
        let mut encoder = stream::Encoder::new(memory(tables), tables).unwrap();
        hostile_stream(&changed(encode(&mut encoder, &raw)), raw.len());
    }
}
