//! Random messages of many kinds round-trip exactly, every tier writes the same bytes, and random wires do no harm.

use crate::header;
use mpress_codec::DecodeErrorKind;
use mpress_codec::conformance::{decode, encode, families, tiers};
use mpress_rice::ccsds::{self, Parameters};
use mpress_rice::{Decoder, Encoder, Mapping, Word};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// Integers of all widths around all values, with outliers; families of data; and any two of them concatenated.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let integers = (any::<u64>(), 0..64_u32, 0..64_u32, 1..100_u64, vec(any::<u64>(), 0..1500), 0..4_usize)
        .prop_map(|(from, bits, wide, rarely, noise, log2_width)| {
            let integer = |noise: u64| {
                from.wrapping_add(noise >> if noise.is_multiple_of(rarely) { wide.min(bits) } else { bits })
            };
            noise
                .into_iter()
                .flat_map(|noise| integer(noise).to_le_bytes().into_iter().take(1 << log2_width))
                .collect()
        });
    let walk = (0..32_u32, vec(any::<i32>(), 0..3000)).prop_map(|(bits, steps)| {
        let walk = steps.into_iter().scan(0_i32, |at, step| {
            *at = at.wrapping_add(step >> bits);
            Some(*at)
        });
        walk.flat_map(i32::to_le_bytes).collect::<Vec<u8>>()
    });
    let family = (select(families().to_vec()), 0..9000_usize).prop_map(|((_, generate), len)| generate(len));
    let one = prop_oneof![integers, walk, family, vec(any::<u8>(), 0..5000)].boxed();
    (one.clone(), prop_oneof![Just(Vec::new()), one], 0..9_usize).prop_map(|(mut first, second, cut)| {
        first.extend(second);
        first.truncate(first.len().saturating_sub(cut));
        first
    })
}

fn mapping() -> impl Strategy<Value = Option<Mapping>> {
    prop_oneof![Just(None), select(Mapping::ALL.to_vec()).prop_map(Some)]
}

fn parameters() -> impl Strategy<Value = Parameters> {
    (1..=32_u32, select(vec![8_usize, 16, 32, 64]), 1..=300_usize, 0..32_u32).prop_map(
        |(bits, block, interval, flags)| {
            let has = |flag: u32| flags >> flag & 1 == 1;
            let new =
                Parameters::new(bits).unwrap().with_block(block).unwrap().with_interval(interval).unwrap();
            let new = new.with_signed(has(0)).with_preprocessor(has(1)).with_big_endian(has(2));
            let new = new.with_three_bytes().filter(|_| has(3)).unwrap_or(new);
            new.with_restricted().filter(|_| has(4)).unwrap_or(new)
        },
    )
}

/// The wire of `raw`, which is the same at all tiers and which all tiers decode.
fn come_back<W: Word>(raw: &[u8], mapping: Option<Mapping>) -> Vec<u8> {
    let mut wires = tiers().into_iter().map(|simd| {
        let mut encoder = mapping.map_or(Encoder::<W>::auto(), Encoder::new).with_simd(simd);
        let wire = encode(&mut encoder, raw);
        let back = decode(&mut Decoder::<W>::new().with_simd(simd), &wire, raw.len());
        assert!(back.as_deref() == Ok(raw), "{mapping:?}, {simd:?}");
        wire
    });
    let first = wires.next().unwrap();
    assert!(wires.all(|wire| wire == first), "{mapping:?}: different bytes at another tier");
    first
}

fn come_back_ccsds(raw: &[u8], parameters: Parameters) -> Vec<u8> {
    let mut wires = tiers().into_iter().map(|simd| {
        let wire = encode(&mut ccsds::Encoder::new(parameters).with_simd(simd), raw);
        let back = decode(&mut ccsds::Decoder::new().with_simd(simd), &wire, raw.len());
        assert!(back.as_deref() == Ok(raw), "{parameters:?}, {simd:?}");
        wire
    });
    let first = wires.next().unwrap();
    assert!(wires.all(|wire| wire == first), "{parameters:?}: different bytes at another tier");
    first
}

/// Every tier gives the same result for any wire.
fn hostile<W: Word>(wire: &[u8], len: usize) {
    agree(tiers().into_iter().map(|simd| decode(&mut Decoder::<W>::new().with_simd(simd), wire, len)));
}

fn hostile_ccsds(wire: &[u8], len: usize) {
    agree(tiers().into_iter().map(|simd| decode(&mut ccsds::Decoder::new().with_simd(simd), wire, len)));
}

fn agree(mut results: impl Iterator<Item = Result<Vec<u8>, DecodeErrorKind>>) {
    let first = results.next().unwrap();
    assert!(results.all(|result| result == first));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn messages_come_back(raw in message(), mapping in mapping(), parameters in parameters()) {
        come_back::<u8>(&raw, mapping);
        come_back::<u16>(&raw, mapping);
        come_back::<u32>(&raw, mapping);
        come_back::<u64>(&raw, mapping);
        come_back_ccsds(&raw, parameters);
    }

    #[test]
    fn every_prefix_is_truncated(raw in message(), at in any::<usize>(), parameters in parameters()) {
        let wire = come_back::<u32>(&raw, None);
        let prefix = &wire[..at % wire.len()];
        prop_assert_eq!(decode(&mut Decoder::<u32>::new(), prefix, raw.len()), Err(DecodeErrorKind::Truncated));
        let wire = come_back_ccsds(&raw, parameters);
        let prefix = &wire[..at % wire.len()];
        prop_assert_eq!(decode(&mut ccsds::Decoder::new(), prefix, raw.len()), Err(DecodeErrorKind::Truncated));
    }

    #[test]
    fn hostile_wires_do_no_harm(body in vec(any::<u8>(), 0..3000), len in 0..20_000_usize, mask: u8) {
        // Masked bytes: long runs of zeros, small numbers.
        let body: Vec<u8> = body.into_iter().map(|byte| byte & mask).collect();
        let wire = [header(len), body].concat();
        hostile::<u8>(&wire, len);
        hostile::<u16>(&wire, len);
        hostile::<u32>(&wire, len);
        hostile::<u64>(&wire, len);
        // The same, with a byte of flags: a stream.
        let (version, rest) = wire.split_at(1);
        hostile_ccsds(&[version, &[8], rest].concat(), len);
    }

    #[test]
    fn a_changed_byte_does_no_harm(
        raw in message(),
        at in any::<usize>(),
        to in any::<u8>(),
        mapping in mapping(),
        parameters in parameters(),
    ) {
        let change = |mut wire: Vec<u8>| {
            let at = at % wire.len();
            wire[at] = to;
            wire
        };
        hostile::<u8>(&change(come_back::<u8>(&raw, mapping)), raw.len());
        hostile::<u16>(&change(come_back::<u16>(&raw, mapping)), raw.len());
        hostile::<u32>(&change(come_back::<u32>(&raw, mapping)), raw.len());
        hostile::<u64>(&change(come_back::<u64>(&raw, mapping)), raw.len());
        hostile_ccsds(&change(come_back_ccsds(&raw, parameters)), raw.len());
    }
}
