//! Interleaved lanes: the suite of `mpress-codec`, the edges of the wire format, random messages and wires.

use crate::lanes_header;
use mpress_codec::DecodeErrorKind::{Corrupt, Length, Truncated, Unsupported};
use mpress_codec::conformance::{self, decode, encode, families, tiers};
use mpress_codec::{Codec, DecodeErrorKind};
use mpress_dfcm::Word;
use mpress_dfcm::lanes::{Decoder, Decoder32, Decoder64, Encoder, Encoder32, Encoder64, Lanes};
use proptest::collection::vec;
use proptest::prelude::*;

fn suite<W: Word>() {
    conformance::at_each_tier(|simd| {
        conformance::run::<Lanes<W>, _, _>(|| {
            (Encoder::<W>::new().with_simd(simd), Decoder::<W>::new().with_simd(simd))
        });
    });
}

#[test]
fn suite_of_doubles() {
    suite::<u64>();
}

#[test]
fn suite_of_floats() {
    suite::<u32>();
}

#[test]
fn facts() {
    assert_eq!((Lanes::<u64>::ID.0, Lanes::<u64>::NAME, Lanes::<u64>::WIDTH), (19, "dfcm-lanes", 8));
    assert_eq!((Lanes::<u32>::ID.0, Lanes::<u32>::NAME, Lanes::<u32>::WIDTH), (20, "dfcm32-lanes", 4));
    const { assert!(!Lanes::<u64>::STATEFUL) };
}

#[test]
fn an_empty_message_is_a_header_and_a_tail_travels_as_it_is() {
    assert_eq!(encode(&mut Encoder64::new(), b""), [2, 0, 0]);
    assert_eq!(encode(&mut Encoder64::new(), b"seven b"), *b"\x02\0\x07seven b");
    // A header, a group of width 0, the tail.
    assert_eq!(encode(&mut Encoder32::new(), &[0, 0, 0, 0, 7, 8, 9]), [2, 0, 7, 0, 7, 8, 9]);
    // Three elements of width 8 (code 1): the zigzag of 1, 2 and -1.
    let raw = [1, 2, -1].map(i64::to_le_bytes).concat();
    assert_eq!(encode(&mut Encoder64::new(), &raw), [2, 0, 24, 1, 2, 4, 1]);
}

fn refused<W: Word>(wire: &[u8], len: usize, kind: DecodeErrorKind) {
    for simd in tiers() {
        let result = decode(&mut Decoder::<W>::new().with_simd(simd), wire, len);
        assert_eq!(result, Err(kind), "{wire:?}, {simd:?}");
    }
}

#[test]
fn each_kind_of_error_has_its_wire() {
    let raw = [1, 2, -1].map(i64::to_le_bytes).concat();
    let wire = encode(&mut Encoder64::new(), &raw);
    assert_eq!(wire, [2, 0, 24, 1, 2, 4, 1]);
    (0..wire.len()).for_each(|len| refused::<u64>(&wire[..len], 24, Truncated));
    (0..=255).filter(|version| *version != 2).for_each(|version| {
        refused::<u64>(&[&[version], &wire[1..]].concat(), 24, Unsupported);
    });
    refused::<u64>(&[0], 24, Unsupported);
    (0..=1000).filter(|len| *len != 24).for_each(|len| refused::<u64>(&wire, len, Length));
    refused::<u64>(&[2, 0, 24, 1, 2, 4, 1, 0], 24, Length);
    (25..=255).for_each(|more| refused::<u64>(&[2, more, 24, 1, 2, 4, 1], 24, Corrupt));
    // 24 in two bytes, 2^64 + 24, eleven bytes, and the greatest length.
    refused::<u64>(&[2, 0, 0x98, 0, 1, 2, 4, 1], 24, Corrupt);
    refused::<u64>(&[&[2, 0, 0x98], &[0x80; 8][..], &[2, 1, 2, 4, 1]].concat(), 24, Corrupt);
    refused::<u64>(&[&[2, 0], &[0xff; 10][..], &[1]].concat(), 24, Corrupt);
    refused::<u64>(&[&[2, 0], &[0xff; 9][..], &[1]].concat(), 24, Length);
    // The greatest width code, and one beyond it.
    refused::<u64>(&[2, 0, 24, 57, 2, 4, 1], 24, Truncated);
    refused::<u64>(&[2, 0, 24, 58, 2, 4, 1], 24, Corrupt);
    refused::<u32>(&[2, 0, 24, 29, 2, 4, 1], 24, Truncated);
    refused::<u32>(&[2, 0, 24, 30, 2, 4, 1], 24, Corrupt);
    // Unused bits of the head, and of the last group: three elements of width 9 take 27 bits.
    refused::<u64>(&[2, 0, 24, 1 | 0x40, 2, 4, 1], 24, Corrupt);
    assert!(decode(&mut Decoder64::new(), &[2, 0, 24, 2, 2, 4, 1, 4], 24).is_ok());
    (3..8).for_each(|bit| refused::<u64>(&[2, 0, 24, 2, 2, 4, 1, 1 << bit], 24, Corrupt));
}

#[test]
fn another_raw_length_is_refused() {
    let raw = conformance::random_bytes(5, 1600);
    let wire = encode(&mut Encoder32::new(), &raw);
    for len in (raw.len() - 80..raw.len() + 80).filter(|len| *len != raw.len()) {
        assert_eq!(decode(&mut Decoder32::new(), &wire, len), Err(Length), "{len} bytes");
    }
}

/// Messages: noise, families of data, and any two of them concatenated.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let smooth = (any::<f64>(), any::<f64>(), 1..40_u32, 0..900_u32).prop_map(|(start, step, record, n)| {
        let value = |i: u32| start + step * f64::from(i / record) + f64::from(i % record);
        (0..n).flat_map(|i| value(i).to_le_bytes()).collect::<Vec<u8>>()
    });
    let family = (proptest::sample::select(families().to_vec()), 0..9000_usize)
        .prop_map(|((_, generate), len)| generate(len));
    let one = prop_oneof![vec(any::<u8>(), 0..5000), smooth, family].boxed();
    (one.clone(), prop_oneof![Just(Vec::new()), one]).prop_map(|(first, second)| [first, second].concat())
}

fn comes_back<W: Word>(raw: &[u8]) {
    let expected = encode(&mut Encoder::<W>::new(), raw);
    for simd in tiers() {
        assert!(encode(&mut Encoder::<W>::new().with_simd(simd), raw) == expected, "{simd:?}");
        assert!(decode(&mut Decoder::<W>::new().with_simd(simd), &expected, raw.len()).as_deref() == Ok(raw));
    }
}

/// Every tier gives the same result for any wire.
fn hostile<W: Word>(wire: &[u8], len: usize) {
    let results: Vec<_> =
        tiers().into_iter().map(|simd| decode(&mut Decoder::<W>::new().with_simd(simd), wire, len)).collect();
    assert!(results.iter().all(|result| *result == results[0]));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn messages_come_back(raw in message()) {
        comes_back::<u64>(&raw);
        comes_back::<u32>(&raw);
    }

    #[test]
    fn hostile_wires_do_no_harm(more in 0..25_usize, body in vec(any::<u8>(), 0..3000), len in 0..4800_usize) {
        let wire = [lanes_header(more, len), body].concat();
        hostile::<u64>(&wire, len);
        hostile::<u32>(&wire, len);
    }

    #[test]
    fn a_changed_byte_does_no_harm(raw in message(), at in any::<usize>(), to in any::<u8>()) {
        let mut wire = encode(&mut Encoder64::new(), &raw);
        let at = at % wire.len();
        wire[at] = to;
        hostile::<u64>(&wire, raw.len());
        hostile::<u32>(&wire, raw.len());
    }
}
