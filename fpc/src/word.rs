//! The word: the differences between 64-bit and 32-bit values.
#![forbid(unsafe_code)]

use mpress_codec::{CodecId, support};

/// A value of a message, as an unsigned integer: `u64` for doubles, `u32` for single floats.
///
/// Sealed, because each word has its own wire format and codec id.
pub trait Word: support::Word {
    /// The codec id of the wire format for this word.
    const ID: CodecId;
    /// The name of the codec for this word.
    const NAME: &'static str;
    /// The number of most significant bits that the hashes use: the sign and the exponent of a float (format, section 3).
    const TOP_BITS: u32;

    /// The number of bytes up to the highest set bit.
    #[doc(hidden)]
    #[inline(always)]
    fn byte_len(self) -> u8 {
        self.width().div_ceil(8) as u8
    }
}

impl Word for u64 {
    const ID: CodecId = CodecId::FPC_F64;
    const NAME: &'static str = "fpc";
    const TOP_BITS: u32 = 12;
}

impl Word for u32 {
    const ID: CodecId = CodecId::FPC_F32;
    const NAME: &'static str = "fpc32";
    const TOP_BITS: u32 = 9;
}
