//! Blocks of copies: by hand, which are refused, and that encoders find units, runs and near copies.

use crate::{COPIES, RECORDS, header};
use mpress_codec::DecodeErrorKind::{self, Corrupt, Truncated};
use mpress_codec::conformance::{decode, encode, random_bytes, tiers};
use mpress_diffpack::{Decoder, Decoder64, Effort, Encoder, Word};

/// A string of bits: each number has as many as stand beside it.
fn bits(numbers: &[(u64, u32)]) -> Vec<u8> {
    let all: Vec<bool> =
        numbers.iter().flat_map(|(n, len)| (0..*len).map(move |i| n >> i & 1 == 1)).collect();
    all.chunks(8).map(|byte| byte.iter().zip(0..).map(|(bit, i)| u8::from(*bit) << i).sum()).collect()
}

/// A wire of `len` bytes: one block of copies, with units of `unit` words and `first` words of a cut one. Fields: a, b, a', b', u, v, e.
fn copies_of(
    len: usize,
    [unit, first]: [u16; 2],
    [sequences, words]: [u64; 2],
    fields: [u64; 7],
    literals: &[u8],
    packed: &[(u64, u32)],
) -> Vec<u8> {
    let head: u16 = 14 << 12 | 2 | (unit - 1) << 2 | first << 6;
    let [a, b, more, more_copies, short, long, residual] = fields;
    let widths = [(a, 3), (b, 3), (more, 4), (more_copies, 4), (short, 4), (long - 1, 4), (residual, 4)];
    let fields = bits(&[&[(sequences, 11), (words, 11)], &widths[..]].concat());
    [&header(COPIES, len)[..], &head.to_le_bytes(), &fields, literals, &bits(packed)].concat()
}

/// One of 64 words.
fn copies(
    units: [u16; 2],
    numbers: [u64; 2],
    fields: [u64; 7],
    literals: &[u8],
    packed: &[(u64, u32)],
) -> Vec<u8> {
    copies_of(512, units, numbers, fields, literals, packed)
}

/// Bytes of the header of a message of 64 words.
const HEADER: usize = 3;

fn words_of(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The words that a wire of 64 words holds.
fn read(wire: &[u8]) -> Result<Vec<u8>, DecodeErrorKind> {
    let mut all = tiers().into_iter().map(|simd| decode(&mut Decoder64::new().with_simd(simd), wire, 512));
    let first = all.next().unwrap();
    assert!(all.all(|other| other == first), "tiers differ");
    first
}

fn stored(words: &[u64]) -> Vec<u8> {
    [&[0, 14 << 4][..], &words_of(words)].concat()
}

#[test]
fn exact_and_near_copies_by_hand() {
    // Two literals and six copies of them, a short distance; a literal and 40 copies of it, a long distance; 15 near copies, each 1 more than the last.
    let packed = [
        &[(2, 2), (3, 2), (1, 2), (2, 6), (1, 1)][..],
        &[(1, 2), (3, 2), (2, 2), (36, 6), (0, 4)],
        &[(0, 2), (3, 2), (3, 2), (11, 6), (0, 4)],
        &[(2, 2); 15],
    ];
    let wire = copies([1, 0], [3, 3], [2, 2, 1, 6, 1, 4, 2], &stored(&[5, 6, 7]), &packed.concat());
    let mut expected = [5, 6].repeat(4);
    expected.resize(49, 7);
    expected.extend(8..=22);
    assert_eq!(read(&wire), Ok(words_of(&expected)));
    for end in 0..wire.len() {
        assert_eq!(read(&wire[..end]), Err(Truncated), "{end}");
    }
    // The distance before the first sequence is 1; literals may follow the last one.
    let wire =
        copies([1, 0], [1, 2], [1, 0, 1, 6, 0, 1, 0], &stored(&[5, 9]), &[(1, 1), (0, 2), (0, 1), (61, 6)]);
    let mut expected = vec![5; 63];
    expected.push(9);
    assert_eq!(read(&wire), Ok(words_of(&expected)));
}

#[test]
fn units_by_hand() {
    // Units of 3 words: 2 of the first one, 20 whole ones, 2 of the last one. Two are literals.
    let wire =
        copies([3, 2], [1, 5], [2, 5, 0, 0, 0, 1, 0], &stored(&[1, 2, 3, 4, 5]), &[(2, 2), (19, 5), (0, 2)]);
    let mut expected = vec![1, 2];
    expected.extend([3, 4, 5].iter().cycle().take(62));
    assert_eq!(read(&wire), Ok(words_of(&expected)));
    // A block whose first unit began in the block before: 1 word and 21 units, from 4 units before.
    let before: Vec<u64> = (0..256).collect();
    let second = copies([3, 1], [1, 0], [1, 5, 0, 0, 2, 1, 0], &[], &[(0, 1), (21, 5), (1, 2), (3, 2)]);
    let wire = [&header(COPIES, 8 * 320)[..], &stored(&before), &second[HEADER..]].concat();
    let expected: Vec<u64> = before.iter().copied().chain((0..64).map(|i| 244 + i % 12)).collect();
    assert_eq!(decode(&mut Decoder64::new(), &wire, 8 * 320), Ok(words_of(&expected)));
}

#[test]
fn copies_that_cannot_be_are_refused() {
    let fields = [2, 6, 0, 0, 2, 1, 0];
    let two = stored(&[5, 6]);
    let make = |units, numbers, packed: &[(u64, u32)]| copies(units, numbers, fields, &two, packed);
    // Two literals and 62 copies from 2 words before.
    let good = [(2, 2), (61, 6), (1, 2), (1, 2)];
    let wire = make([1, 0], [1, 2], &good);
    assert!(read(&wire).is_ok());
    let refused = |wire: &[u8], why: &str| assert_eq!(read(wire), Err(Corrupt), "{why}");
    refused(&make([1, 1], [1, 2], &good), "a first unit as long as the others");
    refused(&make([1, 0], [0, 2], &good), "no sequence");
    refused(&make([1, 0], [65, 2], &good), "more sequences than words");
    refused(&make([1, 0], [1, 65], &good), "more literals than words");
    refused(&make([1, 0], [1, 2], &[(2, 2), (62, 6), (1, 2), (1, 2)]), "more words than the block has");
    refused(
        &make([1, 0], [2, 2], &[good, [(0, 2), (0, 6), (1, 2), (0, 2)]].concat()),
        "copies after the end",
    );
    refused(&make([1, 0], [1, 2], &[(2, 2), (61, 6), (1, 2), (2, 2)]), "from before the message");
    refused(&make([2, 0], [1, 2], &[(1, 2), (30, 6), (1, 2), (1, 2)]), "from before the message by a unit");
    refused(&make([1, 0], [1, 2], &[(0, 2), (61, 6), (1, 2), (1, 2)]), "from before the first word");
    refused(&make([1, 0], [1, 2], &[(1, 2), (62, 6), (1, 2), (0, 2)]), "a literal left over");
    let three = [(1, 2), (0, 6), (1, 2), (0, 2), (2, 2), (59, 6), (1, 2), (0, 2)];
    refused(&make([1, 0], [2, 2], &three), "more literals than there are");
    for (at, bit, why) in [(1, 2, "head, bit 10"), (1, 3, "head, bit 11"), (0, 0, "head, bit 0")] {
        let mut wire = wire.clone();
        wire[HEADER + at] ^= 1 << bit;
        refused(&wire, why);
    }
    for field in [2, 3] {
        let mut fields = fields;
        fields[field] = 11;
        refused(&copies([1, 0], [1, 2], fields, &two, &good), "an extension of 11 bits");
    }
    let nested = copies([1, 0], [1, 64], fields, &wire[HEADER..], &[(2, 2), (61, 6), (1, 2), (1, 2)]);
    refused(&nested, "copies as literals");
    let all = stored(&[5; 64]);
    refused(&copies([1, 0], [0, 64], fields, &all, &[]), "no sequence, but all words as literals");
    // A block of two words, valid as such, as the literals.
    let inner = copies_of(16, [1, 0], [1, 1], [1, 0, 0, 0, 0, 1, 0], &stored(&[5]), &[(1, 1), (0, 2)]);
    assert_eq!(decode(&mut Decoder64::new(), &inner, 16), Ok(words_of(&[5, 5])));
    refused(&copies([1, 0], [1, 2], fields, &inner[2..], &good), "copies as the literals of copies");
    let with = |flags: u8, rest: &[u8]| [&header(flags, 512), rest, &wire[HEADER..]].concat();
    refused(&with(0, &[]), "copies where the header has none");
    // Records of one field of 8 bytes.
    assert_eq!(read(&with(RECORDS | COPIES, &[7, 3])), read(&wire));
    refused(&with(RECORDS, &[7, 3]), "copies where the header has records only");
}

/// Points of three words, each several times, in messages of which a point begins anywhere.
fn points(count: usize, skip: usize) -> Vec<u8> {
    let fresh = random_bytes(23, 24 * count);
    let numbers = random_bytes(29, 4 * count);
    let point = |i: usize| {
        let number = u32::from_le_bytes(*numbers[4 * i..].first_chunk().unwrap()) as usize;
        let at = number % (20 + i / 16) * 24;
        fresh[at..at + 24].to_vec()
    };
    (0..count).flat_map(point).skip(skip).collect()
}

#[test]
fn repeated_points_are_copied_as_units() {
    for skip in [0, 8, 16] {
        let raw = points(3000, skip);
        let wires = tiers().into_iter().map(|simd| {
            let wire = encode(&mut Encoder::<u64>::new(Effort::Ratio).with_simd(simd), &raw);
            assert!(decode(&mut Decoder64::new().with_simd(simd), &wire, raw.len()).as_ref() == Ok(&raw));
            wire
        });
        let mut wires = wires.collect::<Vec<_>>().into_iter();
        let first = wires.next().unwrap();
        assert!(wires.all(|wire| wire == first));
        // With 3 bytes for each copy it were more than a sixth.
        assert!(first[0] & COPIES != 0 && first.len() * 6 < raw.len(), "{} of {}", first.len(), raw.len());
    }
}

#[test]
fn words_that_nearly_repeat_are_copied() {
    let noise = random_bytes(31, 8 * 4000);
    let word = |i: usize| u64::from_le_bytes(*noise[8 * i..].first_chunk().unwrap());
    // Of 32 words 10 differ in the last bits from earlier ones, 4 are new; the others are one value.
    let raw: Vec<u64> = (0..4000)
        .map(|i| match i % 32 {
            0..4 => word(i),
            4..14 if i > 320 => word((i / 32 - 1 - i % 7) * 32 + i % 4) ^ (word(i) & 7),
            _ => 1,
        })
        .collect();
    let raw = words_of(&raw);
    let wire = encode(&mut Encoder::<u64>::new(Effort::Ratio), &raw);
    assert!(decode(&mut Decoder64::new(), &wire, raw.len()).as_ref() == Ok(&raw));
    // With literals in place of near copies it were more than two fifths.
    assert!(wire.len() * 10 < raw.len() * 3, "{} of {}", wire.len(), raw.len());
}

/// One encoder codes structures, whose columns have words of other widths, and words, after each other.
fn mixed<W: Word>() {
    let mut encoder = Encoder::<W>::remembering(Effort::Ratio);
    let structures: Vec<u8> = points(500, 0)
        .chunks(24)
        .zip(0_u32..)
        .flat_map(|(point, i)| {
            [&point[..16], &(i / 3).to_le_bytes(), &point[..4], &[1, 2, 0, i as u8]].concat()
        })
        .collect();
    for raw in [&structures[..], &points(500, 0), &structures, &points(700, 8), &structures[..9000]] {
        let wire = encode(&mut encoder, raw);
        assert!(decode(&mut Decoder::<W>::new(), &wire, raw.len()).as_deref() == Ok(raw));
    }
}

#[test]
fn structures_and_words_with_one_encoder() {
    mixed::<u64>();
    mixed::<u32>();
    mixed::<u16>();
}
