//! Constants of the message wire, which `docs/format/fpc.md` defines. Section numbers are that page's.
#![forbid(unsafe_code)]

/// Byte 0 of the header (section 2).
pub(crate) const VERSION: u8 = 1;
/// Bytes of the header (section 2).
pub(crate) const HEADER: usize = 2;
/// Byte 1 of the header: the logarithm of a table's entries.
pub(crate) const ENTRIES_MASK: u8 = 0x0f;
/// Byte 1 of the header: a bit that must be 0.
pub(crate) const RESERVED: u8 = 0x10;
/// Byte 1 of the header: above this bit stands the raw length modulo 8.
pub(crate) const RAW_LEN_SHIFT: u32 = 5;

/// How far a hash moves on with each value (section 3).
pub(crate) const HASH_SHIFT: u32 = 4;
/// The largest table has 2 to this power entries (section 3).
pub(crate) const MAX_LOG2: u8 = 8;
/// Entries of the largest table.
pub(crate) const MAX_ENTRIES: usize = 1 << MAX_LOG2;

/// Values of a full block (section 4).
pub(crate) const BLOCK: usize = 960;
/// Lanes of a block (section 4).
pub(crate) const LANES: usize = 4;
/// Bytes of a block's head (section 5).
pub(crate) const HEAD: usize = 2;
/// The most length classes of a block (section 5).
pub(crate) const MAX_CLASSES: usize = 8;

/// Values of a row: as many as a word of a bit plane has bits. Kernels work a row at a time.
pub(crate) const ROW: usize = 64;
/// Rows of a full block.
pub(crate) const ROWS: usize = BLOCK / ROW;
/// The most bit planes of a block: one of predictors, three of classes (section 5).
pub(crate) const PLANES: usize = 4;
/// A buffer for the residual bytes of a row, with room to store a whole vector wherever a residual starts.
pub(crate) const PACKED: usize = 2 * ROW * 8;
/// Set in the byte of a residual's length where the prediction is that of dfcm.
pub(crate) const PICKED: u8 = 0x80;
