//! Messages with their length, in vectors: the layout, what is refused, and any bytes at all.
#![cfg(feature = "alloc")]

use mpress_codec::DecodeErrorKind::{Corrupt, Length, TooLong, Truncated, Unsupported};
use mpress_codec::{
    Check, Decode, DecodeError, Encode, EncodeError, Out, Reset, decode_to_vec, encode_to_vec,
};
use proptest::prelude::*;

/// The message itself.
struct Copy;

impl Reset for Copy {}

impl Encode for Copy {
    fn max_encoded_len(&self, raw_len: usize) -> Option<usize> {
        Some(raw_len)
    }
    fn encode(&mut self, raw: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError> {
        out.within(Some(raw.len()), |out| out.extend_from_slice(raw))
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

/// The check is the one that byte 0 says.
fn decode(message: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let is_checked = message.first().is_some_and(|head| head >> 4 == 1);
    decode_to_vec(&mut Copy, message, 1000, if is_checked { Check::Crc32 } else { Check::None })
}

#[test]
fn the_layout_is_the_documented_one() {
    assert_eq!(encode_to_vec(&mut Copy, b"abc", Check::None).unwrap(), b"\x01\x03abc");
    let checked = encode_to_vec(&mut Copy, b"abc", Check::Crc32).unwrap();
    assert_eq!(checked, b"\x11\x03abc\x11\x7e\x72\x43");
    assert_eq!(decode(b"\x01\x03abc").unwrap(), b"abc");
    assert_eq!(decode(&checked).unwrap(), b"abc");
    assert_eq!(decode(b"\x01\x00").unwrap(), b"");
    let long = encode_to_vec(&mut Copy, &[7; 300], Check::None).unwrap();
    assert_eq!(long[..3], [1, 0xac, 2]);
    assert_eq!(decode(&long).unwrap(), [7; 300]);
}

#[test]
fn what_no_encoder_writes_is_refused() {
    let mut endless = vec![0xff; 11];
    endless[0] = 1;
    for (message, kind, at) in [
        (&b""[..], Truncated, 0),
        (b"\x01", Truncated, 1),
        (b"\x01\x83", Truncated, 2),
        (b"\x11\0\0\0", Truncated, 4),
        (b"\x02\x03abc", Unsupported, 0),
        (b"\x21\x03abc", Unsupported, 0),
        (b"\x01\x83\0abc", Corrupt, 2),
        (b"\x11\x03abc\x11\x7e\x72\x42", Corrupt, 5),
        (b"\x01\xe9\x07", TooLong, 1),
        (b"\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", TooLong, 1),
        (b"\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", Corrupt, 10),
        (&endless, Corrupt, 10),
        (b"\x01\x03ab", Length, 4),
    ] {
        assert_eq!(decode(message), Err(DecodeError::new(kind, at)), "{message:x?}");
    }
}

/// Two flipped bits turn a message with a check into a longer one without.
#[test]
fn damage_does_not_switch_the_check_off() {
    let mut message = encode_to_vec(&mut Copy, b"abc", Check::Crc32).unwrap();
    message[0] ^= 0x10;
    message[1] ^= 4;
    assert_eq!(decode_to_vec(&mut Copy, &message, 1000, Check::None).unwrap().len(), 7);
    let unsupported = Err(DecodeError::new(Unsupported, 0));
    assert_eq!(decode_to_vec(&mut Copy, &message, 1000, Check::Crc32), unsupported);
    assert_eq!(decode_to_vec(&mut Copy, b"\x11\x03abc\x11\x7e\x72\x43", 1000, Check::None), unsupported);
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
        assert_eq!(encode_to_vec(&mut Immense, &[0; 100][..len], Check::None).unwrap_err().available, 0);
    }
    let huge = b"\x01\xff\xff\xff\xff\xff\xff\xff\xff\x7f";
    assert_eq!(decode_to_vec(&mut Copy, huge, usize::MAX, Check::None), Err(DecodeError::new(TooLong, 1)));
}

proptest! {
    #[test]
    fn every_message_comes_back(raw in proptest::collection::vec(any::<u8>(), 0..1000), checked: bool) {
        let check = if checked { Check::Crc32 } else { Check::None };
        let message = encode_to_vec(&mut Copy, &raw, check).unwrap();
        let back = decode_to_vec(&mut Copy, &message, raw.len(), check);
        prop_assert_eq!(back.as_ref(), Ok(&raw));
        if let Some(less) = raw.len().checked_sub(1) {
            let error = decode_to_vec(&mut Copy, &message, less, check).unwrap_err();
            prop_assert_eq!(error.kind, TooLong);
        }
    }

    #[test]
    fn any_bytes_do_no_harm(mut message in proptest::collection::vec(any::<u8>(), 0..40), head: bool, most in 0..64_usize, checked: bool) {
        let check = if checked { Check::Crc32 } else { Check::None };
        if let (true, Some(first)) = (head, message.first_mut()) {
            *first = 1;
        }
        match decode_to_vec(&mut Copy, &message, most, check) {
            Ok(raw) => prop_assert!(raw.len() <= most && message.ends_with(&raw)),
            Err(error) => prop_assert!(error.offset <= message.len()),
        }
    }
}
