//! Messages of records (format, section 9): handwritten wires, refused wires, and fields that an encoder finds.

use crate::{RECORDS, header};
use mpress_codec::DecodeErrorKind::{self, Corrupt, Length, Truncated};
use mpress_codec::Encode;
use mpress_codec::conformance::{decode, encode, random_bytes, tiers};
use mpress_diffpack::{Decoder, Decoder16, Decoder32, Decoder64, Effort, Encoder, Word};

/// The result of every tier of every codec for a wire and `len` raw bytes.
fn said(wire: &[u8], len: usize) -> Result<Vec<u8>, DecodeErrorKind> {
    let all = tiers().into_iter().flat_map(|simd| {
        [
            decode(&mut Decoder64::new().with_simd(simd), wire, len),
            decode(&mut Decoder32::new().with_simd(simd), wire, len),
            decode(&mut Decoder16::new().with_simd(simd), wire, len),
        ]
    });
    let all: Vec<_> = all.collect();
    assert!(all.iter().all(|other| *other == all[0]), "tiers or codecs differ");
    all[0].clone()
}

/// A stored block.
const STORED: [u8; 2] = [0, 14 << 4];
/// A block of zeros, with a new predictor.
const ZEROS: [u8; 3] = [0, 15 << 4, 0];

#[test]
fn records_by_hand() {
    // Two records of 8, 4, 2 and 1 bytes, and three bytes of a third.
    let mut wire = header(RECORDS, 2 * 15 + 3);
    wire.extend([14, 0b00_01_10_11]);
    wire.extend([&STORED[..], &[1; 8], &[2; 8]].concat());
    wire.extend(ZEROS);
    wire.extend([&STORED[..], &[5, 6, 7, 8]].concat());
    // Bytes are stored in words of 16 bits, whose high bytes are ignored.
    wire.extend([&STORED[..], &[9, 0, 10, 77]].concat());
    wire.extend([20, 21, 22]);
    let first = [1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 5, 6, 9];
    let second = [2, 2, 2, 2, 2, 2, 2, 2, 0, 0, 0, 0, 7, 8, 10];
    assert_eq!(said(&wire, 33), Ok([&first[..], &second, &[20, 21, 22]].concat()));
    for end in 0..wire.len() {
        assert_eq!(said(&wire[..end], 33), Err(Truncated), "{end}");
    }
    assert_eq!(said(&[&wire[..], &[0]].concat(), 33), Err(Length));
    // No records at all: 32 fields in 8 bytes of layout, then a tail.
    let none = [&header(RECORDS, 5)[..], &[255; 9], &[1, 2, 3, 4, 5]].concat();
    assert_eq!(said(&none, 5), Ok(vec![1, 2, 3, 4, 5]));
}

#[test]
fn columns_begin_again_in_each_piece() {
    // 2049 records of one byte: a piece of 2048 records in two blocks, and a piece of one record.
    let mut wire = header(RECORDS, 2049);
    wire.extend([0, 0]);
    // The second block uses the predictor that the first one defined.
    wire.extend([&ZEROS[..], &[0, 0]].concat());
    wire.extend([&STORED[..], &[7, 0]].concat());
    let mut raw = vec![0; 2049];
    raw[2048] = 7;
    assert_eq!(said(&wire, 2049), Ok(raw));
    // In the second piece no predictor is defined yet.
    let shared = [&wire[..wire.len() - 4], &[0, 0]].concat();
    assert_eq!(said(&shared, 2049), Err(Corrupt));
}

#[test]
fn fields_that_cannot_be_are_refused() {
    let empty = |layout: &[u8]| said(&[&header(RECORDS, 0), layout].concat(), 0);
    assert_eq!(empty(&[]), Err(Truncated), "no layout");
    assert_eq!(empty(&[7]), Err(Truncated), "no fields");
    assert_eq!(empty(&[11, 0b11_11]), Err(Corrupt), "16 bytes of fields in a record of 12");
    assert_eq!(empty(&[0, 1]), Err(Corrupt), "two bytes of a field in a record of one");
    assert_eq!(empty(&[255, 0, 0]), Err(Truncated), "256 fields in two bytes");
    // Bits past the fields are ignored.
    assert_eq!(empty(&[7, 0b11_10_01_11]), Ok(vec![]));
}

/// Structures of a number, a random double with a fixed exponent, a kind and a flag, padded or packed.
fn structures(count: u64, packed: bool) -> Vec<u8> {
    let noise = random_bytes(9, 8 * count as usize);
    let noise = noise.as_chunks::<8>().0.iter().map(|noise| u64::from_le_bytes(*noise));
    (0_u32..)
        .zip(noise)
        .flat_map(|(i, noise)| {
            let real = (noise >> 12 | 0x3ff << 52).to_le_bytes();
            let number = (1000 + i * 3).to_le_bytes();
            let kind = (noise as u16 % 7).to_le_bytes();
            let padding: &[u8] = if packed { &[] } else { &[0] };
            [&number[..], &kind, &[(noise >> 20) as u8 & 1], padding, &real].concat()
        })
        .collect()
}

fn found<W: Word>(packed: bool) {
    for count in [200, 2048, 5000] {
        let mut raw = structures(count, packed);
        raw.extend([1, 2, 3]);
        let stride = raw.len() / count as usize;
        for effort in [Effort::Balanced, Effort::Ratio] {
            let mut wires = tiers().into_iter().map(|simd| {
                let mut encoder = Encoder::<W>::remembering(effort).with_simd(simd);
                let wires = [(); 3].map(|()| encode(&mut encoder, &raw));
                for wire in &wires {
                    // 52 bits of noise, 3 of kind, 1 of flag, 3 of number: 59 of 120 or 128.
                    assert!(wire[0] & RECORDS != 0, "{count}, {effort:?}, {simd:?}: not records");
                    let bits = wire.len() * 8 / count as usize;
                    assert!(bits < 66, "{bits} bits for {stride} bytes: {count}, {effort:?}, {simd:?}");
                    let back = decode(&mut Decoder::<W>::new().with_simd(simd), wire, raw.len());
                    assert!(back.as_ref() == Ok(&raw), "{count}, {effort:?}, {simd:?}");
                }
                wires
            });
            let first = wires.next().unwrap();
            assert!(wires.all(|other| other == first), "tiers differ: {count}, {effort:?}");
        }
    }
}

#[test]
fn structures_are_records() {
    found::<u64>(false);
    found::<u32>(false);
    found::<u16>(false);
}

#[test]
fn packed_structures_are_records() {
    found::<u64>(true);
    found::<u32>(true);
    found::<u16>(true);
}

/// Structures of two 32-bit counters and eight random words.
fn sparse(count: u64) -> Vec<u8> {
    let noise = random_bytes(4, 64 * count as usize);
    let record =
        |(i, noise): (u64, &[u8; 64])| [&((i << 32) | (70_000 + i)).to_le_bytes()[..], noise].concat();
    (0..).zip(noise.as_chunks().0).flat_map(record).collect()
}

#[test]
fn structures_that_are_mostly_noise_are_worthwhile() {
    let raw = sparse(1000);
    for simd in tiers() {
        for effort in [Effort::Balanced, Effort::Ratio] {
            let mut encoder = Encoder::<u64>::new(effort).with_simd(simd);
            assert_eq!(encoder.worthwhile(&raw), Some(true), "{effort:?}, {simd:?}");
            assert_eq!(encoder.worthwhile(&random_bytes(4, raw.len())), Some(false), "{effort:?}, {simd:?}");
            assert!(encode(&mut encoder, &raw).len() < raw.len() * 17 / 18, "{effort:?}, {simd:?}");
        }
    }
}

/// The first place examined says nothing then.
#[test]
fn zeros_do_not_hide_records() {
    let mut raw = structures(5000, false);
    let third = raw.len() / 3;
    raw[third - 2000..third + 4000].fill(0);
    for effort in [Effort::Balanced, Effort::Ratio] {
        for simd in tiers() {
            let wire = encode(&mut Encoder::<u64>::new(effort).with_simd(simd), &raw);
            assert_eq!(wire[0] & RECORDS, RECORDS, "{effort:?}, {simd:?}");
            assert!(decode(&mut Decoder64::new(), &wire, raw.len()).as_ref() == Ok(&raw));
        }
    }
}

#[test]
fn fields_are_kept_only_for_what_is_like_it() {
    let records = structures(3000, false);
    // Of another length, because predictors are remembered by length.
    let field: Vec<u8> = (0..5000).flat_map(|i| (f64::from(i) * 0.001).sin().to_le_bytes()).collect();
    for effort in [Effort::Balanced, Effort::Ratio] {
        let alone = encode(&mut Encoder::<u64>::new(effort), &field);
        let mut encoder = Encoder::<u64>::remembering(effort);
        assert_eq!(encode(&mut encoder, &records)[0] & RECORDS, RECORDS);
        let after = encode(&mut encoder, &field);
        let lens = (after[0], after.len(), alone[0], alone.len());
        assert!(
            after[0] & RECORDS == 0 && after.len() <= alone.len() + alone.len() / 8,
            "{effort:?}: {lens:?}"
        );
        assert_eq!(encode(&mut encoder, &records)[0] & RECORDS, RECORDS);
        // An encoder that does not remember writes the same wire as a new one.
        let mut fresh = Encoder::<u64>::new(effort);
        encode(&mut fresh, &records);
        assert_eq!(encode(&mut fresh, &field), alone);
    }
}

#[test]
fn damaged_records_do_no_harm() {
    let raw = structures(2500, false);
    let wire = encode(&mut Encoder::<u64>::new(Effort::Ratio), &raw);
    assert_eq!(wire[0] & RECORDS, RECORDS);
    for seed in 0..300 {
        let mut damaged = wire.clone();
        for change in random_bytes(seed, 8).as_chunks::<4>().0 {
            let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % damaged.len();
            // As often near the front, where the layout is, as anywhere else.
            let at = if change[3] < 128 { at % 40 } else { at };
            damaged[at] ^= change[2];
        }
        let _same_at_every_tier = said(&damaged, raw.len());
    }
}
