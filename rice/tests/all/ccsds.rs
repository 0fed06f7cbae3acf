//! The edges of the CCSDS wire format: parameters, samples, handwritten streams. The exchange with libaec is tested in `interop/`.

use mpress_codec::DecodeErrorKind::{self, Corrupt, Length, Truncated, Unsupported};
use mpress_codec::conformance::{decode, encode, random_bytes};
use mpress_codec::{Codec, Encode, EncodeError, Out};
use mpress_rice::ccsds::{Ccsds121, Decoder, Encoder, Parameters, StreamError, decode_stream, encode_stream};

fn new(bits: u32) -> Parameters {
    Parameters::new(bits).unwrap()
}

fn stream(parameters: &Parameters, raw: &[u8]) -> Result<Vec<u8>, StreamError> {
    let mut buffer = vec![0; parameters.max_encoded_len(raw.len()).unwrap()];
    let mut out = Out::from_slice(&mut buffer);
    encode_stream(parameters, raw, &mut out)?;
    Ok(out.written().to_vec())
}

fn samples(parameters: &Parameters, wire: &[u8], len: usize) -> Result<Vec<u8>, DecodeErrorKind> {
    let mut raw = vec![0; len];
    let mut out = Out::from_slice(&mut raw);
    let result = decode_stream(parameters, wire, &mut out);
    assert_eq!(out.len(), if result.is_ok() { len } else { 0 });
    result.map(|()| raw).map_err(|error| error.kind)
}

/// Bytes of bits written as text.
fn bits(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b' ').map(|byte| byte - b'0').collect();
    digits.chunks(8).map(|byte| byte.iter().zip(0..).fold(0, |sum, (bit, i)| sum | bit << (7 - i))).collect()
}

#[test]
fn only_parameters_of_the_standard() {
    assert!([0, 33, u32::MAX].into_iter().all(|bits| Parameters::new(bits).is_none()));
    assert!([0, 7, 24, 128].into_iter().all(|samples| new(8).with_block(samples).is_none()));
    assert!(new(8).with_interval(0).is_none() && new(8).with_interval(4097).is_none());
    assert!(new(16).with_three_bytes().is_none() && new(25).with_three_bytes().is_none());
    assert!(new(5).with_restricted().is_none() && new(4).with_restricted().is_some());
    assert_eq!([1, 8, 9, 16, 17, 24, 25, 32].map(|bits| new(bits).sample_len()), [1, 1, 2, 2, 4, 4, 4, 4]);
    assert_eq!(new(17).with_three_bytes().unwrap().sample_len(), 3);
}

#[test]
fn streams_are_as_the_standard_has_them() {
    let eight = new(8).with_block(8).unwrap();
    // Nothing; a reference sample and zeros; two zero blocks; five, as the rest of a segment; five, followed by another block.
    assert_eq!(stream(&eight, &[]), Ok(vec![]));
    assert_eq!(stream(&eight, &[5; 8]), Ok(bits("0000 00000101 1")));
    assert_eq!(stream(&eight, &[5; 16]), Ok(bits("0000 00000101 01")));
    assert_eq!(stream(&eight, &[5; 40]), Ok(bits("0000 00000101 00001")));
    let mut more = [5; 48];
    more[40] = 6;
    // The sixth block: a step up of 1, residual 2, and one down, residual 1; the second extension would take 10 bits more.
    assert_eq!(stream(&eight, &more), Ok(bits("0000 00000101 000001  001 001 01 1 1 1 1 1 1")));
    // A step after the reference sample: ids, reference, quotients, remainders.
    let steps = [100, 104, 108, 112, 116, 120, 124, 128];
    assert_eq!(
        stream(&eight, &steps),
        Ok(bits("011 01100100 001 001 001 001 001 001 001 00 00 00 00 00 00 00"))
    );
    // Noise, without the preprocessor: no compression.
    let noise = [255, 0, 255, 3, 255, 254, 1, 2];
    let plain = eight.with_preprocessor(false);
    assert_eq!(
        stream(&plain, &noise).unwrap(),
        bits("111 11111111 00000000 11111111 00000011 11111111 11111110 00000001 00000010")
    );
    // Pairs (0, 1), (0, 0), (0, 0), (0, 0) with the second extension: numbers 2, 0, 0, 0.
    assert_eq!(stream(&plain, &[0, 1, 0, 0, 0, 0, 0, 0]), Ok(bits("0001 001 1 1 1")));
}

#[test]
fn broken_streams_are_refused_for_the_right_reason() {
    let eight = new(8).with_block(8).unwrap();
    let plain = eight.with_preprocessor(false).with_interval(70).unwrap();
    let said = |text: &str, blocks: usize| samples(&plain, &bits(text), 8 * blocks).map(|_| ());
    // As many blocks as the message has; as many as it may have.
    assert_eq!(said("0000 1 0000 1", 2), Ok(()));
    assert_eq!(said("0000 00001", 64), Ok(()));
    assert_eq!(said("0000 00001", 2), Ok(()));
    for (text, blocks, kind) in [
        ("0000 01", 1, Length),                      // two zero blocks in a message of one
        ("0000 1 000", 2, Truncated),                // no second block
        ("0000 0000", 1, Truncated),                 // zeros up to the end
        ("0000 00001 0000 01", 65, Length),          // as the first, in the second segment
        ("0000 00001 0000 00000001", 70, Corrupt),   // seven zero blocks, with six left in the interval
        ("0000 1 001", 1, Corrupt),                  // a fill bit of 1
        ("0000 1 00000000", 1, Length),              // an extra byte
        ("110 00001 1 1 1 1 1 1 1 1", 1, Truncated), // missing remainders
        ("110 0000000001 0000000 00000000 00000000 00000000 00000000", 1, Corrupt), // a residual of 9 * 32
    ] {
        let result = said(text, blocks);
        assert_eq!(result, Err(kind), "{text}");
    }
    // The residual at the position of the reference sample must be 0.
    let pair = |text: &str| samples(&eight, &bits(text), 8);
    assert!(pair("0001 00000101 1 1 1 1").is_ok() && pair("0001 00000101 001 1 1 1").is_ok());
    assert_eq!(pair("0001 00000101 01 1 1 1"), Err(Corrupt));
    // Not a whole sample.
    assert_eq!(samples(&new(16), &[], 1), Err(Length));
}

#[test]
fn samples_of_other_resolutions_are_refused() {
    let room = |error: EncodeError| StreamError::Output(error);
    let twelve = new(12).with_block(8).unwrap();
    let mut raw = vec![0; 64];
    raw[33] = 0x10;
    assert_eq!(stream(&twelve, &raw), Err(StreamError::Sample { offset: 32 }));
    assert_eq!(stream(&twelve, &raw[..33]), Err(StreamError::Sample { offset: 32 }));
    raw[33] = 0x0f;
    assert!(stream(&twelve, &raw).is_ok());
    assert!(stream(&twelve.with_signed(true), &raw).is_err(), "the sign bit must be copied");
    raw[33] = 0xff;
    let signed = twelve.with_signed(true);
    let wire = stream(&signed, &raw).unwrap();
    assert_eq!(samples(&signed, &wire, 64), Ok(raw.clone()));
    let mut small = [0; 11];
    let mut out = Out::from_slice(&mut small);
    // Four blocks of 4 + 8 * 12 bits.
    assert_eq!(encode_stream(&signed, &raw, &mut out), Err(room(EncodeError::new(50, 11))));
    assert!(out.is_empty());
}

#[test]
fn the_stream_bound_is_reached_and_never_passed() {
    for bits in 1..=32 {
        for block in [8, 64] {
            let parameters = new(bits).with_block(block).unwrap().with_preprocessor(false);
            let len = parameters.sample_len();
            for samples in [1, block, 3 * block, 9 * block + 1] {
                // The greatest possible samples.
                let sample = u32::MAX >> (32 - bits);
                let raw = sample.to_le_bytes()[..len].repeat(samples);
                let bound = parameters.max_encoded_len(raw.len()).unwrap();
                let wire = stream(&parameters, &raw).unwrap();
                assert!(wire.len() <= bound);
                if samples % block == 0 && bits > 3 {
                    assert_eq!(wire.len(), bound, "{bits} bits, {samples} samples");
                }
            }
        }
    }
    assert_eq!(new(32).max_encoded_len(usize::MAX), None);
}

#[test]
fn the_frame_codec_says_what_it_needs() {
    assert_eq!((Ccsds121::ID.0, Ccsds121::NAME), (13, "ccsds121"));
    let parameters = new(12).with_block(8).unwrap().with_signed(true);
    let mut encoder = Encoder::new(parameters);
    // Header: version; the stream flag; length; 12 bits, blocks of 8; an interval of 128; signed, preprocessed.
    let wire = encode(&mut encoder, &[9; 17]);
    assert_eq!(wire[..6], [2, 8, 17, 15, 127, 0x30], "0x909 is not a signed sample of 12 bits");
    let wire = encode(&mut encoder, &[5, 0].repeat(80));
    assert_eq!(wire[..7], [2, 8, 0xa0, 1, 11, 127, 0x30]);
    // The stream is that of the standard.
    assert_eq!(wire[7..], stream(&parameters, &[5, 0].repeat(80)).unwrap());
    // Noise is stored.
    let noise = random_bytes(1, 99);
    assert_eq!(encode(&mut encoder, &noise), [&[2, 0, 99], &noise[..]].concat());
    assert_eq!(encoder.max_encoded_len(99), Some(102));
    assert_eq!(encoder.max_encoded_len(usize::MAX), None);
    let said = |wire: &[u8], len| decode(&mut Decoder::new(), wire, len);
    for (wire, len, kind) in [
        (&[1, 0, 0][..], 0, Unsupported), // as in version 1
        (&[2], 0, Truncated),
        (&[2, 0], 0, Truncated),
        (&[2, 0, 1], 0, Length),
        (&[2, 0, 0x80, 0], 0, Corrupt), // 0 in two bytes
        (&[2, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2], 0, Corrupt), // 2^64
        (&[2, 0, 0], 8, Length),
        (&[2, 0, 0, 0], 0, Length),
        (&[2, 8, 0, 0, 0], 0, Truncated),
        (&[2, 8, 0, 4, 0, 0x80], 0, Corrupt), // restricted, with 5 bits
        (&[2, 8, 0, 0x8f, 0, 0], 0, Corrupt), // three bytes for 16 bits
        (&[2, 0, 1, 7, 0, 0x20], 1, Length),
    ] {
        assert_eq!(said(wire, len), Err(kind), "{wire:?}");
    }
    assert!((0..=255).filter(|flags| flags & !8 != 0).all(|flags| said(&[2, flags, 0], 0) == Err(Corrupt)));
    assert_eq!(said(&[2, 8, 0, 7, 0, 0x20], 0), Ok(vec![]));
}
