//! Constants of the wire format that `docs/format/dfcm.md` defines. Section numbers refer to that page.
#![forbid(unsafe_code)]

/// Byte 0 of the header (section 2).
pub(crate) const VERSION: u8 = 1;
/// Length of the header in bytes (section 2).
pub(crate) const HEADER: usize = 2;
/// Byte 1 of the header: the binary logarithm of the table's lines.
pub(crate) const LINES_MASK: u8 = 0x0f;
/// Byte 1 of the header: the message continues a sequence.
pub(crate) const CONTINUING: u8 = 0x10;
/// Byte 1 of the header: the shift of the raw length modulo 8.
pub(crate) const RAW_LEN_SHIFT: u32 = 5;
/// Bytes of a continuing message's position in its sequence (section 6).
pub(crate) const PLACE: usize = 4;

/// The number of most significant bits of a difference that the hash and the drift rule use (section 3).
pub(crate) const TOP_BITS: u32 = 14;
/// The shift of the hash for each difference (section 3).
pub(crate) const HASH_SHIFT: u32 = 5;
/// The rotation of the sum of all elements for each element (section 6).
pub(crate) const SUM_ROTATION: u32 = 5;

/// Raw bytes of a full block (section 4).
pub(crate) const BLOCK: usize = 2048;
/// Bits of a leading-zero count (section 5).
pub(crate) const COUNT_BITS: u32 = 4;
/// The number of counts in a `u64`; the kernels process this many elements at a time.
pub(crate) const GROUP: usize = 16;
/// Bytes of the counts in a block with the most elements, those of four bytes.
pub(crate) const COUNTS: usize = BLOCK / 4 / 2;
/// A buffer for the residuals of a block. They are never longer than the block itself; the rest allows loading or storing a whole window wherever a
/// residual starts.
pub(crate) const BODY: usize = BLOCK + 16;
