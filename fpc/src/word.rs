//! The word: the differences between 64-bit and 32-bit values.
#![forbid(unsafe_code)]

/// A value, with the operations that this crate needs.
pub trait Word: mpress_codec_support::Word {
    /// The number of most significant bits that the hashes use: the sign and the exponent of a float (format, section 3).
    const TOP_BITS: u32;

    /// The number of bytes up to the highest set bit.
    #[inline(always)]
    fn byte_len(self) -> u8 {
        self.width().div_ceil(8) as u8
    }
}

impl Word for u64 {
    const TOP_BITS: u32 = 12;
}

impl Word for u32 {
    const TOP_BITS: u32 = 9;
}
