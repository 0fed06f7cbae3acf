//! Self-describing messages and files of them: the layout, what is refused, and arbitrary bytes.
#![cfg(feature = "std")]
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use mpress_codec::DecodeErrorKind::{Corrupt, Length, TooLong, Truncated, Unsupported};
use mpress_codec::io::{CHUNK, Reader, Writer};
use mpress_codec::{
    Codec, CodecId, Compress as _, Decode, DecodeError, Encode, EncodeError, Out, Reset, codec_of,
    compress_with, decoded_len,
};
use proptest::prelude::*;
use std::io::{ErrorKind, Read as _, Write as _};

/// The message itself.
struct Copy;

impl Codec for Copy {
    const ID: CodecId = CodecId(0xc0);
    const NAME: &'static str = "copy";
    const WIDTH: usize = 1;
    const STATEFUL: bool = false;
    type Encoder = Self;
    type Decoder = Self;
    fn encoder() -> Self {
        Self
    }
    fn decoder() -> Self {
        Self
    }
}

impl Reset for Copy {}

impl Encode for Copy {
    /// Three times the length that it writes.
    fn max_encoded_len(&self, raw_len: usize) -> Option<usize> {
        raw_len.checked_mul(3)
    }
    fn encode(&mut self, raw: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError> {
        out.within(self.max_encoded_len(raw.len()), |out| out.extend_from_slice(raw))
    }
}

impl Decode for Copy {
    fn decode(&mut self, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
        if wire.len() != out.remaining() {
            return Err(DecodeError::new(Length, wire.len()));
        }
        out.extend_from_slice(wire).map_err(|_| DecodeError::new(Corrupt, 0))
    }
}

/// These bytes, followed by their check.
fn checked(bytes: &[u8]) -> Vec<u8> {
    [bytes, &crc32fast::hash(bytes).to_le_bytes()].concat()
}

#[test]
fn the_layout_is_the_documented_one() {
    let message = Copy::compress(b"abc").unwrap();
    assert_eq!(message, b"\x01\xc0\x03abc\xe3\xad\x5b\x4b");
    assert_eq!(message.capacity(), message.len());
    assert_eq!(Copy::decompress::<u8>(&message, 3).unwrap(), b"abc");
    assert_eq!((codec_of(&message), decoded_len(&message)), (Ok(Copy::ID), Ok(3)));
    let none = Copy::compress::<u8>(&[]).unwrap();
    assert_eq!(Copy::decompress::<u64>(&none, 0).unwrap(), []);
    let long = Copy::compress(&[7_u8; 300]).unwrap();
    assert_eq!(long[..4], [1, 0xc0, 0xac, 2]);
    assert_eq!(Copy::decompress::<u8>(&long, 300).unwrap(), [7; 300]);
}

#[test]
fn values_come_back_as_values() {
    let values = [[1.5_f32, -2.0], [f32::NAN, 0.0]];
    let message = Copy::compress(&values).unwrap();
    assert_eq!(decoded_len(&message), Ok(16));
    let bits = |values: &[[f32; 2]]| values.iter().flatten().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&Copy::decompress::<[f32; 2]>(&message, 16).unwrap()), bits(&values));
    let mut room = [[0.0; 2]; 2];
    Copy::decompress_into(&message, &mut room).unwrap();
    assert_eq!(bits(&room), bits(&values));

    let length = Err(DecodeError::new(Length, 3));
    assert_eq!(Copy::decompress_into(&message, &mut [0_u64; 3]), length);
    assert_eq!(Copy::decompress_into(&message, &mut [0_u8; 15]), length);
    assert_eq!(Copy::decompress::<[u8; 3]>(&message, 16).map(|_| ()), length);
    assert_eq!(Copy::decompress::<()>(&message, 16).map(|_| ()), length);
}

#[test]
fn what_no_encoder_writes_is_refused() {
    let mut endless = vec![0xff; 12];
    endless[..2].copy_from_slice(b"\x01\xc0");
    let refused = |message: &[u8], kind, at| {
        let error = Err(DecodeError::new(kind, at));
        assert_eq!(Copy::decompress::<u8>(message, 1000), error, "{message:x?}");
    };
    for (message, kind, at) in [
        (&b""[..], Truncated, 0),
        (b"\x02\xc0\x03abc", Unsupported, 0),
        (b"\x11\xc0\x03abc", Unsupported, 0),
        (b"\x01\0\0\0", Truncated, 4),
        (b"\x01\xc0\x03abc\xe3\xad\x5b\x4c", Corrupt, 6),
    ] {
        refused(message, kind, at);
    }
    for (message, kind, at) in [
        (&b"\x01"[..], Truncated, 1),
        (b"\x01\xc0", Truncated, 2),
        (b"\x01\xc0\x83", Truncated, 3),
        (b"\x01\xc1\x03abc", Unsupported, 1),
        (b"\x01\xc0\x83\0abc", Corrupt, 3),
        (b"\x01\xc0\xe9\x07", TooLong, 2),
        (b"\x01\xc0\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", TooLong, 2),
        (b"\x01\xc0\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", Corrupt, 11),
        (&endless, Corrupt, 11),
        (b"\x01\xc0\x03ab", Length, 5),
    ] {
        refused(&checked(message), kind, at);
    }
}

#[test]
fn no_memory_is_an_error() {
    struct Immense;
    impl Reset for Immense {}
    impl Encode for Immense {
        fn max_encoded_len(&self, raw_len: usize) -> Option<usize> {
            usize::MAX.checked_sub(raw_len)
        }
        fn encode(&mut self, _: &[u8], _: &mut Out<'_>) -> Result<(), EncodeError> {
            Ok(())
        }
    }
    for len in [0, 100] {
        let error = compress_with(Copy::ID, &mut Immense, &[0_u8; 100][..len]).unwrap_err();
        assert_eq!(error.available, 0);
    }
    let huge = checked(b"\x01\xc0\xff\xff\xff\xff\xff\xff\xff\xff\x7f");
    assert_eq!(Copy::decompress::<u8>(&huge, usize::MAX), Err(DecodeError::new(TooLong, 2)));
}

/// A file of these bytes, written in pieces of this length.
fn file(raw: &[u8], piece: usize) -> Vec<u8> {
    let mut writer = Writer::<Copy, _>::new(Vec::new());
    for piece in raw.chunks(piece) {
        writer.write_all(piece).unwrap();
    }
    writer.flush().unwrap();
    writer.finish().unwrap()
}

fn read(file: &[u8]) -> Result<(Vec<u8>, &[u8]), ErrorKind> {
    let (mut reader, mut raw) = (Reader::<Copy, _>::new(file), Vec::new());
    reader.read_to_end(&mut raw).map_err(|error| error.kind())?;
    Ok((raw, reader.into_inner()))
}

#[test]
fn files_come_back_in_chunks() {
    for len in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 77] {
        let raw: Vec<u8> = (0..len).map(|at| (at / 3) as u8).collect();
        let mut file = file(&raw, 10_007);
        assert_eq!(file.len(), len + len.div_ceil(CHUNK) * 4 + file_overhead(len) + 4);
        file.extend_from_slice(b"more");
        assert!(read(&file) == Ok((raw, &b"more"[..])), "{len}");
        for cut in (0..file.len() - 4).step_by(1 + len / 50) {
            assert_eq!(read(&file[..cut]).err(), Some(ErrorKind::UnexpectedEof), "{len}, cut at {cut}");
        }
    }
}

/// The bytes around the wires of the chunks of a file.
fn file_overhead(len: usize) -> usize {
    let chunks = (0..len).step_by(CHUNK).map(|from| CHUNK.min(len - from));
    chunks.map(|len| 6 + (usize::BITS - len.leading_zeros()).div_ceil(7) as usize).sum()
}

#[test]
fn files_that_no_writer_writes_are_refused() {
    let chunk = |raw: &[u8]| {
        let message = Copy::compress(raw).unwrap();
        [&(message.len() as u32).to_le_bytes()[..], &message].concat()
    };
    let mut damaged = file(b"abc", 3);
    damaged[8] ^= 1;
    for file in [damaged, chunk(b""), chunk(&vec![7; CHUNK + 1]), vec![0xff; 100]] {
        assert_eq!(read(&file).err(), Some(ErrorKind::InvalidData));
    }
}

#[test]
fn a_reader_says_what_is_wrong_and_where() {
    let said = |file: &[u8]| {
        let mut reader = Reader::<Copy, _>::new(file);
        reader.read_to_end(&mut Vec::new()).unwrap_err().to_string()
    };
    let whole = file(&vec![7; CHUNK + 100], CHUNK);
    assert_eq!(said(&whole[..whole.len() - 1]), "no end mark at the end (was `Writer::finish` called?)");
    assert_eq!(said(b""), "no end mark at the end (was `Writer::finish` called?)");
    let second = whole.len() - 4 - (4 + 100 + file_overhead(100));
    let mut damaged = whole;
    damaged[second + 20] ^= 1;
    let said = said(&damaged);
    assert!(said.starts_with(&format!("chunk at byte {second}: ")), "{said}");
}

proptest! {
    #[test]
    fn every_message_comes_back(raw in proptest::collection::vec(any::<u8>(), 0..1000)) {
        let message = Copy::compress(&raw).unwrap();
        let back = Copy::decompress::<u8>(&message, raw.len());
        prop_assert_eq!(back.as_ref(), Ok(&raw));
        if let Some(less) = raw.len().checked_sub(1) {
            prop_assert_eq!(Copy::decompress::<u8>(&message, less).unwrap_err().kind, TooLong);
        }
    }

    #[test]
    fn any_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..40), begun: bool, with_check: bool, most in 0..64_usize) {
        let mut message = if begun { [b"\x01\xc0", &bytes[..]].concat() } else { bytes };
        if with_check {
            message = checked(&message);
        }
        match Copy::decompress::<u8>(&message, most) {
            Ok(raw) => prop_assert!(raw.len() <= most && message[..message.len() - 4].ends_with(&raw)),
            Err(error) => prop_assert!(error.offset <= message.len()),
        }
        let _ = read(&message);
    }
}
