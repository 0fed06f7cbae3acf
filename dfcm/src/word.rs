//! The word: the differences between 64-bit and 32-bit elements.
#![forbid(unsafe_code)]

use crate::entries;
use crate::format::{BLOCK, BODY, COUNT_BITS};
use crate::lanes::GROUP;

/// An element, with the operations that this crate needs, such as its layout in a table and in the body of a block.
pub trait Word: mpress_codec_support::Word + entries::Word {
    /// The unit of a leading-zero count in bits: a sixteenth of the word.
    const UNIT: u32 = Self::BITS >> COUNT_BITS;
    /// The number of 64-bit words of memory in a table line.
    const LINE_WORDS: usize = Self::WIDTH / 4;
    /// Words in a group of interleaved lanes; also the minimum number of lanes.
    const PER_GROUP: usize = GROUP / Self::WIDTH;

    /// The number of leading zero bits, less than the word's width.
    #[inline(always)]
    fn zeros(self) -> u32 {
        Self::BITS - (self | Self::ONE).width()
    }

    /// The two words of the line at word `index` of the table.
    fn load_line(table: &[u64], index: usize) -> (Self, Self);
    fn store_line(table: &mut [u64], index: usize, line: (Self, Self));

    /// Inserts the lowest `bits` bits of `self`, whose other bits are 0, after the `held % 8` bits of `carry`. Returns 8 bytes to store, and the
    /// remaining bits of the last byte if it is partly filled.
    fn append(self, bits: u32, held: u32, carry: u64) -> (u64, u64);
    /// Extracts `bits` bits from bit `at` of a body.
    fn extract(body: &[u8; BODY], at: u32, bits: u32) -> Self;
}

/// A line is two words. The carry is half a byte or empty, because units are 4 bits.
impl Word for u64 {
    #[inline(always)]
    fn load_line(table: &[u64], index: usize) -> (Self, Self) {
        let second = table[index | 1];
        (table[index], second)
    }

    #[inline(always)]
    fn store_line(table: &mut [u64], index: usize, line: (Self, Self)) {
        table[index | 1] = line.1;
        table[index] = line.0;
    }

    #[inline(always)]
    fn append(self, bits: u32, held: u32, carry: u64) -> (u64, u64) {
        // With 64 bits after 4, this shifts out the top half byte, which is the carry.
        let stored = self << (held & 4) | carry;
        let top_half_byte = self >> ((bits - 4) & 63);
        let is_left = u64::from((held + bits) & 4 != 0);
        (stored, top_half_byte & is_left.wrapping_neg())
    }

    #[inline(always)]
    fn extract(body: &[u8; BODY], at: u32, bits: u32) -> Self {
        // 64 bits that start in the middle of a byte extend into a ninth one, so combine two overlapping windows, one byte apart.
        let (byte, shift) = place(at);
        let window = window(body, byte) >> shift | window(body, byte + 1) << (8 - shift);
        low(window, bits)
    }
}

/// A line is one word; its lower half is the first word. A window of 64 bits holds a residual at any offset.
impl Word for u32 {
    #[inline(always)]
    fn load_line(table: &[u64], index: usize) -> (Self, Self) {
        let line = table[index];
        (line as u32, (line >> 32) as u32)
    }

    #[inline(always)]
    fn store_line(table: &mut [u64], index: usize, line: (Self, Self)) {
        table[index] = u64::from(line.0) | u64::from(line.1) << 32;
    }

    #[inline(always)]
    fn append(self, bits: u32, held: u32, carry: u64) -> (u64, u64) {
        let held = held % 8;
        let stored = u64::from(self) << held | carry;
        (stored, stored >> ((held + bits) & 0x38))
    }

    #[inline(always)]
    fn extract(body: &[u8; BODY], at: u32, bits: u32) -> Self {
        let (byte, shift) = place(at);
        low(window(body, byte) >> shift, bits) as u32
    }
}

/// The byte and the bit within it of bit `at` of a body. The remainder has no effect, since every residual starts within [`BLOCK`] bytes; it shows
/// the compiler that windows stay within [`BODY`] bytes.
#[inline(always)]
pub(crate) fn place(at: u32) -> (usize, u32) {
    ((at / 8) as usize % BLOCK, at % 8)
}

/// The eight bytes from byte `at`.
#[inline(always)]
fn window(body: &[u8; BODY], at: usize) -> u64 {
    body[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// The lowest `bits` bits (1 to 64).
#[inline(always)]
fn low(window: u64, bits: u32) -> u64 {
    let others = (64 - bits) & 63;
    window << others >> others
}
