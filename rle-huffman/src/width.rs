//! Widths of elements and symbols.
#![forbid(unsafe_code)]

/// A width of 1, 2, 4 or 8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Width {
    /// A byte.
    One,
    /// 16 bits.
    Two,
    /// 32 bits.
    Four,
    /// 64 bits.
    Eight,
}

impl Width {
    /// All widths, lowest first.
    pub const ALL: [Self; 4] = [Self::One, Self::Two, Self::Four, Self::Eight];

    /// The width in bytes.
    #[must_use]
    pub const fn bytes(self) -> usize {
        1 << self as u8
    }

    /// The width of this number of bytes; `None` if it does not exist.
    #[must_use]
    pub const fn new(bytes: usize) -> Option<Self> {
        match bytes {
            1 => Some(Self::One),
            2 => Some(Self::Two),
            4 => Some(Self::Four),
            8 => Some(Self::Eight),
            _ => None,
        }
    }

    /// The width whose binary logarithm is in the two lowest bits.
    pub(crate) const fn from_log2(bits: u8) -> Self {
        Self::ALL[(bits & 3) as usize]
    }

    pub(crate) const fn log2(self) -> u8 {
        self as u8
    }
}
