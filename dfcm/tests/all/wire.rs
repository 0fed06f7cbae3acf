//! The edges of the wire format: header, bound, unused bits, memory.

use crate::support_model as model;

use mpress_codec::DecodeErrorKind::{Corrupt, Length, Truncated, Unsupported};
use mpress_codec::conformance::{self, decode, encode, families};
use mpress_codec::simd::Simd;
use mpress_codec::{Codec, Encode, MemoryError, Reset};
use mpress_dfcm::{Decoder, Decoder32, Decoder64, Dfcm, Encoder, Encoder32, Encoder64, Lines, Word};

fn memory() -> Vec<u64> {
    vec![5; Lines::MAX.words::<u64>()]
}

fn lines(log2: u8) -> Lines {
    Lines::new(log2).unwrap()
}

#[test]
fn facts() {
    assert_eq!((Dfcm::<u64>::ID.0, Dfcm::<u64>::NAME, Dfcm::<u64>::WIDTH), (1, "dfcm", 8));
    assert_eq!((Dfcm::<u32>::ID.0, Dfcm::<u32>::NAME, Dfcm::<u32>::WIDTH), (2, "dfcm32", 4));
}

#[test]
fn an_empty_message_is_a_header() {
    assert_eq!(encode(&mut Encoder64::new(memory()).unwrap(), b""), [1, 6]);
    assert_eq!(encode(&mut Encoder32::new(memory()).unwrap(), b""), [1, 6]);
    let mut continuing = Encoder64::continuing(memory(), Lines::MAX).unwrap();
    assert_eq!(encode(&mut continuing, b""), [1, 15 + 16, 0, 0, 0, 0]);
    assert_eq!(encode(&mut continuing, b"")[..3], [1, 15 + 16, 1]);
}

#[test]
fn a_tail_travels_as_it_is() {
    let wire = encode(&mut Encoder64::new(memory()).unwrap(), b"seven b");
    assert_eq!(wire, *b"\x01\xe6seven b");
    let wire = encode(&mut Encoder32::new(memory()).unwrap(), &[0, 0, 0, 0, 7, 8, 9]);
    // A header, a count of 15 zero units, an unused half byte, two remaining zero bits, the tail.
    assert_eq!(wire, [1, 0xe6, 0x0f, 0, 7, 8, 9]);
}

/// Elements that differ from their prediction in the first bit: no zeros to count, no gain.
fn worst<W: Word>(elements: usize, log2: u8) -> Vec<u8> {
    let mut model = model::Model::new(8 * size_of::<W>(), log2.into());
    let mut raw = Vec::new();
    for _ in 0..elements {
        let element = model.predict() ^ 1 << (8 * size_of::<W>() - 1);
        raw.extend(&element.to_le_bytes()[..size_of::<W>()]);
        model.learn(element);
    }
    raw.push(0xff);
    raw
}

fn bound_is_exact<W: Word>() {
    for elements in [0, 1, 2, 15, 16, 17, 255, 256, 257, 511, 512, 513, 2000] {
        let raw = worst::<W>(elements, 9);
        let mut alone = Encoder::<W, _>::with_lines(memory(), lines(9)).unwrap();
        let mut continuing = Encoder::<W, _>::continuing(memory(), lines(9)).unwrap();
        let bound = Dfcm::<W>::encoder().max_encoded_len(raw.len());
        assert_eq!(bound, Some(raw.len() + elements.div_ceil(2) + 6));
        assert_eq!(Some(encode(&mut continuing, &raw).len()), bound, "{elements} elements");
        let wire = encode(&mut alone, &raw);
        assert_eq!(Some(wire.len() + 4), bound, "{elements} elements");
        assert_eq!(
            wire,
            model::Model::new(8 * size_of::<W>(), 9).message(&raw, false),
            "{elements} elements"
        );
        assert_eq!(decode(&mut Decoder::<W, _>::new(memory()).unwrap(), &wire, raw.len()), Ok(raw));
    }
}

#[test]
fn the_bound_is_reached_and_never_passed() {
    bound_is_exact::<u64>();
    bound_is_exact::<u32>();
    for len in [usize::MAX, usize::MAX - 6, usize::MAX / 17 * 16 + 20] {
        assert_eq!(Dfcm::<u64>::encoder().max_encoded_len(len), None, "{len} bytes: no bound that fits");
    }
    assert!(Dfcm::<u64>::encoder().max_encoded_len(usize::MAX / 17 * 16 - 20).is_some());
    assert_eq!(Encoder32::new(memory()).unwrap().max_encoded_len(9), Some(9 + 1 + 6));
}

#[test]
fn memory_is_checked_when_it_is_handed_in() {
    let error = |needed, available| Some(MemoryError::new(needed, available));
    assert_eq!(Encoder64::new([0; 2047]).err(), Some(MemoryError::new(2048, 2047)));
    assert!(Encoder64::new([0; 2048]).is_ok());
    assert!(Encoder32::new(&mut [0; 1024][..]).is_ok());
    assert_eq!(Encoder32::new([]).err(), error(1024, 0));
    assert_eq!(Encoder64::with_lines([0; 1], lines(0)).err(), error(2, 1));
    assert_eq!(Encoder64::continuing([0; 63], lines(5)).err(), error(64, 63));
    assert_eq!(Decoder64::new(vec![0; 65_535]).err(), error(65_536, 65_535));
    assert_eq!(Decoder32::with_lines([0; 255], lines(8)).err(), error(256, 255));
}

#[test]
fn other_versions_and_larger_tables_are_unsupported() {
    let raw = [7; 80];
    let wire = encode(&mut Encoder64::with_lines(memory(), lines(8)).unwrap(), &raw);
    let mut small = Decoder64::with_lines([0; 256], lines(7)).unwrap();
    assert_eq!(decode(&mut small, &wire, 80), Err(Unsupported));
    for version in (0..=255).filter(|version| *version != 1) {
        let mut other = wire.clone();
        other[0] = version;
        for len in 1..other.len() {
            let mut decoder = Decoder64::new(memory()).unwrap();
            assert_eq!(decode(&mut decoder, &other[..len], 80), Err(Unsupported), "version {version}");
        }
    }
}

#[test]
fn another_raw_length_is_refused() {
    let raw: Vec<u8> = (0..1600).map(|i| (i / 8) as u8).collect();
    let wire = encode(&mut Encoder64::new(memory()).unwrap(), &raw);
    for len in (raw.len() - 40..raw.len() + 40).filter(|len| *len != raw.len()) {
        let error = decode(&mut Decoder64::new(memory()).unwrap(), &wire, len);
        let expected = [Length, Truncated, Corrupt].map(Err);
        assert!(expected[..if len % 8 == 0 { 3 } else { 1 }].contains(&error), "{len} bytes: {error:?}");
    }
}

/// No matter which table a wire requires, lengths are checked first.
fn nothing_is_cleared_for_a_wire_that_is_too_short<W: Word>() {
    let raw: Vec<u8> = (0..8000).map(|i| (i / 8) as u8).collect();
    let mut memory = memory();
    let mut decoder = Decoder::<W, _>::new(&mut memory[..]).unwrap();
    let mut alone = Encoder::<W, _>::with_lines(self::memory(), Lines::MAX).unwrap();
    let mut continuing = Encoder::<W, _>::continuing(self::memory(), Lines::MAX).unwrap();
    for (wire, header) in [(encode(&mut alone, &raw), 2), (encode(&mut continuing, &raw), 6)] {
        for len in [header, header + 1, raw.len() / size_of::<W>() / 2] {
            decoder.reset();
            assert_eq!(decode(&mut decoder, &wire[..len], raw.len()), Err(Truncated), "{len} bytes");
        }
    }
    assert!(memory.iter().all(|word| *word == 5), "the table was cleared");
}

#[test]
fn lengths_are_looked_at_before_a_table_is_cleared() {
    nothing_is_cleared_for_a_wire_that_is_too_short::<u64>();
    nothing_is_cleared_for_a_wire_that_is_too_short::<u32>();
}

#[test]
fn unused_bits_must_be_zero() {
    let mut wire = encode(&mut Encoder64::new(memory()).unwrap(), &[0; 24]);
    // Three counts of 15 and half a byte; three half bytes of residual and another.
    assert_eq!(wire, [1, 6, 0xff, 0x0f, 0, 0]);
    let mut refused = |at: usize, bit: u8| {
        wire[at] ^= bit;
        assert_eq!(decode(&mut Decoder64::new(memory()).unwrap(), &wire, 24), Err(Corrupt), "byte {at}");
        wire[at] ^= bit;
    };
    (4..8).for_each(|bit| refused(3, 1 << bit));
    (4..8).for_each(|bit| refused(5, 1 << bit));
}

#[test]
fn every_tier_writes_the_same_and_reads_the_others() {
    fn run<W: Word>() {
        for (name, generate) in families() {
            for len in [64, 5000, 70_001] {
                let raw = generate(len);
                let wire = |simd| encode(&mut Encoder::<W, _>::new(memory()).unwrap().with_simd(simd), &raw);
                let expected = wire(Simd::SCALAR);
                for simd in conformance::tiers() {
                    assert!(wire(simd) == expected, "{name}, {len} bytes, {simd:?}");
                    let mut decoder = Decoder::<W, _>::new(memory()).unwrap().with_simd(simd);
                    assert!(decode(&mut decoder, &expected, len).as_ref() == Ok(&raw), "{name}, {simd:?}");
                }
            }
        }
    }
    run::<u64>();
    run::<u32>();
}
