//! Element kinds: the type of a message's elements.
#![forbid(unsafe_code)]

use core::fmt;

/// The element kind of a message, which determines the codecs that may compress it well. It is a hint: every codec is lossless for every byte
/// string.
///
/// Matches on it should be exhaustive: a new kind means a new version of the frame, and each layer must say how it treats that kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Bytes without a known structure: packed, mixed or derived data.
    Other = 0,
    /// Integers of 8 bits, and characters.
    Int8 = 1,
    /// Integers of 16 bits.
    Int16 = 2,
    /// Integers of 32 bits.
    Int32 = 3,
    /// Integers of 64 bits.
    Int64 = 4,
    /// IEEE 754 floats of 32 bits, single or in pairs (complex).
    F32 = 5,
    /// IEEE 754 floats of 64 bits, single or in pairs (complex).
    F64 = 6,
}

impl Kind {
    /// All kinds in the order of their wire bytes.
    pub const ALL: [Self; 7] =
        [Self::Other, Self::Int8, Self::Int16, Self::Int32, Self::Int64, Self::F32, Self::F64];

    /// The kind with this wire byte; `None` if there is none.
    #[must_use]
    pub fn from_wire(byte: u8) -> Option<Self> {
        Self::ALL.get(usize::from(byte)).copied()
    }

    /// A short name for reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Other => "other",
            Self::Int8 => "int8",
            Self::Int16 => "int16",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// The length of an element in bytes; 1 if the kind does not determine it.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Self::Other | Self::Int8 => 1,
            Self::Int16 => 2,
            Self::Int32 | Self::F32 => 4,
            Self::Int64 | Self::F64 => 8,
        }
    }
}

impl fmt::Display for Kind {
    /// Writes the [`name`](Self::name).
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn a_kind_is_displayed_by_its_name() {
        assert_eq!(format!("{:6}|{}", Kind::F64, Kind::Other), "f64   |other");
    }
}
