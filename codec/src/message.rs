//! Self-describing messages, in vectors (feature `alloc`). Normative layout: `docs/format/message.md`.
#![forbid(unsafe_code)]

use crate::DecodeErrorKind::{Corrupt, Length, TooLong, Truncated, Unsupported};
use crate::{Codec, CodecId, Decode, DecodeError, Encode, EncodeError, decode_into, encode_into, length};
use alloc::vec::Vec;
use bytemuck::Pod;
use bytemuck::allocation::{try_zeroed_slice_box, try_zeroed_vec};

/// Byte 0.
const VERSION: u8 = 1;
/// Length of the check in bytes.
const CHECK: usize = 4;
/// The maximum number of bytes around the wire: version, codec, length and check.
const AROUND: usize = 2 + length::MAX + CHECK;

/// Slices of values to self-describing bytes, and back: one call each way for every [`Codec`].
///
/// ```
/// # use mpress_codec::{Codec, CodecId, Decode, DecodeError, Encode, EncodeError, Out, Reset};
/// # struct Copy64;
/// # impl Codec for Copy64 {
/// #     const ID: CodecId = CodecId(200);
/// #     const NAME: &'static str = "copy";
/// #     const WIDTH: usize = 8;
/// #     const STATEFUL: bool = false;
/// #     type Encoder = Self;
/// #     type Decoder = Self;
/// #     fn encoder() -> Self { Self }
/// #     fn decoder() -> Self { Self }
/// # }
/// # impl Reset for Copy64 {}
/// # impl Encode for Copy64 {
/// #     fn max_encoded_len(&self, raw_len: usize) -> Option<usize> { Some(raw_len) }
/// #     fn encode(&mut self, raw: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError> {
/// #         out.within(Some(raw.len()), |out| out.extend_from_slice(raw))
/// #     }
/// # }
/// # impl Decode for Copy64 {
/// #     fn decode(&mut self, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
/// #         out.extend_from_slice(wire).unwrap();
/// #         Ok(())
/// #     }
/// # }
/// use mpress_codec::{Compress, decoded_len};
///
/// let bytes = Copy64::compress(&[1.0, 2.0, 3.0])?; // Copy64: any codec
/// assert_eq!(decoded_len(&bytes)?, 24);
/// let values: Vec<f64> = Copy64::decompress(&bytes, 1 << 20)?; // refuses what would be longer than 1 MiB
/// assert_eq!(values, [1.0, 2.0, 3.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Compress: Codec {
    /// Encodes the values with [`Codec::encoder`]; [`compress_with`] takes an encoder with other settings.
    ///
    /// # Errors
    /// As for [`compress_with`].
    fn compress<T: Pod>(values: &[T]) -> Result<Vec<u8>, EncodeError> {
        compress_with(Self::ID, &mut Self::encoder(), values)
    }

    /// Decodes a message of at most `max_len` raw bytes.
    ///
    /// # Errors
    /// As for [`decompress_with`].
    fn decompress<T: Pod>(message: &[u8], max_len: usize) -> Result<Vec<T>, DecodeError> {
        decompress_with(Self::ID, &mut Self::decoder(), message, max_len)
    }

    /// Decodes a message that has exactly as many bytes as these values. After an error the values are unspecified.
    ///
    /// # Errors
    /// As for [`decompress_with`]; [`Length`] if the message has another length.
    fn decompress_into<T: Pod>(message: &[u8], values: &mut [T]) -> Result<(), DecodeError> {
        let message = Message::read(message)?.of(Self::ID)?;
        let values = bytemuck::cast_slice_mut(values);
        if message.raw_len != values.len() as u64 {
            return Err(DecodeError::new(Length, message.at));
        }
        message.decode(&mut Self::decoder(), values)
    }
}

impl<C: Codec> Compress for C {}

/// Encodes the values with this encoder, whose codec has this id, and returns self-describing bytes. Their capacity is no more than their length.
///
/// # Errors
/// If memory for the longest possible wire is not available, or its length overflows `usize`; `available` is then 0. The encoder's state is
/// unchanged.
pub fn compress_with<T: Pod>(
    codec: CodecId,
    encoder: &mut (impl Encode + ?Sized),
    values: &[T],
) -> Result<Vec<u8>, EncodeError> {
    let raw: &[u8] = bytemuck::cast_slice(values);
    let no_memory = |needed| EncodeError::new(needed, 0);
    let bound = encoder.max_encoded_len(raw.len()).ok_or(no_memory(usize::MAX))?;
    let needed = bound.checked_add(AROUND).ok_or(no_memory(usize::MAX))?;
    // The system zeroes pages on first touch, so the part that the wire does not reach costs nothing.
    let mut message: Vec<u8> = try_zeroed_vec(needed).map_err(|()| no_memory(needed))?;
    let (length, used) = length::to_wire(raw.len());
    message[..2].copy_from_slice(&[VERSION, codec.0]);
    message[2..2 + used].copy_from_slice(&length[..used]);
    let start = 2 + used;
    let end = start + encode_into(encoder, raw, &mut message[start..start + bound])?;
    let check = crc32fast::hash(&message[..end]);
    message[end..end + CHECK].copy_from_slice(&check.to_le_bytes());
    message.truncate(end + CHECK);
    message.shrink_to_fit();
    Ok(message)
}

/// Decodes a message of [`compress_with`] of at most `max_len` raw bytes, with this decoder, whose codec has this id. `message` need not be trusted:
/// at most `max_len` bytes are allocated, and none before the check has passed.
///
/// # Errors
/// [`TooLong`] if the message is longer, or memory for it is not available; [`Corrupt`] if the check is wrong; [`Truncated`] or [`Unsupported`] if
/// its start is not known, or its codec is another one; [`Length`] if it is not a whole number of values; errors of [`Decode::decode`], with offsets
/// into `message`. Errors other than the decoder's leave its state unchanged.
pub fn decompress_with<T: Pod>(
    codec: CodecId,
    decoder: &mut (impl Decode + ?Sized),
    message: &[u8],
    max_len: usize,
) -> Result<Vec<T>, DecodeError> {
    let message = Message::read(message)?.of(codec)?;
    let too_long = DecodeError::new(TooLong, 2);
    let raw_len = usize::try_from(message.raw_len).ok().filter(|len| *len <= max_len).ok_or(too_long)?;
    if raw_len.checked_rem(size_of::<T>()) != Some(0) {
        return Err(DecodeError::new(Length, message.at));
    }
    let mut values = try_zeroed_slice_box(raw_len / size_of::<T>()).map_err(|()| too_long)?;
    message.decode(decoder, bytemuck::cast_slice_mut(&mut values))?;
    Ok(values.into_vec())
}

/// The number of bytes that this message decodes to, if its check is right.
///
/// # Errors
/// As for [`decompress_with`]; [`TooLong`] if no memory could hold the message.
pub fn decoded_len(message: &[u8]) -> Result<usize, DecodeError> {
    usize::try_from(Message::read(message)?.raw_len).map_err(|_| DecodeError::new(TooLong, 2))
}

/// The codec of this message, if its check is right.
///
/// # Errors
/// As for [`decompress_with`].
pub fn codec_of(message: &[u8]) -> Result<CodecId, DecodeError> {
    Ok(Message::read(message)?.codec)
}

/// A message whose check is right.
struct Message<'a> {
    codec: CodecId,
    raw_len: u64,
    wire: &'a [u8],
    /// The offset of the wire.
    at: usize,
}

impl<'a> Message<'a> {
    fn read(message: &'a [u8]) -> Result<Self, DecodeError> {
        if *message.first().ok_or(DecodeError::new(Truncated, 0))? != VERSION {
            return Err(DecodeError::new(Unsupported, 0));
        }
        let truncated = DecodeError::new(Truncated, message.len());
        let (checked, check) = message.split_last_chunk::<CHECK>().ok_or(truncated)?;
        if checked.is_empty() {
            return Err(truncated);
        }
        if crc32fast::hash(checked) != u32::from_le_bytes(*check) {
            return Err(DecodeError::new(Corrupt, checked.len()));
        }
        let codec = CodecId(*checked.get(1).ok_or(DecodeError::new(Truncated, checked.len()))?);
        let (raw_len, at) = length::read(checked, 2)?;
        Ok(Self { codec, raw_len, wire: &checked[at..], at })
    }

    /// The same, if it is of this codec.
    fn of(self, codec: CodecId) -> Result<Self, DecodeError> {
        if self.codec == codec { Ok(self) } else { Err(DecodeError::new(Unsupported, 1)) }
    }

    fn decode(&self, decoder: &mut (impl Decode + ?Sized), raw: &mut [u8]) -> Result<(), DecodeError> {
        let place =
            |error: DecodeError| DecodeError { offset: error.offset.saturating_add(self.at), ..error };
        decode_into(decoder, self.wire, raw).map_err(place)
    }
}
