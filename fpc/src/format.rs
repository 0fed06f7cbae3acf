//! Constants of the message wire, which `docs/format/fpc.md` defines. Section numbers are that page's.
#![forbid(unsafe_code)]

/// Byte 0 of the header (section 2).
pub(crate) const VERSION: u8 = 1;
/// Bytes of the header (section 2).
pub(crate) const HEADER: usize = 2;
/// Byte 1 of the header: these bits are the raw length modulo 32, for doubles and for single floats.
pub(crate) const RAW_LEN_MASK: u8 = 0x1f;

/// How far a hash moves on with each value (section 3).
pub(crate) const HASH_SHIFT: u32 = 4;
/// Entries of a table (section 3).
pub(crate) const ENTRIES: usize = 256;

/// Values of a full block (section 4).
pub(crate) const BLOCK: usize = 960;
/// Lanes of a block (section 4).
pub(crate) const LANES: usize = 4;
/// Values of a lane in a full block.
pub(crate) const STEPS: usize = BLOCK / LANES;
/// Bytes of a block's head (section 5).
pub(crate) const HEAD: usize = 2;
/// The most length classes of a block (section 5).
pub(crate) const MAX_CLASSES: usize = 8;

/// Values of a row: as many as a word of a bit plane has bits. Kernels work a row at a time.
pub(crate) const ROW: usize = 64;
/// Steps of a row: values of a lane.
pub(crate) const ROW_STEPS: usize = ROW / LANES;
/// Rows of a full block.
pub(crate) const ROWS: usize = BLOCK / ROW;
/// The most bit planes of a block: one of predictors, three of classes (section 5).
pub(crate) const PLANES: usize = 4;
/// The most bytes that the residuals of a row take.
pub(crate) const ROW_BYTES: usize = ROW * 8;
/// The residual bytes of a row, with room to load or store a whole vector wherever a residual starts.
pub(crate) const PACKED: usize = ROW_BYTES + 64;
/// Set in the byte of a residual's length where the prediction is that of dfcm.
pub(crate) const PICKED: u8 = 0x80;
