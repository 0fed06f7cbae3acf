//! Zstandard, through its C library, as a codec (`docs/format/zstd.md`).
//!
//! The wire is the library's output preceded by its length, so that a truncated or extended wire is detected before the library gets it. The library's
//! allocations do not depend on the wire: frames are decoded in one call, into the output.

use mpress_codec::DecodeErrorKind::{Corrupt, Length, Truncated};
use mpress_codec::{Decode, DecodeError, Encode, EncodeError, Full, Out, Reset};
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::compress_bound;

/// Length of the length field at the start.
const HEADER: usize = 4;
/// The fastest level with full entropy coding.
const LEVEL: i32 = 1;

pub(super) struct Packer(Compressor<'static>);

impl Packer {
    /// `None` if out of memory.
    pub(super) fn new() -> Option<Self> {
        Compressor::new(LEVEL).ok().map(Self)
    }
}

impl Reset for Packer {}

impl Encode for Packer {
    fn max_encoded_len(&self, raw_len: usize) -> Option<usize> {
        // For lengths that it does not support, the library returns 0 or an error number.
        let bound = (raw_len < 1 << 31).then(|| compress_bound(raw_len))?;
        // The length field has 32 bits.
        u32::try_from(bound).ok()?;
        bound.checked_add(HEADER)
    }

    fn encode(&mut self, raw: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError> {
        let most = self.max_encoded_len(raw.len());
        out.within(most, |out| {
            let start = out.len();
            let room = most.unwrap_or(HEADER) - HEADER;
            out.extend_zeroed(HEADER + room)?;
            let (header, room) = out.written_mut()[start..].split_at_mut(HEADER);
            let len =
                self.0.compress_to_buffer(raw, room).ok().filter(|len| *len <= room.len()).ok_or(Full)?;
            header.copy_from_slice(&(len as u32).to_le_bytes());
            out.truncate(start + HEADER + len);
            Ok(())
        })
    }
}

pub(super) struct Unpacker(Decompressor<'static>);

impl Unpacker {
    /// `None` if out of memory.
    pub(super) fn new() -> Option<Self> {
        Decompressor::new().ok().map(Self)
    }
}

impl Reset for Unpacker {}

impl Decode for Unpacker {
    fn decode(&mut self, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
        let (header, body) =
            wire.split_first_chunk::<HEADER>().ok_or(DecodeError::new(Truncated, wire.len()))?;
        let len = usize::try_from(u32::from_le_bytes(*header)).unwrap_or(usize::MAX);
        if body.len() < len {
            return Err(DecodeError::new(Truncated, wire.len()));
        }
        if body.len() > len {
            return Err(DecodeError::new(Length, HEADER + len));
        }
        let raw_len = out.remaining();
        out.all_or_nothing(|out| {
            let start = out.len();
            let written = out.extend_zeroed(raw_len).map_err(|Full { .. }| DecodeError::new(Length, 0))?;
            match self.0.decompress_to_buffer(body, &mut written[start..]) {
                Ok(len) if len == raw_len => Ok(()),
                Ok(_) => Err(DecodeError::new(Length, wire.len())),
                Err(_) => Err(DecodeError::new(Corrupt, HEADER)),
            }
        })
    }
}
