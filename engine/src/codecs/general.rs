//! Zstandard and LZ4, through their C libraries, as codecs (`docs/format/zstd-lz4.md`).
//!
//! Both wires are the library's output preceded by its length, so that a truncated or extended wire is detected before the library gets it. Neither
//! library's allocations depend on the wire: blocks and frames are decoded in one call, into the output.

use mpress_codec::DecodeErrorKind::{Corrupt, Length, Truncated};
use mpress_codec::{Decode, DecodeError, Encode, EncodeError, Full, Out, Reset};

/// Length of the length field at the start.
const HEADER: usize = 4;

/// A library that compresses a message in one go.
pub(super) trait Library {
    /// The maximum compressed length of `raw_len` bytes; `None` if the library does not support that many.
    fn bound(raw_len: usize) -> Option<usize>;
    /// Compresses `raw` into `room`, which has the size of its bound. Returns the length.
    fn compress(&mut self, raw: &[u8], room: &mut [u8]) -> Option<usize>;
}

/// The decompressor of a library.
pub(super) trait Opposite {
    /// Decompresses all of `wire` into `room` and returns the length; `None` if the wire is invalid or the room too small.
    fn decompress(&mut self, wire: &[u8], room: &mut [u8]) -> Option<usize>;
}

/// An encoder that uses a library.
pub(super) struct Compress<L>(pub(super) L);

impl<L> Reset for Compress<L> {}

impl<L: Library> Encode for Compress<L> {
    fn max_encoded_len(&self, raw_len: usize) -> Option<usize> {
        // The libraries accept every message, but the length field has 32 bits.
        L::bound(raw_len).filter(|bound| u32::try_from(*bound).is_ok())?.checked_add(HEADER)
    }

    fn encode(&mut self, raw: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError> {
        let most = self.max_encoded_len(raw.len());
        out.within(most, |out| {
            let start = out.len();
            let room = most.unwrap_or(HEADER) - HEADER;
            out.extend_zeroed(HEADER + room)?;
            let (header, room) = out.written_mut()[start..].split_at_mut(HEADER);
            let len = self.0.compress(raw, room).filter(|len| *len <= room.len()).ok_or(Full)?;
            header.copy_from_slice(&(len as u32).to_le_bytes());
            out.truncate(start + HEADER + len);
            Ok(())
        })
    }
}

/// A decoder that uses a library.
pub(super) struct Decompress<L>(pub(super) L);

impl<L> Reset for Decompress<L> {}

impl<L: Opposite> Decode for Decompress<L> {
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
            match self.0.decompress(body, &mut written[start..]) {
                Some(len) if len == raw_len => Ok(()),
                Some(_) => Err(DecodeError::new(Length, wire.len())),
                None => Err(DecodeError::new(Corrupt, HEADER)),
            }
        })
    }
}

#[cfg(feature = "zstd")]
pub(super) mod zstandard {
    use super::{Library, Opposite};
    use zstd::bulk::{Compressor, Decompressor};
    use zstd::zstd_safe;

    /// The fastest level with full entropy coding.
    const LEVEL: i32 = 1;

    pub(in crate::codecs) struct Packer(Compressor<'static>);

    impl Packer {
        /// `None` if out of memory.
        pub(in crate::codecs) fn new() -> Option<Self> {
            Compressor::new(LEVEL).ok().map(Self)
        }
    }

    impl Library for Packer {
        fn bound(raw_len: usize) -> Option<usize> {
            // For lengths that it does not support, the library returns 0 or an error number.
            (raw_len < 1 << 31).then(|| zstd_safe::compress_bound(raw_len))
        }
        fn compress(&mut self, raw: &[u8], room: &mut [u8]) -> Option<usize> {
            self.0.compress_to_buffer(raw, room).ok()
        }
    }

    pub(in crate::codecs) struct Unpacker(Decompressor<'static>);

    impl Unpacker {
        /// `None` if out of memory.
        pub(in crate::codecs) fn new() -> Option<Self> {
            Decompressor::new().ok().map(Self)
        }
    }

    impl Opposite for Unpacker {
        fn decompress(&mut self, wire: &[u8], room: &mut [u8]) -> Option<usize> {
            self.0.decompress_to_buffer(wire, room).ok()
        }
    }
}

#[cfg(feature = "lz4")]
pub(super) mod lz4block {
    use super::{Library, Opposite};
    use lz4::block::{compress_bound, compress_to_buffer, decompress_to_buffer};

    pub(in crate::codecs) struct Lz4;

    impl Library for Lz4 {
        fn bound(raw_len: usize) -> Option<usize> {
            compress_bound(raw_len).ok()
        }
        fn compress(&mut self, raw: &[u8], room: &mut [u8]) -> Option<usize> {
            compress_to_buffer(raw, None, false, room).ok()
        }
    }

    impl Opposite for Lz4 {
        fn decompress(&mut self, wire: &[u8], room: &mut [u8]) -> Option<usize> {
            decompress_to_buffer(wire, Some(i32::try_from(room.len()).ok()?), room).ok()
        }
    }
}
