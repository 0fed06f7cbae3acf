//! The edges of the wire format: headers, heads, bounds, and what a decoder refuses.

use crate::header;
use mpress_codec::DecodeErrorKind::{self, Corrupt, Length, Truncated, Unsupported};
use mpress_codec::conformance::{decode, encode, random_bytes, tiers};
use mpress_codec::{Codec, Encode};
use mpress_rice::{Decoder, Encoder, Encoder8, Encoder32, Mapping, Rice, Word};

/// A message of one block of 32-bit words.
fn one_block(parameter: u16, mapping: u16, unary_len: u16, rest: &[u8]) -> Vec<u8> {
    let head = parameter | mapping << 7 | unary_len << 9;
    [&[2, 32], &head.to_le_bytes()[..], rest].concat()
}

fn said(wire: &[u8], words: usize) -> Result<Vec<u32>, DecodeErrorKind> {
    let raw = decode(&mut Decoder::<u32>::new(), wire, words * 4)?;
    Ok(raw.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect())
}

#[test]
fn facts() {
    assert_eq!((Rice::<u8>::ID.0, Rice::<u8>::NAME, Rice::<u8>::WIDTH), (9, "rice8", 1));
    assert_eq!((Rice::<u16>::ID.0, Rice::<u16>::NAME, Rice::<u16>::WIDTH), (10, "rice16", 2));
    assert_eq!((Rice::<u32>::ID.0, Rice::<u32>::NAME, Rice::<u32>::WIDTH), (11, "rice32", 4));
    assert_eq!((Rice::<u64>::ID.0, Rice::<u64>::NAME, Rice::<u64>::WIDTH), (12, "rice64", 8));
}

#[test]
fn the_layout_is_the_documented_one() {
    assert_eq!(encode(&mut Encoder32::auto(), b""), [2, 0]);
    // Only a tail.
    assert_eq!(encode(&mut Encoder32::auto(), b"abc"), *b"\x02\x03abc");
    // A zero block.
    assert_eq!(encode(&mut Encoder32::new(Mapping::Unsigned), &[0; 1024]), [2, 0x80, 8, 0, 0]);
    // Constant words: mapping 3, the four bytes of the least word, nothing else.
    let constant = [7, 1, 0, 0].repeat(256);
    assert_eq!(encode(&mut Encoder32::new(Mapping::Offset), &constant), [2, 0x80, 8, 0x80, 1, 7, 1, 0, 0]);
    // Too short to gain: stored.
    assert_eq!(encode(&mut Encoder32::auto(), &[9; 4]), [2, 4, 32, 0, 9, 9, 9, 9]);
    // Lane 0 of eight has the words 0, 8, 16...: the least significant bits of the first 32 bytes are those of row 0.
    let ones: Vec<u8> = (0..256_u32).flat_map(|i| u32::from(i % 8 == 3).to_le_bytes()).collect();
    let wire = encode(&mut Encoder32::new(Mapping::Unsigned), &ones);
    let mut row = [0; 32];
    row[12..16].fill(0xff);
    assert_eq!(wire, [&[2, 0x80, 8, 1, 0], &row[..]].concat());
    // One value of 200 among zeros: its quotient is 200, and the codes of the zeros are single ones.
    let mut outlier = vec![0; 256];
    outlier[3] = 200;
    let wire = encode(&mut Encoder8::new(Mapping::Unsigned), &outlier);
    let mut unary = [0; 57];
    (unary[0], unary[25]) = (0b111, 0b1111_1000);
    unary[26..].fill(0xff);
    assert_eq!(wire, [&[2, 0x80, 2, 0, 57 << 1], &unary[..]].concat());
}

#[test]
fn broken_wires_are_refused_for_the_right_reason() {
    let row = [0; 32];
    assert_eq!(said(&one_block(1, 0, 0, &row), 8), Ok(vec![0; 8]));
    // Eight ones and no remainders; two zeros before the last one.
    assert_eq!(said(&one_block(0, 0, 1, &[0xff]), 8), Ok(vec![0; 8]));
    assert_eq!(said(&one_block(0, 0, 2, &[0x7f, 2]), 8), Ok(vec![0, 0, 0, 0, 0, 0, 0, 2]));
    for (wire, kind) in [
        (one_block(33, 0, 0, &[0; 64]), Corrupt), // a parameter above the width
        (one_block(127, 0, 0, &[0; 64]), Corrupt), // the greatest parameter
        (one_block(32, 1, 0, &row), Corrupt),     // stored, with a mapping
        (one_block(32, 0, 1, &row), Corrupt),     // stored, with a unary part
        (one_block(0, 0, 4, &[0x7f, 0, 0, 1]), Corrupt), // a unary part of more than 3 bits per word
        (one_block(0, 0, 1, &[0x7f]), Corrupt),   // seven ones
        (one_block(0, 0, 2, &[0xff, 1]), Corrupt), // nine ones
        (one_block(0, 0, 2, &[0xff, 0]), Corrupt), // a last byte of 0
        (one_block(0, 0, 1, &[0xff, 0]), Length), // an extra byte
        (one_block(0, 0, 2, &[0xff]), Truncated), // half a unary part
        (one_block(0, 3, 0, &[1, 2, 3]), Truncated), // half a least word
        (one_block(1, 0, 0, &row[1..]), Truncated), // half a row
        (one_block(32, 0, 0, &row[1..]), Truncated), // half a stored block
    ] {
        assert_eq!(said(&wire, 8), Err(kind), "{wire:?}");
    }
    // The header of the old version 1, and a valid one.
    assert_eq!(said(&[1, 0], 0), Err(Unsupported));
    assert_eq!(said(&[3, 0], 0), Err(Unsupported));
    assert_eq!(said(&[2, 1], 0), Err(Length));
    assert_eq!(said(&[2, 8], 0), Err(Length));
    assert_eq!(said(&[2, 0x80, 0], 0), Err(Corrupt), "0 in two bytes");
    assert_eq!(said(&[2], 0), Err(Truncated));
    assert_eq!(said(&[2, 0x80], 0), Err(Truncated));
    assert_eq!(said(&[2, 0, 0], 0), Err(Length));
}

fn bits<W>() -> u32 {
    8 * size_of::<W>() as u32
}

/// A block of words without remainders with these quotients, and the words that they represent with the parameter `k`: `None` if no encoder can write
/// it.
fn quotients<W: Word>(k: u32, quotients: &[u64]) -> (Vec<u8>, Option<Vec<u8>>) {
    let ends = quotients.iter().scan(0, |end, quotient| {
        *end += quotient + 1;
        Some(*end as usize)
    });
    let ends: Vec<_> = ends.collect();
    let mut unary = vec![0; ends.last().unwrap().div_ceil(8)];
    ends.iter().for_each(|end| unary[(end - 1) / 8] |= 1 << ((end - 1) % 8));
    let rows = quotients.len().div_ceil(32 / size_of::<W>());
    let remainders = vec![0; 32 * (rows * k as usize).div_ceil(bits::<W>() as usize)];
    let head = k as u16 | (unary.len() as u16) << 9;
    let mut wire = header(quotients.len() * size_of::<W>());
    wire.extend([&head.to_le_bytes()[..], &unary, &remainders].concat());
    let fits = |quotient: u64| quotient < 256 && u128::from(quotient) << k < 1 << bits::<W>();
    let word = |quotient: &u64| (quotient << k).to_le_bytes()[..size_of::<W>()].to_vec();
    let raw =
        quotients.iter().all(|quotient| fits(*quotient)).then(|| quotients.iter().flat_map(word).collect());
    (wire, raw)
}

fn every_tier_refuses_quotients_that_no_encoder_writes<W: Word>() {
    let noise = random_bytes(4, 30_000);
    let noise = |i: usize| u64::from(u16::from_le_bytes([noise[2 * i], noise[2 * i + 1]]));
    for k in 0..bits::<W>() {
        let edge = (1_u128 << (bits::<W>() - k)).min(256) as u64;
        for len in [1_usize, 100, 171, 255, 256] {
            for (i, one) in
                [0, edge - 1, edge, edge + 1, 255, 256, 257, 300, 511, 512].into_iter().enumerate()
            {
                // One quotient that may be too great, among small ones, where the unary part has room for it.
                let at = noise(k as usize * 50 + len + i) as usize % len;
                let mut all: Vec<_> = (0..len).map(|i| noise(i) % edge.min(2)).collect();
                all[at] = one;
                if all.iter().sum::<u64>() as usize + len > 8 * (3 * len).div_ceil(8) {
                    continue;
                }
                let (wire, raw) = quotients::<W>(k, &all);
                for simd in tiers() {
                    let back = decode(&mut Decoder::<W>::new().with_simd(simd), &wire, len * size_of::<W>());
                    assert_eq!(back.ok(), raw, "{} bits, k {k}, {len} words, {one}, {simd:?}", bits::<W>());
                }
            }
        }
    }
}

#[test]
fn quotients_that_no_encoder_writes_are_corrupt() {
    every_tier_refuses_quotients_that_no_encoder_writes::<u8>();
    every_tier_refuses_quotients_that_no_encoder_writes::<u16>();
    every_tier_refuses_quotients_that_no_encoder_writes::<u32>();
    every_tier_refuses_quotients_that_no_encoder_writes::<u64>();
    // Two quotients that are too great, but with the correct sum modulo 256.
    let twice: Vec<_> = (0..256).map(|i| if i % 128 == 3 { 256 } else { 0 }).collect();
    let (wire, raw) = quotients::<u32>(0, &twice);
    assert_eq!((said(&wire, 256), raw), (Err(Corrupt), None));
    let (wire, raw) = quotients::<u8>(7, &[0, 1, 0, 2, 0, 0, 0, 0]);
    assert_eq!((decode(&mut Decoder::<u8>::new(), &wire, 8), raw), (Err(Corrupt), None));
}

/// Noise; all its blocks are stored.
fn bound_is_exact<W: Word>() {
    for words in [0, 1, 2, 255, 256, 257, 512, 513, 1000] {
        for tail in [0, size_of::<W>() - 1] {
            let raw = random_bytes(words as u64, words * size_of::<W>() + tail);
            for mut encoder in Mapping::ALL.iter().copied().map(Encoder::<W>::new).chain([Encoder::auto()]) {
                let bound = encoder.max_encoded_len(raw.len());
                assert_eq!(bound, Some(header(raw.len()).len() + raw.len() + 2 * words.div_ceil(256)));
                assert_eq!(Some(encode(&mut encoder, &raw).len()), bound, "{words} words");
            }
        }
    }
    assert_eq!(Rice::<W>::encoder().max_encoded_len(usize::MAX - 2), None);
}

#[test]
fn the_bound_is_reached() {
    bound_is_exact::<u8>();
    bound_is_exact::<u16>();
    bound_is_exact::<u32>();
    bound_is_exact::<u64>();
}

#[test]
fn each_mapping_is_the_best_for_something_and_auto_finds_it() {
    let noise = random_bytes(1, 4 * 256);
    let noise = |i: usize| u32::from_le_bytes(*noise[4 * i..].first_chunk().unwrap());
    let small = |i: usize| noise(i) >> 26 >> noise(i).trailing_ones();
    for &mapping in Mapping::ALL {
        let word = |i: usize| match mapping {
            Mapping::Unsigned => small(i),
            Mapping::Signed => small(i).wrapping_sub(small((i + 1) % 256)),
            Mapping::Delta => i as u32 * 1_000_003 + small(i),
            Mapping::Offset => 1_000_000_000 + noise(i) % 1000,
            _ => panic!("a mapping without words"),
        };
        let raw: Vec<u8> = (0..256).flat_map(|i| word(i).to_le_bytes()).collect();
        let len = |mapping| encode(&mut Encoder32::new(mapping), &raw).len();
        let best = encode(&mut Encoder32::new(mapping), &raw);
        assert!(Mapping::ALL.iter().all(|&other| other == mapping || len(other) > best.len()), "{mapping:?}");
        assert!(encode(&mut Encoder32::auto(), &raw) == best, "{mapping:?}");
    }
}
