//! The element of a file of messages, from the extension of its name.

use mpress_codec::Kind;
use std::path::Path;

/// The elements of a file of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Element {
    /// Doubles.
    F64,
    /// Floats.
    F32,
    /// Integers of 32 bits.
    I32,
    /// Integers of 64 bits.
    I64,
    /// Integers of 16 bits.
    I16,
    /// Bytes, or elements of several sizes.
    Bin,
}

impl Element {
    /// All elements, in the order of reports.
    pub const ALL: [Self; 6] = [Self::F64, Self::F32, Self::I32, Self::I64, Self::I16, Self::Bin];

    /// The element of the file with this name; `None` if the name is not that of a file of messages.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?;
        Self::ALL.into_iter().find(|element| element.name() == extension)
    }

    /// The extension of files with this element.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::I16 => "i16",
            Self::Bin => "bin",
        }
    }

    /// The kind of messages with this element.
    #[must_use]
    pub const fn kind(self) -> Kind {
        match self {
            Self::F64 => Kind::F64,
            Self::F32 => Kind::F32,
            Self::I32 => Kind::Int32,
            Self::I64 => Kind::Int64,
            Self::I16 => Kind::Int16,
            Self::Bin => Kind::Other,
        }
    }

    /// The size of an element in bytes. For [`Bin`](Self::Bin) it is 8, the widest word of the codecs: bytes without a known element are mostly
    /// structures whose fields are at multiples of that.
    #[must_use]
    pub const fn width(self) -> usize {
        match self {
            Self::F64 | Self::I64 | Self::Bin => 8,
            Self::F32 | Self::I32 => 4,
            Self::I16 => 2,
        }
    }
}
