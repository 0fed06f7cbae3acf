//! The edges of both wire formats: header, bound, unused bits, memory, and a handwritten wire for every kind of error.

use crate::header;
use mpress_codec::DecodeErrorKind::{Corrupt, Length, Truncated, Unsupported};
use mpress_codec::conformance::{decode, encode, random_bytes, tiers};
use mpress_codec::{Codec, DecodeErrorKind, Encode, MemoryError};
use mpress_fpc::stream::{self, FpcStream, TableLevel};
use mpress_fpc::{Decoder, Decoder64, Encoder, Encoder32, Encoder64, Fpc, Fpc32, Fpc64, Word};

/// The result of every tier for a wire of doubles.
fn message(wire: &[u8], len: usize) -> Result<Vec<u8>, DecodeErrorKind> {
    let results = tiers().into_iter().map(|simd| decode(&mut Decoder64::new().with_simd(simd), wire, len));
    let results: Vec<_> = results.collect();
    assert!(results.iter().all(|result| *result == results[0]));
    results[0].clone()
}

fn tables(level: u8) -> TableLevel {
    TableLevel::new(level).unwrap()
}

/// The result of a decoder of streams up to level 3.
fn stream(wire: &[u8], len: usize) -> Result<Vec<u8>, DecodeErrorKind> {
    decode(&mut stream::Decoder::new([9; 16], tables(3)).unwrap(), wire, len)
}

#[test]
fn facts() {
    assert_eq!((Fpc64::ID.0, Fpc64::NAME, Fpc64::WIDTH), (6, "fpc", 8));
    assert_eq!((Fpc32::ID.0, Fpc32::NAME, Fpc32::WIDTH), (7, "fpc32", 4));
    assert_eq!((FpcStream::ID.0, FpcStream::NAME, FpcStream::WIDTH), (8, "fpc-stream", 8));
    assert_eq!([TableLevel::MIN, TableLevel::CACHED, TableLevel::MAX].map(TableLevel::get), [1, 10, 25]);
    assert_eq!((TableLevel::new(0), TableLevel::new(26), TableLevel::CACHED.words()), (None, None, 2048));
}

#[test]
fn an_empty_message_is_a_head_and_a_tail_travels_as_it_is() {
    assert_eq!(encode(&mut Encoder64::new(), b""), [2, 0]);
    assert_eq!(
        encode(&mut Encoder64::new(), b"three doubles and 7 b, all tail"),
        *b"\x02\x1fthree doubles and 7 b, all tail"
    );
    // Header, head: the class of 0 bytes, the plane of predictors, the tail.
    let floats = [&[0; 16][..], &[7, 8, 9, 10, 11]].concat();
    assert_eq!(encode(&mut Encoder32::new(), &floats), [2, 21, 1, 0, 0, 7, 8, 9, 10, 11]);
    let mut encoder = stream::Encoder::new([0; 4], tables(1)).unwrap();
    assert_eq!(encode(&mut encoder, b""), [1]);
    assert_eq!(encode(&mut encoder, b"seven b"), *b"\x01\0\0\0seven b");
}

#[test]
fn random_messages_reach_the_bound() {
    fn run<W: Word>() {
        for values in [0, 1, 3, 4, 959, 960, 963, 964, 1920, 3000] {
            let raw = random_bytes(3, values * size_of::<W>() + 1);
            let bound = Fpc::<W>::encoder().max_encoded_len(raw.len());
            let blocks = (values / 4).div_ceil(240);
            assert_eq!(bound, Some(raw.len() + 2 * blocks + header(raw.len()).len()));
            let wire = encode(&mut Encoder::<W>::new(), &raw);
            assert_eq!(Some(wire.len()), bound, "{values} values");
            assert_eq!(decode(&mut Decoder::<W>::new(), &wire, raw.len()), Ok(raw));
        }
    }
    run::<u64>();
    run::<u32>();
    for len in [usize::MAX, usize::MAX - 1, usize::MAX - usize::MAX / 10_000] {
        assert_eq!(Fpc64::encoder().max_encoded_len(len), None, "{len} bytes: no bound that fits");
        assert_eq!(FpcStream::encoder().max_encoded_len(len), None, "{len} bytes: no bound that fits");
    }
}

#[test]
fn worst_streams_reach_the_bound() {
    let mut encoder = stream::Encoder::new([0; 4], tables(1)).unwrap();
    for values in [1_usize, 2, 7, 32_767, 32_768, 32_769] {
        let raw = random_bytes(5, values * 8 + 3);
        let wire = encode(&mut encoder, &raw);
        let bound = raw.len() + values.div_ceil(2) + 6 * values.div_ceil(32_768) + 3 + 1;
        assert_eq!(encoder.max_encoded_len(raw.len()), Some(bound));
        // One residual in 128 has a leading zero byte.
        assert!(wire.len() <= bound && wire.len() + values / 64 + 1 >= bound, "{values} values");
        let mut decoder = stream::Decoder::new([0; 4], tables(1)).unwrap();
        assert_eq!(decode(&mut decoder, &wire, raw.len()), Ok(raw));
    }
    assert_eq!(encode(&mut encoder, &[0xff; 8]).len(), 8 + 1 + 6 + 1, "reached exactly");
}

#[test]
fn a_stored_block_is_not_learned() {
    // Noise, then a value that occurred in it: the predictors must be in the start state again.
    let mut raw = random_bytes(9, 960 * 8);
    raw.extend([0; 960 * 8]);
    let wire = encode(&mut Encoder64::new(), &raw);
    assert_eq!(wire[..5], [2, 0x80, 0x78, 0, 0], "stored");
    assert_eq!(wire[5 + 960 * 8..][..2], [1, 0], "all residuals are 0 from the first one on");
    assert_eq!(wire.len(), 5 + 960 * 8 + 2 + 120);
    assert_eq!(message(&wire, raw.len()), Ok(raw));
}

#[test]
fn a_header_that_is_not_understood_is_unsupported() {
    let raw = [7; 72];
    let wire = encode(&mut Encoder64::new(), &raw);
    let with = |at: usize, byte: u8| {
        let mut wire = wire.clone();
        wire[at] = byte;
        message(&wire, 72)
    };
    assert!((0..=255).filter(|version| *version != 2).all(|version| with(0, version) == Err(Unsupported)));
    assert!((0..128).filter(|len| *len != 72).all(|len| with(1, len) == Err(Length)));
    // 72 in two bytes, 2^64 + 72, and eleven bytes.
    let long = |len: &[u8]| message(&[&[2], len, &wire[2..]].concat(), 72);
    assert_eq!(long(&[72]), Ok(raw.to_vec()));
    assert_eq!(long(&[0xc8, 0]), Err(Corrupt), "not the shortest form");
    assert_eq!(long(&[&[0xc8], &[0x80; 8][..], &[2]].concat()), Err(Corrupt), "65 bits");
    assert_eq!(long(&[&[0xff; 10][..], &[1]].concat()), Err(Corrupt), "71 bits");
    assert_eq!(long(&[&[0xff; 9][..], &[1]].concat()), Err(Length), "the greatest length");
    assert_eq!(stream(&[0], 0), Err(Unsupported));
    assert_eq!(stream(&[4], 0), Err(Unsupported), "more than the memory holds");
    assert_eq!(stream(&[26], 0), Err(Unsupported));
}

#[test]
fn blocks_that_no_encoder_writes_are_corrupt() {
    // Four zeros: one class of 0 bytes, and the plane of predictors.
    assert_eq!(message(&[2, 32, 1, 0, 0], 32), Ok(vec![0; 32]));
    assert_eq!(message(&[2, 32, 1, 0, 16], 32), Err(Corrupt), "a predictor of a fifth value");
    assert_eq!(message(&[2, 32, 1, 2, 0], 32), Err(Corrupt), "a class of nine bytes");
    assert_eq!(message(&[2, 32, 1, 0x80, 0], 32), Err(Corrupt), "a class of 15 bytes");
    assert_eq!(message(&[2, 32, 0xff, 1, 0, 0, 0, 0], 32), Err(Corrupt), "nine classes");
    // Three classes, of 0 to 2 bytes, in two planes: there is no fourth one.
    assert_eq!(message(&[2, 32, 7, 0, 0, 0, 1, 5, 6], 32).unwrap()[..3], [5, 6, 0]);
    assert_eq!(message(&[2, 32, 7, 0, 0, 1, 1, 5, 6], 32), Err(Corrupt), "a fourth class");
    assert_eq!(message(&[2, 32, 7, 0, 0, 16, 0], 32), Err(Corrupt), "the class of a fifth value");
    let mut floats = Decoder::<u32>::new();
    let wire = |len, length| [&[2, len, length, 0, 0][..], &[1, 2, 3, 4].repeat(4)].concat();
    assert_eq!(decode(&mut floats, &wire(0, 0x10), 16), Err(Length));
    assert_eq!(decode(&mut floats, &wire(16, 0x10), 16), Ok([1, 2, 3, 4].repeat(4)));
    assert_eq!(decode(&mut floats, &wire(16, 0x20), 16), Err(Corrupt), "five bytes");
}

#[test]
fn every_prefix_is_truncated_and_every_suffix_too_long() {
    let wire = [2, 32, 7, 0, 0, 0, 1, 5, 6];
    assert!((0..wire.len()).all(|len| message(&wire[..len], 32) == Err(Truncated)));
    assert_eq!(message(&[&wire[..], &[0]].concat(), 32), Err(Length));
    let wire = [3, 2, 0, 0, 10, 0, 0, 0x11, 1, 2, 3];
    assert_eq!(stream(&wire[..], 16), Err(Corrupt));
    let wire = [3, 2, 0, 0, 9, 0, 0, 0x11, 1, 2];
    assert_eq!(stream(&wire[..], 16).unwrap()[..9], [1, 0, 0, 0, 0, 0, 0, 0, 3]);
    assert!((0..wire.len()).all(|len| stream(&wire[..len], 16) == Err(Truncated)));
    assert_eq!(stream(&[&wire[..], &[0]].concat(), 16), Err(Length));
    assert_eq!(stream(&wire, 8), Err(Length), "two values, room for one");
}

#[test]
fn streams_that_no_encoder_writes_are_corrupt() {
    assert_eq!(stream(&[3, 0, 0, 0, 6, 0, 0, 0], 8), Err(Corrupt), "no values");
    let long = [&[3, 1, 0x80, 0, 6, 0, 0][..], &[0; 1 << 17]].concat();
    assert_eq!(stream(&long, 1 << 20), Err(Corrupt), "32769 values");
    assert_eq!(stream(&[3, 1, 0, 0, 9, 0, 0, 0x10, 5], 8), Err(Corrupt), "nine bytes, but it has eight");
    assert_eq!(stream(&[3, 1, 0, 0, 7, 0, 0, 0x10, 5], 8), Err(Corrupt), "seven bytes, but it has eight");
    // The unused half code of an odd number of values is ignored; so is a code that is not minimal.
    for low in 0..16 {
        assert_eq!(stream(&[3, 1, 0, 0, 8, 0, 0, 0x10 + low, 5], 8), Ok(vec![5, 0, 0, 0, 0, 0, 0, 0]));
    }
    assert_eq!(stream(&[3, 1, 0, 0, 9, 0, 0, 0x20, 5, 0], 8), Ok(vec![5, 0, 0, 0, 0, 0, 0, 0]));
    // Blocks may be short and have odd numbers of values.
    let two = [3, 1, 0, 0, 8, 0, 0, 0x10, 5, 1, 0, 0, 7, 0, 0, 0x80];
    assert_eq!(stream(&two, 16), Ok(vec![5, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0]));
}

#[test]
fn a_tail_is_no_block() {
    // A value, and a tail that looks like a block of another value.
    let raw = [&[5, 0, 0, 0, 0, 0, 0, 0][..], &[1, 0, 0, 7, 0, 0, 0]].concat();
    let mut encoder = stream::Encoder::new([0; 16], tables(3)).unwrap();
    let wire = encode(&mut encoder, &raw);
    assert_eq!(wire, [3, 1, 0, 0, 8, 0, 0, 0x10, 5, 0, 0, 0, 1, 0, 0, 7, 0, 0, 0]);
    assert_eq!(stream(&wire, 15), Ok(raw));
    assert!((0..wire.len()).all(|len| stream(&wire[..len], 15) == Err(Truncated)));
    for len in (0..40).filter(|len| *len != 15) {
        assert!(stream(&wire, len).is_err(), "{len} bytes");
    }
    // Without the zeros, as it once was: the same bytes are two blocks.
    let two = [&wire[..9], &wire[12..]].concat();
    assert!(stream(&two, 16).is_ok());
    assert_eq!(stream(&two, 15), Err(Truncated));
    // A block where there is room only for a tail.
    assert_eq!(stream(&[&two[..], &[0; 3]].concat(), 15), Err(Length));
    // No tail after the zeros.
    assert_eq!(stream(&wire[..12], 8), Err(Length));
    assert_eq!(stream(&[3, 0, 0, 0], 0), Err(Length));
}

#[test]
fn lengths_are_looked_at_before_tables_are_cleared() {
    let raw = [7; 8000];
    let wire = encode(&mut stream::Encoder::new(vec![0; 1 << 13], tables(12)).unwrap(), &raw);
    let mut memory = vec![5; 1 << 13];
    let mut decoder = stream::Decoder::new(&mut memory[..], tables(12)).unwrap();
    for len in [1, 2, 7, 400] {
        assert_eq!(decode(&mut decoder, &wire[..len], raw.len()), Err(Truncated), "{len} bytes");
    }
    assert!(memory.iter().all(|word| *word == 5), "the tables were cleared");
}

#[test]
fn memory_is_checked_when_it_is_handed_in() {
    let error = |needed, available| Some(MemoryError::new(needed, available));
    assert_eq!(stream::Encoder::new([0; 15], tables(3)).err(), error(16, 15));
    assert_eq!(stream::Decoder::new([], tables(1)).err(), error(4, 0));
    assert!(stream::Encoder::new(&mut [0; 16][..], tables(3)).is_ok());
}
