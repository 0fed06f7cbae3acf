//! Constants of the wire formats that `planes.md`, `rle.md` and `huffman.md` in `docs/format/` define.
#![forbid(unsafe_code)]

/// Byte 0 of the header (planes, section 2).
pub(crate) const VERSION: u8 = 2;
/// Bytes of the header before the length.
pub(crate) const HEADER: usize = 2;
/// Byte 1 of the header: bits that are 0.
pub(crate) const ZERO: u8 = 7;
/// Byte 1 of the header: the shift of the binary logarithm of the element's width.
pub(crate) const PLANES_SHIFT: u32 = 3;
/// Byte 1 of the header: the shift of the code's own bits; for run lengths, the binary logarithm of the symbol's width.
pub(crate) const SETTING_SHIFT: u32 = 5;
/// Raw bytes of a full block (planes, section 3).
pub(crate) const BLOCK: usize = 1 << 16;

/// The half byte of a count that is continued in further bytes (rle, section 2).
pub(crate) const MORE: usize = 15;

/// The maximum length of a code in bits (huffman, section 2).
pub(crate) const MAX_BITS: u32 = 11;

/// The number of streams of a plane of this many bytes (huffman, section 4).
#[must_use]
pub(crate) const fn streams(plane: usize) -> usize {
    match plane {
        0..512 => 1,
        512..4096 => 4,
        _ => 8,
    }
}
