//! The kernels of interleaved lanes write exactly the bytes that the format specifies. They are compared with a second implementation at every tier,
//! and decode its wires with every number of lanes. Some messages reach the bound.

use crate::lanes_header;
use crate::support_lanes as model;
use crate::support_real as real;

use model::Model;
use mpress_codec::conformance::{decode, encode, families, tiers};
use mpress_codec::{Codec, Encode};
use mpress_dfcm::Word;
use mpress_dfcm::lanes::{Decoder, Encoder, Encoder32, Lanes};

/// Lengths around groups of 64 bytes, blocks of 512, the reach of a prediction, and the minimum for a choice of lanes.
const LENGTHS: [usize; 20] =
    [0, 3, 8, 9, 63, 64, 72, 127, 136, 511, 512, 520, 575, 576, 584, 767, 1280, 2047, 2056, 9003];

fn check<W: Word>(raw: &[u8], what: &str) {
    let model = Model { width: 8 * size_of::<W>() };
    let expected = model.message(raw, model.choice(raw));
    for simd in tiers() {
        let wire = encode(&mut Encoder::<W>::new().with_simd(simd), raw);
        assert!(wire == expected, "{what}, {} bytes, {simd:?}", raw.len());
        assert!(decode(&mut Decoder::<W>::new().with_simd(simd), &wire, raw.len()).as_deref() == Ok(raw));
    }
}

fn any_lanes<W: Word>(raw: &[u8], what: &str) {
    let model = Model { width: 8 * size_of::<W>() };
    for lanes in model.group()..=model.group() + 24 {
        let wire = model.message(raw, lanes);
        for simd in tiers() {
            let back = decode(&mut Decoder::<W>::new().with_simd(simd), &wire, raw.len());
            assert!(back.as_deref() == Ok(raw), "{what}, {lanes} lanes, {simd:?}");
        }
    }
}

#[test]
fn families_are_written_as_the_format_says() {
    for (name, generate) in families() {
        for len in LENGTHS {
            check::<u64>(&generate(len), name);
            check::<u32>(&generate(len), name);
        }
    }
}

#[test]
fn real_messages_are_written_as_the_format_says() {
    for (name, raw) in real::samples() {
        check::<u64>(raw, name);
        check::<u32>(raw, name);
    }
}

#[test]
fn every_number_of_lanes_is_read() {
    for (name, generate) in families() {
        any_lanes::<u64>(&generate(1777), name);
        any_lanes::<u32>(&generate(1777), name);
    }
}

/// Residuals of every width at every position in a group.
#[test]
fn every_width_is_written_and_read() {
    fn run<W: Word>() {
        for width in 0..=8 * size_of::<W>() {
            let raw: Vec<u8> = (0..700_u64)
                .flat_map(|i| {
                    let value = i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - width).min(63);
                    let value = if width == 0 { 0 } else { value };
                    value.to_le_bytes()[..size_of::<W>()].to_vec()
                })
                .collect();
            check::<W>(&raw, "width");
        }
    }
    run::<u64>();
    run::<u32>();
}

/// Elements as far from their predictions as possible.
fn worst<W: Word>(elements: usize) -> Vec<u8> {
    let model = Model { width: 8 * size_of::<W>() };
    let mut values = Vec::new();
    for i in 0..elements {
        // The minimum number of lanes is chosen, because the second differences are equally wide for all.
        let prediction = model.predict(&[&values[..], &[0]].concat(), i, model.group());
        values.push(prediction ^ 1 << (8 * size_of::<W>() - 1));
    }
    let mut raw: Vec<u8> =
        values.iter().flat_map(|value| value.to_le_bytes()[..size_of::<W>()].to_vec()).collect();
    raw.push(0xff);
    raw
}

fn bound_is_exact<W: Word>() {
    let group = 64 / size_of::<W>();
    // Lengths up to the one from which the number of lanes is chosen.
    for elements in [0, 1, 2, group - 1, group, group + 1, 4 * group, 575 / size_of::<W>()] {
        let raw = worst::<W>(elements);
        let bound = Lanes::<W>::encoder().max_encoded_len(raw.len());
        let header = lanes_header(0, raw.len()).len();
        assert_eq!(bound, Some(raw.len() + (elements.div_ceil(group) * 6).div_ceil(8) + header));
        assert_eq!(Some(encode(&mut Encoder::<W>::new(), &raw).len()), bound, "{elements} elements");
    }
}

#[test]
fn the_bound_is_reached_and_never_passed() {
    bound_is_exact::<u64>();
    bound_is_exact::<u32>();
    for len in [usize::MAX, usize::MAX - 2, usize::MAX / 259 * 256 + 10_000] {
        assert_eq!(Lanes::<u64>::encoder().max_encoded_len(len), None, "{len} bytes: no bound that fits");
    }
    assert!(Lanes::<u64>::encoder().max_encoded_len(usize::MAX / 259 * 256 - 10_000).is_some());
    assert_eq!(Encoder32::new().max_encoded_len(65 * 4 + 1), Some(261 + 4 + 4));
}
