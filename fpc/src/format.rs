//! Constants of the message wire format that `docs/format/fpc.md` defines. Section numbers refer to that page.
#![forbid(unsafe_code)]

/// Byte 0 of the header (section 2).
pub(crate) const VERSION: u8 = 2;

/// The shift of a hash for each value (section 3).
pub(crate) const HASH_SHIFT: u32 = 4;
/// Entries of a table (section 3).
pub(crate) const ENTRIES: usize = 256;

/// Values of a full block (section 4).
pub(crate) const BLOCK: usize = 960;
/// Lanes of a block (section 4).
pub(crate) const LANES: usize = 4;
/// Values of a lane in a full block.
pub(crate) const STEPS: usize = BLOCK / LANES;
/// Length of a block's head in bytes (section 5).
pub(crate) const HEAD: usize = 2;
/// The maximum number of length classes in a block (section 5).
pub(crate) const MAX_CLASSES: usize = 8;

/// Values of a row: as many as a word of a bit plane has bits. Kernels process one row at a time.
pub(crate) const ROW: usize = 64;
/// Steps of a row: the values of one lane.
pub(crate) const ROW_STEPS: usize = ROW / LANES;
/// Rows of a full block.
pub(crate) const ROWS: usize = BLOCK / ROW;
/// The maximum number of bit planes in a block: one for the predictors, three for the classes (section 5).
pub(crate) const PLANES: usize = 4;
/// The maximum length of a row's residuals in bytes.
pub(crate) const ROW_BYTES: usize = ROW * 8;
/// The residual bytes of a row, with room to load or store a whole vector at the start of any residual.
pub(crate) const PACKED: usize = ROW_BYTES + 64;
/// Set in the length byte of a residual if the prediction is dfcm's.
pub(crate) const PICKED: u8 = 0x80;
