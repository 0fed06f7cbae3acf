//! Constants of the wire format that `docs/format/diffpack.md` defines. Section numbers refer to that page.
#![forbid(unsafe_code)]

mod fields;
mod predictor;

pub(crate) use fields::{COLUMN, Fields, MAX_STRIDE, PIECE, column_width};
pub(crate) use predictor::{Domain, Predictor, Slots};

/// Byte 0 of the header (section 2): the number of the format.
pub(crate) const FORMAT: u8 = 1 << 4;
/// In byte 0: the message consists of records.
pub(crate) const RECORDS: u8 = 1;
/// In byte 0: blocks may be differences from a reference, an earlier message.
pub(crate) const REFERENCE: u8 = 2;
/// Raw bytes of a full block (section 3).
pub(crate) const BLOCK: usize = 2048;
/// Groups of a full block (section 3).
pub(crate) const GROUPS: usize = 32;
/// Raw bytes of a group (section 3).
pub(crate) const GROUP: usize = 64;
/// Slots in a message's table of predictors (section 4).
pub(crate) const SLOTS: usize = 14;
/// The greatest sum of a predictor's lags (section 4).
pub(crate) const MAX_REACH: usize = 2047;
/// The maximum number of factors of a difference (section 4).
pub(crate) const MAX_ORDER: usize = 3;

/// The 16 bits before a block or a narrow stream (sections 3 and 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head(pub(crate) u16);

impl Head {
    pub(crate) const BYTES: usize = 2;
    pub(crate) const SPLIT: u16 = 1 << 10;
    pub(crate) const STRIP: u16 = 1 << 11;
    /// The predictor code of a stored block.
    pub(crate) const STORED: u16 = 14;
    /// The predictor code of a block with a definition.
    pub(crate) const DEFINED: u16 = 15;
    /// The bits that every head has.
    pub(crate) const WIDTHS: u16 = (1 << 10) - 1;

    pub(crate) const fn stored() -> Self {
        Self(Self::STORED << 12)
    }

    /// A head without flags and without a predictor code.
    pub(crate) const fn widths(minimum: u8, bits: u32) -> Self {
        Self(minimum as u16 | (bits as u16) << 7)
    }

    pub(crate) const fn minimum(self) -> u8 {
        (self.0 & 127) as u8
    }

    /// Bits of a width's offset.
    pub(crate) const fn offset_bits(self) -> u32 {
        (self.0 >> 7 & 7) as u32
    }

    pub(crate) const fn code(self) -> u16 {
        self.0 >> 12
    }

    pub(crate) const fn has(self, flag: u16) -> bool {
        self.0 & flag != 0
    }
}
