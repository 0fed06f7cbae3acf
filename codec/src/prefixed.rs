//! Messages with their length, in vectors (feature `alloc`). Normative layout: `docs/format/prefixed.md`.
#![forbid(unsafe_code)]

use crate::DecodeErrorKind::{Corrupt, TooLong, Truncated, Unsupported};
use crate::support::{Wire, length};
use crate::{Decode, DecodeError, Encode, EncodeError, decode_into, encode_into};
use alloc::vec::Vec;

/// Byte 0: the version.
const VERSION: u8 = 1;
/// Byte 0: the message ends with a check.
const CHECKED: u8 = 1 << 4;
/// Length of the check in bytes.
const CHECK: usize = 4;
/// The maximum number of bytes before the wire: one, and a length.
const MAX_HEAD: usize = 1 + length::MAX;

/// What [`encode_to_vec`] adds to find damage, and [`decode_to_vec`] expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Check {
    /// Nothing. Most damage then gives wrong data.
    None,
    /// CRC-32/ISO-HDLC (that of Ethernet and zlib) of everything before it: 4 bytes. It finds every burst of up to 32 bits, and other damage with a
    /// probability of 1 - 2^-32.
    Crc32,
}

/// Encodes `raw` and returns its wire with its length before it, and a check after it if wanted.
///
/// ```
/// # use mpress_codec::{CodecId, Decode, DecodeError, Encode, EncodeError, Out, Reset};
/// # struct Copy;
/// # impl Reset for Copy {}
/// # impl Encode for Copy {
/// #     fn max_encoded_len(&self, raw_len: usize) -> Option<usize> { Some(raw_len) }
/// #     fn encode(&mut self, raw: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError> {
/// #         out.within(Some(raw.len()), |out| out.extend_from_slice(raw))
/// #     }
/// # }
/// # impl Decode for Copy {
/// #     fn decode(&mut self, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
/// #         out.extend_from_slice(wire).unwrap();
/// #         Ok(())
/// #     }
/// # }
/// # let (mut encoder, mut decoder) = (Copy, Copy); // of any codec
/// use mpress_codec::{Check, decode_to_vec, encode_to_vec};
///
/// let message = encode_to_vec(&mut encoder, b"hello", Check::Crc32)?;
/// let raw = decode_to_vec(&mut decoder, &message, 1 << 20, Check::Crc32)?; // refuses what would be longer than 1 MiB
/// assert_eq!(raw, b"hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If there is no memory for the longest possible wire, or such a length overflows `usize`; 0 bytes are `available` then. The encoder's state is
/// unchanged.
pub fn encode_to_vec<E: Encode + ?Sized>(
    encoder: &mut E,
    raw: &[u8],
    check: Check,
) -> Result<Vec<u8>, EncodeError> {
    let no_memory = |needed| EncodeError::new(needed, 0);
    let bound = encoder.max_encoded_len(raw.len()).ok_or(no_memory(usize::MAX))?;
    let needed = bound.checked_add(MAX_HEAD + CHECK).ok_or(no_memory(usize::MAX))?;
    let mut message = Vec::new();
    message.try_reserve_exact(needed).map_err(|_| no_memory(needed))?;
    message.push(head(check));
    let (length, used) = length::to_wire(raw.len());
    message.extend_from_slice(&length[..used]);
    let start = message.len();
    message.resize(start + bound, 0);
    let len = encode_into(encoder, raw, &mut message[start..])?;
    message.truncate(start + len);
    if check != Check::None {
        let check = crc32fast::hash(&message);
        message.extend_from_slice(&check.to_le_bytes());
    }
    Ok(message)
}

/// Decodes a message of [`encode_to_vec`] that has at most `max_len` raw bytes. `message` may be anything: no more than `max_len` bytes are allocated,
/// and nothing before the check, if there must be one, has been found right. `check` is that of the encoder: damage must not be able to switch it off.
///
/// # Errors
/// [`TooLong`] if the message is longer, or there is no memory for it; [`Corrupt`] if the check is wrong; [`Truncated`] or [`Unsupported`] if it has no
/// beginning that is known, or another check; those of [`Decode::decode`], with offsets into `message`. Errors other than the decoder's leave its state unchanged.
pub fn decode_to_vec<D: Decode + ?Sized>(
    decoder: &mut D,
    message: &[u8],
    max_len: usize,
    check: Check,
) -> Result<Vec<u8>, DecodeError> {
    if *message.first().ok_or(DecodeError::new(Truncated, 0))? != head(check) {
        return Err(DecodeError::new(Unsupported, 0));
    }
    let mut end = message.len();
    if check != Check::None {
        let (checked, check) = message.split_last_chunk().unwrap_or((&[], &[0; CHECK]));
        if checked.is_empty() {
            return Err(DecodeError::new(Truncated, end));
        }
        end = checked.len();
        if crc32fast::hash(checked) != u32::from_le_bytes(*check) {
            return Err(DecodeError::new(Corrupt, end));
        }
    }
    let mut wire = Wire { bytes: &message[..end], at: 1 };
    let raw_len = length::read(&mut wire)?;
    let too_long = DecodeError::new(TooLong, 1);
    let raw_len = usize::try_from(raw_len).ok().filter(|len| *len <= max_len).ok_or(too_long)?;
    let mut raw = Vec::new();
    raw.try_reserve_exact(raw_len).map_err(|_| too_long)?;
    raw.resize(raw_len, 0);
    let offset = |error: DecodeError| DecodeError { offset: error.offset.saturating_add(wire.at), ..error };
    decode_into(decoder, wire.rest(), &mut raw).map_err(offset)?;
    Ok(raw)
}

/// Byte 0.
fn head(check: Check) -> u8 {
    VERSION | if check == Check::None { 0 } else { CHECKED }
}
