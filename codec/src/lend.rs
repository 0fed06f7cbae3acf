//! Lending memory to untrusted encoders and decoders.
//!
//! An encoder or decoder gets `&mut Out`, so safe code can replace it by another `Out` and report success. These functions detect that. Unsafe code
//! that relies on success must call these functions, not the trait methods.
#![forbid(unsafe_code)]

use crate::{Decode, DecodeError, DecodeErrorKind, Encode, EncodeError, Out};
use core::mem::MaybeUninit;

/// Encodes `raw` into the front of `room` and returns the length in bytes.
///
/// # Errors
/// Errors of [`Encode::encode`]; [`max_encoded_len`](Encode::max_encoded_len) of `raw.len()` is always enough room. After an error the contents of
/// `room` are unspecified. Also an error if the encoder reported success but wrote elsewhere; `room` may then have the `needed` bytes.
pub fn encode_into<E: Encode + ?Sized>(
    encoder: &mut E,
    raw: &[u8],
    room: &mut [u8],
) -> Result<usize, EncodeError> {
    encode_into_with(encoder, None, raw, room)
}

/// Does the same with a reference, if there is one.
///
/// # Errors
/// As for [`encode_into`], and those of [`Encode::encode_with`].
pub fn encode_into_with<E: Encode + ?Sized>(
    encoder: &mut E,
    reference: Option<&[u8]>,
    raw: &[u8],
    room: &mut [u8],
) -> Result<usize, EncodeError> {
    let mut out = Out::from_slice(room);
    let place = out.place();
    match reference {
        Some(reference) => encoder.encode_with(reference, raw, &mut out)?,
        None => encoder.encode(raw, &mut out)?,
    }
    if out.place() != place {
        let needed = encoder.max_encoded_len(raw.len()).unwrap_or(usize::MAX);
        return Err(EncodeError::new(needed, room.len()));
    }
    Ok(out.len())
}

/// Decodes `wire` into `room`, which must have the length of the message. A wire has no checksum: most damage gives other bytes, not an error. Add one,
/// or use `Compress`, which does.
///
/// # Errors
/// Errors of [`Decode::decode`], and [`DecodeErrorKind::Unfilled`] if the decoder reported success but did not fill `room`. After an error, the
/// contents of `room` are unspecified.
pub fn decode_into<D: Decode + ?Sized>(
    decoder: &mut D,
    wire: &[u8],
    room: &mut [u8],
) -> Result<(), DecodeError> {
    filled(decoder, None, wire, Out::from_slice(room)).map(|_| ())
}

/// Decodes `wire` into `room`, which must have the length of the message, and returns the bytes. On success all of `room` is initialised, no matter
/// what the decoder does in safe code; unsafe code may rely on that.
///
/// # Errors
/// As for [`decode_into`].
pub fn decode_into_uninit<'a, D: Decode + ?Sized>(
    decoder: &mut D,
    wire: &[u8],
    room: &'a mut [MaybeUninit<u8>],
) -> Result<&'a mut [u8], DecodeError> {
    filled(decoder, None, wire, Out::new(room))
}

/// Lends `out`, which has room for exactly the message, to a decoder that gets this reference, if there is one. Returns all bytes of `out`.
///
/// # Errors
/// As for [`decode_into`], and those of [`Decode::decode_with`].
pub fn filled<'a, D: Decode + ?Sized>(
    decoder: &mut D,
    reference: Option<&[u8]>,
    wire: &[u8],
    mut out: Out<'a>,
) -> Result<&'a mut [u8], DecodeError> {
    let place = out.place();
    match reference {
        Some(reference) => decoder.decode_with(reference, wire, &mut out)?,
        None => decoder.decode(wire, &mut out)?,
    }
    if out.place() != place || out.remaining() > 0 {
        return Err(DecodeError::new(DecodeErrorKind::Unfilled, wire.len()));
    }
    Ok(out.into_written())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reset;
    use core::mem;

    /// A decoder that fills the lent output, or does something else.
    enum Copy {
        Honest,
        /// Writes nothing.
        Idle,
        /// Leaves an output of length 0, which is full.
        Empty,
        /// Leaves a full output of the same length over other memory.
        Elsewhere(Option<&'static mut [u8; 3]>),
        /// Works in its own buffer and puts the lent output back.
        Moves,
    }

    impl Copy {
        fn write(&mut self, bytes: &[u8], out: &mut Out<'_>) {
            match self {
                Self::Idle => return,
                Self::Empty => *out = Out::new(&mut []),
                Self::Elsewhere(memory) => *out = Out::from_slice(memory.take().unwrap()),
                Self::Moves => {
                    let mut own = mem::replace(out, Out::new(&mut []));
                    own.extend_from_slice(bytes).unwrap();
                    *out = own;
                    return;
                }
                Self::Honest => {}
            }
            let _ = out.extend_from_slice(bytes);
        }
    }

    impl Reset for Copy {}

    impl Encode for Copy {
        fn max_encoded_len(&self, raw_len: usize) -> Option<usize> {
            Some(raw_len)
        }
        fn encode(&mut self, raw: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError> {
            self.write(raw, out);
            Ok(())
        }
    }

    impl Decode for Copy {
        fn decode(&mut self, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
            self.write(wire, out);
            Ok(())
        }
    }

    /// Other memory of the same length, for an output while one is lent.
    fn elsewhere() -> Copy {
        extern crate std;
        Copy::Elsewhere(Some(std::boxed::Box::leak(std::boxed::Box::new([9; 3]))))
    }

    #[test]
    fn a_decoder_that_fills_other_memory_is_found_out() {
        let decode = |mut decoder: Copy| {
            let mut room = [MaybeUninit::uninit(); 3];
            decode_into_uninit(&mut decoder, b"abc", &mut room)
                .map(|bytes| <[u8; 3]>::try_from(bytes).unwrap())
        };
        assert_eq!(decode(Copy::Honest), Ok(*b"abc"));
        assert_eq!(decode(Copy::Moves), Ok(*b"abc"));
        let unfilled = Err(DecodeError::new(DecodeErrorKind::Unfilled, 3));
        assert_eq!(decode(Copy::Idle), unfilled);
        assert_eq!(decode(Copy::Empty), unfilled);
        assert_eq!(decode(elsewhere()), unfilled);
        let mut room = [0; 3];
        assert_eq!(decode_into(&mut Copy::Idle, b"abc", &mut room).map(|()| [0; 3]), unfilled);
        assert_eq!(decode_into(&mut Copy::Honest, b"abc", &mut room).map(|()| room), Ok(*b"abc"));
    }

    #[test]
    fn an_encoder_that_writes_elsewhere_is_found_out() {
        let encode = |mut encoder: Copy| encode_into(&mut encoder, b"abc", &mut [7; 3]);
        assert_eq!(encode(Copy::Honest), Ok(3));
        assert_eq!(encode(Copy::Moves), Ok(3));
        assert_eq!(encode(Copy::Idle), Ok(0));
        assert_eq!(encode(Copy::Empty), Err(EncodeError::new(3, 3)));
        assert_eq!(encode(elsewhere()), Err(EncodeError::new(3, 3)));
    }
}
