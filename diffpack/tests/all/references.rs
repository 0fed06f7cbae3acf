//! Messages with a reference: handwritten wires, refused wires, random messages and references at every tier, and channels of the corpus.

use crate::properties::{effort, message};
use crate::{RECORDS, header};
use mpress_codec::conformance::{self, families, random_bytes, tiers};
use mpress_codec::simd::Simd;
use mpress_corpus::shared::corpus;
use mpress_diffpack::DecodeErrorKind::{self, Corrupt, Length, Truncated, Unsupported};
use mpress_diffpack::{
    Decode, DecodeError, Decoder, Diffpack, Effort, Encode, EncodeError, Encoder, Out, Reset, Word,
};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::LazyLock;

/// In a header: a decoder needs the reference.
const REFERENCE: u8 = 2;

/// An encoder or a decoder with a reference.
struct With<'a, T>(&'a mut T, &'a [u8]);

impl<T> Reset for With<'_, T> {}

impl<W: Word> Encode for With<'_, Encoder<W>> {
    fn max_encoded_len(&self, raw_len: usize) -> Option<usize> {
        self.0.max_encoded_len(raw_len)
    }
    fn encode(&mut self, raw: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError> {
        self.0.encode_with(self.1, raw, out)
    }
}

impl<W: Word> Decode for With<'_, Decoder<W>> {
    fn decode(&mut self, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
        self.0.decode_with(self.1, wire, out)
    }
}

fn encode<W: Word>(encoder: &mut Encoder<W>, reference: &[u8], raw: &[u8]) -> Vec<u8> {
    conformance::encode(&mut With(encoder, reference), raw)
}

fn decode<W: Word>(
    simd: Simd,
    reference: &[u8],
    wire: &[u8],
    len: usize,
) -> Result<Vec<u8>, DecodeErrorKind> {
    conformance::decode(&mut With(&mut Decoder::<W>::new().with_simd(simd), reference), wire, len)
}

/// The result of every tier for a wire of a message of the reference's length.
fn said<W: Word>(reference: &[u8], wire: &[u8]) -> Result<Vec<u8>, DecodeErrorKind> {
    let mut all = tiers().into_iter().map(|simd| decode::<W>(simd, reference, wire, reference.len()));
    let first = all.next().unwrap();
    assert!(all.all(|other| other == first), "tiers differ");
    first
}

fn words(words: [u64; 8]) -> Vec<u8> {
    words.into_iter().flat_map(u64::to_le_bytes).collect()
}

/// A wire of 8 words in one block with a definition.
fn block(flags: u8, head: u16, rest: &[u8]) -> Vec<u8> {
    [&header(flags, 64)[..], &(15 << 12 | head).to_le_bytes(), rest].concat()
}

#[test]
fn a_block_by_hand() {
    let reference = words([10, 20, 30, 40, 50, 60, 70, 80]);
    let wire = |head, rest: &[u8]| block(REFERENCE, head, rest);
    // Width 4, residuals 0 to 7: the differences from the reference are 0 -1 1 -2 2 -3 3 -4.
    let residuals = [0x10, 0x32, 0x54, 0x76];
    let plain = wire(4, &[&[5][..], &residuals].concat());
    assert_eq!(said::<u64>(&reference, &plain), Ok(words([10, 19, 31, 38, 52, 57, 73, 76])));
    // The same as differences by a lag of 1, which add up to 0 -1 0 -2 0 -3 0 -4, and by a lag of 3: 0 -1 1 -2 1 -2 1 -3.
    let lagged = wire(4, &[&[5 | 8, 1][..], &residuals].concat());
    assert_eq!(said::<u64>(&reference, &lagged), Ok(words([10, 19, 30, 38, 50, 57, 70, 76])));
    let lagged = wire(4, &[&[5 | 8, 3][..], &residuals].concat());
    assert_eq!(said::<u64>(&reference, &lagged), Ok(words([10, 19, 31, 38, 51, 58, 71, 77])));
    // No residuals, and a split: words 1 and 4 in the wide stream of width 8, the others zeros.
    assert_eq!(said::<u64>(&reference, &wire(0, &[5])).as_ref(), Ok(&reference));
    let split = wire(8 | 1 << 10, &[5, 0b0001_0010, 0, 0, 20, 40]);
    assert_eq!(said::<u64>(&reference, &split), Ok(words([10, 30, 30, 40, 70, 60, 70, 80])));
    // Records of a 32-bit and two 16-bit fields: columns of 8 words, each equal to the reference's, but 1 less in the second column.
    let fields = [7, 0b01_01_10];
    let column = |width: u8, rest: &[u8]| [&[width, 15 << 4, 5][..], rest].concat();
    let ones = column(1, &[0xff]);
    let records = [&header(REFERENCE | RECORDS, 64)[..], &fields, &column(0, &[]), &ones, &column(0, &[])];
    let less = words([10, 20, 30, 40, 50, 60, 70, 80].map(|word| word | 0xffff << 32));
    assert_eq!(said::<u16>(&reference, &records.concat()), Ok(less));
}

#[test]
fn what_does_not_fit_is_refused() {
    let reference = words([3; 8]);
    for (flags, head, rest, kind) in [
        (0, 0, &[5][..], Corrupt),                 // without the bit
        (REFERENCE, 1 << 11, &[5, 0, 0], Corrupt), // strip counts
        (REFERENCE, 0, &[6], Corrupt),             // a domain that does not exist
        (REFERENCE, 0, &[5 | 8, 0], Corrupt),      // a lag of 0
        (REFERENCE, 65, &[5], Corrupt),            // a width of 65
        (REFERENCE, 0, &[5, 0], Length),           // an extra byte
        (REFERENCE, 1, &[5], Truncated),           // a missing group
        (REFERENCE | 4, 0, &[5], Unsupported),     // an unknown bit
    ] {
        assert_eq!(said::<u64>(&reference, &block(flags, head, rest)), Err(kind), "{flags}, {rest:?}");
    }
    let wire = block(REFERENCE, 0, &[5]);
    let without = conformance::decode(&mut Decoder::<u64>::new(), &wire, 64);
    assert_eq!(without, Err(Unsupported));
    for len in [0, 63, 65, 1000] {
        assert_eq!(
            decode::<u64>(Simd::SCALAR, &vec![0; len], &wire, 64),
            Err(DecodeErrorKind::Reference),
            "{len} bytes"
        );
        let (raw, mut room) = ([1; 64], [0; 1000]);
        let mut out = Out::from_slice(&mut room);
        let error = Encoder::<u64>::new(Effort::Fast).encode_with(&vec![0; len], &raw, &mut out);
        assert_eq!((error, out.len()), (Err(EncodeError::reference(len, 64)), 0));
        let text = format!("the reference has {len} bytes, the message 64");
        assert_eq!(error.unwrap_err().to_string(), text);
    }
    assert_eq!(decode::<u64>(Simd::SCALAR, &reference, &wire, 0), Err(DecodeErrorKind::Reference));
    assert_eq!(said::<u64>(&[], &header(REFERENCE, 0)), Ok(vec![]));
}

#[test]
fn the_bit_is_set_where_the_reference_helps() {
    let noise = random_bytes(60, 20_000);
    for &effort in Effort::ALL {
        let mut encoder = Encoder::<u64>::new(effort);
        let same = encode(&mut encoder, &noise, &noise);
        assert!(same.len() < 40 && same[0] & REFERENCE != 0, "{effort:?}: {}", same.len());
        let other = encode(&mut encoder, &random_bytes(61, 20_000), &noise);
        assert!(other == conformance::encode(&mut encoder, &noise), "{effort:?}");
    }
}

#[test]
fn the_encoder_knows_what_it_has_saved() {
    let (noise, other) = (random_bytes(62, 20_000), random_bytes(63, 20_000));
    let near = |raw: &[u8]| -> Vec<u8> {
        raw.iter().enumerate().map(|(i, byte)| byte ^ u8::from(i % 24 == 0)).collect()
    };
    let field = smooth(20_000).to_vec();
    // Records of three words of which one changes; blocks of which the first is not like the others.
    let records = [&noise[..8], &[0; 8], &noise[8..16]].concat().repeat(500);
    let mixed = [&field[..2048], &random_bytes(64, 98_000)].concat();
    let sparse = [&noise[..2048], &[0; 98_000]].concat();
    let repeats = noise[..2000].repeat(10);
    // A block may stand for seven others.
    let all = [(noise, 0), (field, 0), (records, 0), (repeats.clone(), 0), (mixed, 7), (sparse, 7)];
    for (raw, blocks) in all {
        for reference in [raw.clone(), near(&raw), other.iter().cycle().take(raw.len()).copied().collect()] {
            for &effort in Effort::ALL {
                let mut encoder = Encoder::<u64>::new(effort);
                let plain = conformance::encode(&mut encoder, &raw).len();
                assert_eq!(encoder.saved(), Some(0));
                let gain = plain.saturating_sub(encode(&mut encoder, &reference, &raw).len());
                let saved = encoder.saved().unwrap();
                // `Ratio` may find repeats where the reference has left nothing to find.
                let most = if effort == Effort::Ratio && raw == repeats { raw.len() } else { gain };
                let doubt = raw.len() / 20 + blocks * 2048;
                let right = gain.saturating_sub(doubt)..=most + doubt;
                assert!(right.contains(&saved), "{effort:?}: {saved} for {gain} of {plain}");
            }
        }
    }
}

#[test]
fn the_bit_goes_with_the_block_that_needed_it() {
    // The reference makes the first block shorter, but words 50 positions earlier make it shorter still.
    let noise = random_bytes(71, 8 * 300);
    let word = |i: usize| u64::from_le_bytes(*noise[8 * i..].first_chunk().unwrap());
    let raw: Vec<u8> = (0..250).flat_map(|i| word(i % 50).to_le_bytes()).collect();
    let less = |i: usize| word(i % 50).wrapping_sub(word(50 + i) >> 44);
    let reference: Vec<u8> = (0..250).flat_map(|i| less(i).to_le_bytes()).collect();
    let wire = encode(&mut Encoder::<u64>::new(Effort::Ratio), &reference, &raw);
    assert_eq!(conformance::decode(&mut Decoder::<u64>::new(), &wire, 2000), Ok(raw));
}

/// Words of 8 bytes.
fn longs(count: usize, word: impl Fn(usize) -> u64) -> Vec<u8> {
    (0..count).flat_map(|i| word(i).to_le_bytes()).collect()
}

/// Words with zeros between them; the differences from the reference would have none.
#[test]
fn a_reference_does_no_harm_to_sparse_words() {
    let noise = random_bytes(70, 8 * 496);
    let word = |i: usize| i64::from_le_bytes(*noise[8 * i..].first_chunk().unwrap());
    let sparse = |i: usize| if i.is_multiple_of(8) { word(i) >> 24 } else { 0 };
    let other = |i: usize| if i.is_multiple_of(8) { sparse(i) } else { word(248 + i) >> 34 };
    let (raw, reference) = (longs(248, |i| sparse(i) as u64), longs(248, |i| other(i) as u64));
    for &effort in Effort::ALL {
        let mut encoder = Encoder::<u64>::new(effort);
        let with = encode(&mut encoder, &reference, &raw);
        let without = conformance::encode(&mut encoder, &raw).len();
        assert!(with.len() <= without + 8, "{effort:?}: {}, {without}", with.len());
        assert!(said::<u64>(&reference, &with).as_ref() == Ok(&raw), "{effort:?}");
    }
}

#[test]
fn a_reference_helps_although_some_words_differ_completely() {
    let noise = random_bytes(73, 8 * 2000);
    let word = |i: usize| u64::from_le_bytes(*noise[8 * i..].first_chunk().unwrap());
    let level = |i: usize| word(i) >> 14 | 0x3ff << 52;
    let other = |i: usize| if i.is_multiple_of(8) { word(1000 + i) } else { level(i) };
    let (raw, reference) = (longs(1000, level), longs(1000, other));
    for effort in [Effort::Balanced, Effort::Ratio] {
        let wire = encode(&mut Encoder::<u64>::new(effort), &reference, &raw);
        // A mask, and one word in eight.
        assert!(wire.len() < raw.len() / 6, "{effort:?}: {}", wire.len());
        assert!(said::<u64>(&reference, &wire).as_ref() == Ok(&raw), "{effort:?}");
    }
}

#[test]
fn zero_residuals_by_any_lags_are_the_reference() {
    for len in [64, 2048, 2056, 5003, 40_001] {
        let reference = random_bytes(72, len);
        for lags in [&[1_u16][..], &[256], &[2047], &[1, 2046], &[600, 700, 747]] {
            let start = [&header(REFERENCE, len)[..], &[0, 15 << 4, 5 | 32 | (lags.len() as u8) << 3]];
            let mut wire = start.concat();
            wire.extend(lags.iter().flat_map(|lag| lag.to_le_bytes()));
            wire.extend(vec![0; 2 * ((len / 8).div_ceil(256) - 1)]);
            wire.extend(&reference[len / 8 * 8..]);
            assert!(said::<u64>(&reference, &wire).as_ref() == Ok(&reference), "{len}, {lags:?}");
        }
    }
}

/// A message is encoded in pieces of a MiB.
#[test]
fn each_piece_has_its_part_of_the_reference() {
    const PIECE: usize = 1 << 20;
    let raw = random_bytes(74, PIECE + 50_003);
    for (same, most) in [(PIECE..raw.len(), PIECE + 4000), (0..PIECE, 53_000), (0..raw.len(), 4000)] {
        let mut reference = random_bytes(75, raw.len());
        reference[same.clone()].copy_from_slice(&raw[same.clone()]);
        for &effort in Effort::ALL {
            let mut wires = tiers().into_iter().map(|simd| {
                let wire = encode(&mut Encoder::<u64>::new(effort).with_simd(simd), &reference, &raw);
                assert!(decode::<u64>(simd, &reference, &wire, raw.len()).as_ref() == Ok(&raw));
                wire
            });
            let first = wires.next().unwrap();
            assert!(wires.all(|wire| wire == first), "tiers differ: {same:?}, {effort:?}");
            assert!(first.len() < most, "{same:?}, {effort:?}: {} bytes", first.len());
        }
    }
}

/// With a reference for each length: a smooth field.
struct ByLength<T>(T);

fn smooth(len: usize) -> &'static [u8] {
    static LONGEST: LazyLock<Vec<u8>> = LazyLock::new(|| families()[3].1(4 << 20));
    &LONGEST[..len]
}

impl<T: Reset> Reset for ByLength<T> {
    fn reset(&mut self) {
        self.0.reset();
    }
}

impl<W: Word> Encode for ByLength<Encoder<W>> {
    fn max_encoded_len(&self, raw_len: usize) -> Option<usize> {
        self.0.max_encoded_len(raw_len)
    }
    fn encode(&mut self, raw: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError> {
        With(&mut self.0, smooth(raw.len())).encode(raw, out)
    }
}

impl<W: Word> Decode for ByLength<Decoder<W>> {
    fn decode(&mut self, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
        With(&mut self.0, smooth(out.remaining())).decode(wire, out)
    }
}

fn suites<W: Word>(effort: Effort) {
    conformance::at_each_tier(|simd| {
        let decoder = || ByLength(Decoder::<W>::new().with_simd(simd));
        let fresh = || ByLength(Encoder::<W>::new(effort).with_simd(simd));
        conformance::run::<Diffpack<W>, _, _>(|| (fresh(), decoder()));
        let remembering = || ByLength(Encoder::<W>::remembering(effort).with_simd(simd));
        conformance::run_remembering::<Diffpack<W>, _, _>(|| (remembering(), decoder()));
    });
}

#[test]
fn conformance_of_words_of_64_fast() {
    suites::<u64>(Effort::Fast);
}

#[test]
fn conformance_of_words_of_64_balanced() {
    suites::<u64>(Effort::Balanced);
}

#[test]
fn conformance_of_words_of_64_ratio() {
    suites::<u64>(Effort::Ratio);
}

#[test]
fn conformance_of_words_of_32_balanced() {
    suites::<u32>(Effort::Balanced);
}

#[test]
fn conformance_of_words_of_16_ratio() {
    suites::<u16>(Effort::Ratio);
}

#[test]
fn the_wire_does_not_depend_on_the_room() {
    // Blocks equal to the reference's, near it, repeated from earlier, and of noise.
    let (noise, other) = (random_bytes(76, 8000), random_bytes(77, 8000));
    let raw = [&noise[..4000], &noise[1000..3000], &noise[4000..], &other[..1500]].concat();
    let mut reference = raw.clone();
    reference.iter_mut().skip(2048).step_by(8).for_each(|byte| *byte = byte.wrapping_add(3));
    reference[5000..].copy_from_slice(&other[..raw.len() - 5000]);
    for effort in Effort::ALL {
        let wire = |more: usize| {
            let mut encoder = Encoder::<u64>::new(*effort);
            let mut room = vec![0; encoder.max_encoded_len(raw.len()).unwrap() + more];
            let mut out = Out::from_slice(&mut room);
            encoder.encode_with(&reference, &raw, &mut out).unwrap();
            out.written().to_vec()
        };
        let of_bound = wire(0);
        assert!(of_bound[0] & REFERENCE != 0 && of_bound.len() < raw.len() * 9 / 10, "{effort:?}");
        assert!([1, 64, 1000, 5000].into_iter().all(|more| wire(more) == of_bound), "{effort:?}");
        assert!(said::<u64>(&reference, &of_bound).as_ref() == Ok(&raw), "{effort:?}");
    }
}

/// A message, and a reference for it: another message, the message itself, or words that differ by a little, by a smooth amount, or sometimes by
/// much.
fn pair() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    (message(), message(), 0..5_u8, any::<u64>()).prop_map(|(raw, other, kind, seed)| {
        let noise = random_bytes(seed, raw.len());
        let mut reference = raw.clone();
        for (i, (word, noise)) in reference.chunks_exact_mut(8).zip(noise.chunks_exact(8)).enumerate() {
            let [a, b] = [&*word, noise].map(|word| u64::from_le_bytes(word.try_into().unwrap()));
            let more = match kind {
                0 => 0,
                1 => b % 100,
                2 => i as u64 * (seed % 1000),
                _ if b % 20 == 0 => b,
                _ => 0,
            };
            word.copy_from_slice(&a.wrapping_sub(more).to_le_bytes());
        }
        if kind == 4 && !other.is_empty() {
            reference = other.into_iter().cycle().take(raw.len()).collect();
        }
        (raw, reference)
    })
}

fn come_back<W: Word>(pairs: &[(Vec<u8>, Vec<u8>)], effort: Effort) {
    let mut wires: Vec<Vec<u8>> = Vec::new();
    for (i, simd) in tiers().into_iter().enumerate() {
        let mut encoders = [Encoder::<W>::new(effort), Encoder::remembering(effort)];
        encoders = encoders.map(|encoder| encoder.with_simd(simd));
        for (j, (raw, reference)) in pairs.iter().enumerate() {
            let both = encoders.each_mut().map(|encoder| {
                let wire = encode(encoder, reference, raw);
                assert!(decode::<W>(simd, reference, &wire, raw.len()).as_ref() == Ok(raw));
                let without = conformance::decode(&mut Decoder::<W>::new(), &wire, raw.len());
                let refers = wire[0] & REFERENCE != 0;
                assert!(if refers { without == Err(Unsupported) } else { without.as_ref() == Ok(raw) });
                wire
            });
            let both = both.concat();
            if i == 0 {
                wires.push(both);
            } else {
                assert!(wires[j] == both, "other bytes at {simd:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn messages_come_back(pairs in vec(pair(), 1..4), effort in effort()) {
        come_back::<u64>(&pairs, effort);
        come_back::<u32>(&pairs, effort);
        come_back::<u16>(&pairs, effort);
    }

    #[test]
    fn hostile_wires_do_no_harm(
        flags in 0..4_u8,
        definition in 0..64_u8,
        body in vec(any::<u8>(), 0..4000),
        reference in vec(any::<u8>(), 0..9000),
    ) {
        let start = [&header(flags, reference.len())[..], &[body.first().copied().unwrap_or(0), 15 << 4, definition & 0x38 | 5]];
        let wire = [&start.concat()[..], &body].concat();
        let _ = said::<u64>(&reference, &wire);
        let _ = said::<u32>(&reference, &wire);
        let _ = said::<u16>(&reference, &wire);
    }

    #[test]
    fn a_changed_byte_or_reference_does_no_harm(
        (raw, reference) in pair(),
        other in any::<u64>(),
        at in any::<usize>(),
        to in any::<u8>(),
        effort in effort(),
    ) {
        let mut wire = encode(&mut Encoder::<u64>::new(effort), &reference, &raw);
        let _ = said::<u64>(&random_bytes(other, raw.len()), &wire);
        let at = at % wire.len();
        wire[at] = to;
        let _ = said::<u64>(&reference, &wire);
        let _ = said::<u32>(&reference, &wire);
        let _ = said::<u16>(&reference, &wire);
    }
}

#[test]
fn channels_of_the_corpus_gain() {
    let Some(files) = corpus() else { return };
    for (effort, floor) in [(Effort::Fast, 1.013), (Effort::Balanced, 1.013), (Effort::Ratio, 1.015)] {
        let mut logarithms = Vec::new();
        for file in &files {
            let gain =
                if file.name.ends_with("32") { gain::<u32>(file, effort) } else { gain::<u64>(file, effort) };
            assert!(gain > 0.995, "{}, {effort:?}: {gain}", file.name);
            logarithms.push(gain.ln());
        }
        let mean = (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp();
        assert!(mean > floor, "{effort:?}: {mean}");
    }
}

/// The ratio with references to the ratio without. The reference is the last message of the same length, sender, receiver and tag.
fn gain<W: Word>(file: &mpress_corpus::files::File, effort: Effort) -> f64 {
    let [mut with, mut without] = [(); 2].map(|()| Encoder::<W>::remembering(effort));
    let (mut lens, mut last) = ((0, 0), HashMap::new());
    for (raw, entry) in file.messages().zip(&file.index) {
        let plain = conformance::encode(&mut without, raw).len();
        let before = last.insert((raw.len(), entry.src, entry.dst, entry.tag, &entry.call), raw);
        let referring = before.map_or(plain, |reference| {
            let wire = encode(&mut with, reference, raw);
            let simd = tiers()[0];
            assert!(decode::<W>(simd, reference, &wire, raw.len()).as_deref() == Ok(raw), "{}", file.name);
            wire.len()
        });
        lens = (lens.0 + plain.min(raw.len()), lens.1 + referring.min(raw.len()));
    }
    lens.0 as f64 / lens.1 as f64
}
