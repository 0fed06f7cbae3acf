//! The edges of the wire format: header, bound, stored blocks, definitions, unused fields, and the error for each refused wire.

use crate::{RECORDS, header};
use mpress_codec::DecodeErrorKind::{self, Corrupt, Length, Truncated, Unsupported};
use mpress_codec::conformance::{decode, encode, random_bytes, tiers};
use mpress_codec::{Codec, Encode, Reset};
use mpress_diffpack::{Decoder, Decoder16, Decoder32, Decoder64, Diffpack, Effort, Encoder, Encoder64, Word};

#[test]
fn facts() {
    assert_eq!((Diffpack::<u64>::ID.0, Diffpack::<u64>::NAME, Diffpack::<u64>::WIDTH), (3, "diffpack", 8));
    assert_eq!((Diffpack::<u32>::ID.0, Diffpack::<u32>::NAME, Diffpack::<u32>::WIDTH), (4, "diffpack32", 4));
    assert_eq!((Diffpack::<u16>::ID.0, Diffpack::<u16>::NAME, Diffpack::<u16>::WIDTH), (5, "diffpack16", 2));
    const { assert!(!Diffpack::<u64>::STATEFUL) };
}

#[test]
fn an_empty_message_is_a_header_and_a_tail_travels_as_it_is() {
    let mut encoder = Encoder64::new(Effort::Ratio);
    assert_eq!(encode(&mut encoder, b""), [0x10, 0]);
    assert_eq!(encode(&mut encoder, b"seven b"), *b"\x10\x07seven b");
}

fn bound_is_reached<W: Word>() {
    for len in [0, 1, 8, 2047, 2048, 2049, 10_000] {
        let raw = random_bytes(7, len);
        let words = len / size_of::<W>() * size_of::<W>();
        let most = header(0, len).len() + len + 2 * words.div_ceil(2048);
        for &effort in Effort::ALL {
            let wire = encode(&mut Encoder::<W>::new(effort), &raw);
            assert!(wire.len() <= most, "{len} bytes, {effort:?}");
            assert!(len < 1000 || wire.len() == most, "{len} bytes of noise, {effort:?}");
        }
    }
    assert_eq!(Diffpack::<W>::encoder().max_encoded_len(10_000), Some(10_013));
    assert_eq!(Diffpack::<W>::encoder().max_encoded_len(usize::MAX - 100), None);
}

#[test]
fn the_bound_is_reached_and_never_passed() {
    bound_is_reached::<u64>();
    bound_is_reached::<u32>();
    bound_is_reached::<u16>();
}

#[test]
fn an_encoder_is_of_bounded_size() {
    assert!(size_of::<Encoder<u64>>() <= 24 << 10, "{}", size_of::<Encoder<u64>>());
    assert!(size_of::<Decoder<u64>>() <= 30 << 10);
}

fn repeating<W: Word>() {
    let fresh = random_bytes(11, 40_000);
    // Pieces of 1 to 300 bytes of whole words, new or copied from anywhere before.
    let mut raw = Vec::new();
    let mut at = 0;
    while raw.len() < 60_000 {
        let number = usize::from(u16::from_le_bytes([fresh[at], fresh[at + 1]]));
        let len = (1 + number % 37) * 8;
        let from =
            if raw.len() > 4000 && number % 5 != 0 { number * 13 % (raw.len() - 400) / 8 * 8 } else { 0 };
        let piece = if from > 0 { raw[from..from + len].to_vec() } else { fresh[at..at + len].to_vec() };
        raw.extend_from_slice(&piece);
        at += 2 + len / 16;
    }
    let mut wires = tiers().into_iter().map(|simd| {
        let wire = encode(&mut Encoder::<W>::new(Effort::Ratio).with_simd(simd), &raw);
        assert!(wire.len() * 3 < raw.len() * 2, "{} of {}", wire.len(), raw.len());
        let back = decode(&mut Decoder::<W>::new().with_simd(simd), &wire, raw.len());
        assert!(back == Ok(raw.clone()));
        wire
    });
    let first = wires.next().unwrap();
    assert!(wires.all(|wire| wire == first));
    // A damaged wire is refused or decoded, with the same result at every tier.
    for seed in 0..200 {
        let mut damaged = first.clone();
        for change in random_bytes(seed, 8).as_chunks::<4>().0 {
            let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % damaged.len();
            damaged[at] ^= change[2];
        }
        let mut results = tiers()
            .into_iter()
            .map(|simd| decode(&mut Decoder::<W>::new().with_simd(simd), &damaged, raw.len()));
        let result = results.next().unwrap();
        assert!(results.all(|other| other == result), "seed {seed}");
    }
}

#[test]
fn what_repeats_itself_is_found() {
    repeating::<u64>();
    repeating::<u32>();
    repeating::<u16>();
}

fn noise_is_not_worthwhile<W: Word>(mistakes: usize) {
    for simd in tiers() {
        let encoder = Encoder::<W>::new(Effort::Fast).with_simd(simd);
        for len in [4096, 28_000, 100_000, 300_000] {
            let mistaken = |seed: &u64| encoder.worthwhile(&random_bytes(*seed, len)) != Some(false);
            let seeds: Vec<u64> = (0..500).filter(mistaken).collect();
            assert!(seeds.len() <= mistakes, "{} at {simd:?}: {len} bytes of seeds {seeds:?}", W::NAME);
        }
    }
}

#[test]
fn noise_of_any_width_is_not_worthwhile() {
    noise_is_not_worthwhile::<u64>(0);
    noise_is_not_worthwhile::<u32>(0);
    // Differences of so few bits are sometimes short by chance.
    noise_is_not_worthwhile::<u16>(5);
}

#[test]
fn data_is_worthwhile() {
    for simd in tiers() {
        for &effort in Effort::ALL {
            let encoder = Encoder64::new(effort).with_simd(simd);
            let words =
                |word: fn(u64) -> u64| (0..5000).flat_map(|i| word(i).to_le_bytes()).collect::<Vec<u8>>();
            let gains = |raw: &[u8]| assert_eq!(encoder.worthwhile(raw), Some(true));
            gains(&words(|i| i * 3));
            gains(&words(|i| (1.0 + i as f64).sqrt().to_bits()));
            gains(&words(|i| (i % 3).wrapping_mul(0x9e37_79b9_7f4a_7c15) + i));
            gains(&words(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15)) >> 12 | 0x3ff << 52));
            gains(b"short messages are always tried");
        }
    }
}

/// The result of every tier for a wire and `len` raw bytes.
fn said(wire: &[u8], len: usize) -> Result<Vec<u8>, DecodeErrorKind> {
    let mut all = tiers().into_iter().map(|simd| decode(&mut Decoder64::new().with_simd(simd), wire, len));
    let first = all.next().unwrap();
    assert!(all.all(|other| other == first), "tiers differ");
    first
}

/// A wire of 8 words in one block: its head and the rest.
fn one_block(head: u16, rest: &[u8]) -> Vec<u8> {
    [&header(0, 64)[..], &head.to_le_bytes(), rest].concat()
}

const DEFINED: u16 = 15 << 12;
const STORED: u16 = 14 << 12;

#[test]
fn a_block_by_hand() {
    let words = |words: [u64; 8]| Ok(words.into_iter().flat_map(u64::to_le_bytes).collect::<Vec<u8>>());
    // Integer domain, one lag of 1; width 4; residuals 2 4 2 4 2 4 2 4: differences 1 2 1 2...
    assert_eq!(
        said(&one_block(DEFINED | 4, &[8, 1, 0x42, 0x42, 0x42, 0x42]), 64),
        words([1, 3, 4, 6, 7, 9, 10, 12])
    );
    // Distances below 10: width 4, residuals 0 to 7.
    let below = [&[1][..], &10_u64.to_le_bytes(), &[0x10, 0x32, 0x54, 0x76]].concat();
    assert_eq!(said(&one_block(DEFINED | 4, &below), 64), words([10, 9, 8, 7, 6, 5, 4, 3]));
    // Fixed point with the unit 1.0 (exponent 1023 + 52), no lags, all residuals 2: the value 1.
    let unit = 1075_u16.to_le_bytes();
    let fixed = [&[3][..], &unit, &[0xaa, 0xaa]].concat();
    assert_eq!(said(&one_block(DEFINED | 2, &fixed), 64), words([1.0_f64.to_bits(); 8]));
    // The same with 3 bits stripped: the value 8.
    let stripped = [&[3][..], &unit, &[3], &[0xaa, 0xaa]].concat();
    assert_eq!(said(&one_block(DEFINED | 2 | 1 << 11, &stripped), 64), words([8.0_f64.to_bits(); 8]));
    // Lookback: entries 9 2 0 0 0 0 0 0 of width 4, then differences 10 0 0 2 0 0 0 0 of width 4; words before the message are 0.
    let lookback = [&[4][..], &[0x29, 0, 0, 0], &[4, 0], &[0x0a, 0x20, 0, 0]].concat();
    assert_eq!(said(&one_block(DEFINED | 4, &lookback), 64), words([5, 0, 5, 1, 5, 1, 5, 1]));
    // Split: words 1 and 4 in the wide stream of width 8, the others zeros.
    let split = [&[0][..], &[0b0001_0010], &[0, 0], &[20, 40]].concat();
    assert_eq!(said(&one_block(DEFINED | 8 | 1 << 10, &split), 64), words([0, 10, 0, 0, 20, 0, 0, 0]));
}

#[test]
fn what_no_encoder_writes_is_refused() {
    for (head, rest, kind) in [
        (0, &[][..], Corrupt),                                      // an empty slot
        (STORED | 1, &[0; 64], Corrupt),                            // a stored block with a width
        (DEFINED, &[1 << 6], Corrupt),                              // an unused bit of a definition
        (DEFINED, &[5], Corrupt),    // the domain of a reference, without its bit
        (DEFINED, &[6], Corrupt),    // a domain that does not exist
        (DEFINED, &[8, 0], Corrupt), // a lag of 0
        (DEFINED, &[8 | 32, 0xff, 0xff], Corrupt), // a lag too long
        (DEFINED, &[24 | 32, 0, 4, 0, 4, 0, 1], Corrupt), // lags with too great a sum
        (DEFINED, &[1 | 8, 1], Corrupt), // a lag in a domain without lags
        (DEFINED, &[4 | 8, 1], Corrupt), // another
        (DEFINED, &[3, 0, 8], Corrupt), // a unit of 2048
        (DEFINED | 1 << 11, &[1, 0, 0, 0, 0, 0, 0, 0, 0], Corrupt), // strip counts in a domain without them
        (DEFINED | 1 << 11, &[0, 0], Corrupt), // another
        (DEFINED, &[4, 0, 8], Corrupt), // one of the head of differences
        (DEFINED, &[4, 0], Truncated), // no such head
        (DEFINED | 65, &[0], Corrupt), // a width of 65
        (DEFINED | 1 << 7 | 64, &[0, 1], Corrupt), // a width of 64 + 1
        (DEFINED | 1 << 10, &[0, 0, 0, 4], Corrupt), // a narrow head with a flag
        (DEFINED, &[0, 7], Length),  // an extra byte
        (DEFINED | 1, &[0], Truncated), // a missing group
        (DEFINED, &[], Truncated),   // a missing definition
        (STORED, &[0; 63], Truncated), // missing stored words
    ] {
        assert_eq!(said(&one_block(head, rest), 64), Err(kind), "{head:#x}, {rest:?}");
    }
    // Words of 16 bits have no fixed-point domain; for words of 32 bits its unit is below 256.
    let fixed = |unit: u8| one_block(DEFINED, &[3, 1, unit]);
    assert_eq!(decode(&mut Decoder16::new(), &fixed(0), 64), Err(Corrupt));
    assert_eq!(decode(&mut Decoder32::new(), &fixed(1), 64), Err(Corrupt));
    assert_eq!(decode(&mut Decoder32::new(), &fixed(0), 64), Ok(vec![0; 64]));
}

#[test]
fn headers_that_cannot_be_are_refused() {
    assert_eq!(said(&[0x10, 0], 0), Ok(vec![]));
    // Another format number, and unknown bits.
    for first in (0..=255_u8).filter(|first| first >> 4 != 1 || first & 14 != 0) {
        assert_eq!(said(&[first, 0], 0), Err(Unsupported), "{first:#x}");
    }
    for (wire, len, kind) in [
        (&[][..], 0, Truncated),
        (&[0x10], 0, Truncated),
        (&[0x10, 0x80], 128, Truncated),
        (&[0x10, 0x80, 0], 0, Corrupt),       // 0 in two bytes
        (&[0x10, 0x81, 0x80, 0], 1, Corrupt), // 1 in three bytes
        (&[0x10, 1], 0, Length),
        (&[0x10, 0], 1, Length),
        (&[0x10 | RECORDS, 5, 0, 0], 6, Length),
        (&[0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], 7, Length), // 2^64 - 1
        (&[0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2], 7, Corrupt), // 65 bits
        (&[0x10, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1], 0, Corrupt), // 11 bytes
    ] {
        assert_eq!(said(wire, len), Err(kind), "{wire:x?}, {len} bytes");
    }
}

#[test]
fn wires_from_before_this_format_are_refused() {
    // Byte 0 was a version, 1 to 4, and byte 1 the length modulo 8: here 64 zeros, "seven b", a record of one field, and repeats.
    for old in [
        &[1, 0, 0, 15 << 4, 0][..],
        b"\x01\x07seven b",
        &[2, 0, 1, 14 << 4, 1, 0, 1 << 4 | 1, 1, 0, 0, 14 << 4, 5, 0, 0, 0, 0, 0, 0, 0],
        &[3, 0, 7, 3, 0, 15 << 4, 0],
        &[4, 0, 0, 15 << 4, 0],
        &[4, 8, 7, 3, 0, 15 << 4, 0],
    ] {
        for len in [0, 1, 7, 8, 16, 64] {
            assert_eq!(said(old, len), Err(Unsupported), "{old:?}, {len} bytes");
        }
    }
}

/// The zeros of a message take no bytes of their own, so only the header gives their number.
#[test]
fn a_message_of_zeros_has_one_length() {
    let len = 1 << 20;
    for &effort in Effort::ALL {
        let wire = encode(&mut Encoder64::new(effort), &vec![0; len]);
        assert!(said(&wire, len) == Ok(vec![0; len]));
        for other in [0, 8, len / 2, len - 2048, len - 64, len - 8, len + 8, len + 64, len + 2048, 2 * len] {
            assert_eq!(said(&wire, other), Err(Length), "{other}");
        }
    }
}

#[test]
fn a_remembering_encoder_forgets_on_reset() {
    let field = |scale: f64, len: u32| -> Vec<u8> {
        (0..len).flat_map(|i| (scale * (f64::from(i) * 0.01).sin()).to_le_bytes()).collect()
    };
    for &effort in Effort::ALL {
        let mut encoder = Encoder64::remembering(effort);
        let first = encode(&mut encoder, &field(1.0, 4000));
        for len in [4000, 4000, 1000, 300] {
            let raw = field(3.0, len);
            let wire = encode(&mut encoder, &raw);
            assert!(decode(&mut Decoder64::new(), &wire, raw.len()) == Ok(raw));
        }
        encoder.reset();
        assert!(encode(&mut encoder, &field(1.0, 4000)) == first);
    }
}

#[test]
fn the_wire_does_not_depend_on_the_room() {
    // Noise, and the same words in another order: no differences are short, but all words occurred before.
    let noise = random_bytes(50, 2048);
    let again = (0..256).flat_map(|i| noise[(i * 37 % 256) * 8..][..8].to_vec());
    let message: Vec<u8> = noise.iter().copied().chain(again).collect();
    for effort in Effort::ALL {
        let wire = |more: usize| {
            let mut encoder = Encoder::<u64>::new(*effort);
            let mut room = vec![0; encoder.max_encoded_len(message.len()).unwrap() + more];
            let len = mpress_codec::encode_into(&mut encoder, &message, &mut room).unwrap();
            room.truncate(len);
            room
        };
        let of_bound = wire(0);
        assert!([1, 64, 1000, 5000].into_iter().all(|more| wire(more) == of_bound), "{effort:?}");
        assert!(*effort != Effort::Ratio || of_bound.len() < 3000, "{}", of_bound.len());
    }
}
