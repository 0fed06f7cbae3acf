//! Constants of the wire format that `docs/format/rice.md` defines. Section numbers refer to that page.
#![forbid(unsafe_code)]

/// Byte 0 of the header (section 2).
pub(crate) const VERSION: u8 = 2;
/// Words of a full block (section 3).
pub(crate) const BLOCK: usize = 256;
/// Bytes of a row of remainders (section 6).
pub(crate) const ROW: usize = 32;
/// The maximum number of bits in a quotient (section 5).
pub(crate) const QUOTIENT_BITS: u32 = 8;

/// The maximum length in bytes of the unary part of a block of `words` words (section 5).
pub(crate) const fn max_unary_len(words: usize) -> usize {
    (3 * words).div_ceil(8)
}

/// The 16 bits before a block (section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// The number of bits of a remainder, 0 to the word's width; the width itself marks a stored block.
    pub(crate) parameter: u32,
    /// The mapping's code, 0 to 3.
    pub(crate) mapping: u8,
    /// Length in bytes of the unary part. If it is 0, all quotients are 0.
    pub(crate) unary_len: usize,
}

impl Head {
    pub(crate) const BYTES: usize = 2;

    pub(crate) const fn to_bytes(self) -> [u8; Self::BYTES] {
        (self.parameter as u16 | (self.mapping as u16) << 7 | (self.unary_len as u16) << 9).to_le_bytes()
    }

    pub(crate) const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        let bits = u16::from_le_bytes(bytes);
        Self {
            parameter: (bits & 127) as u32,
            mapping: (bits >> 7 & 3) as u8,
            unary_len: (bits >> 9) as usize,
        }
    }
}
