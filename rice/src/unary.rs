//! The unary part of a block: each quotient is coded as that number of zeros followed by a one (format, section 5).
#![forbid(unsafe_code)]

use crate::format::BLOCK;
use crate::parameter::{Quotients, sum};

/// A unary part of any length that a head can give, at least 32 bytes longer than a valid one. When read, it is followed by zeros; when written, the
/// rest is arbitrary.
pub(crate) type Unary = [u8; 128];

pub(crate) const ZERO: Unary = [0; 128];

/// The position of each one in a unary part, modulo 256, from index 1 on, with room for the excess of a store.
pub(crate) type Places = [u8; 1 + 128 * 8 + 64];

pub(crate) const NO_PLACES: Places = [0; 1 + 128 * 8 + 64];

const EACH: u64 = 0x0101_0101_0101_0101;

/// Codes `count` quotients, shifted right by `by`, in at most 768 bits. Returns the number of bytes.
#[inline(always)]
pub(crate) fn encode(quotients: &Quotients, by: u32, count: usize, unary: &mut Unary) -> usize {
    let mut bits = Bits { unary, at: 0, word: 0, filled: 0 };
    let (eights, _) = quotients.0.as_chunks::<8>();
    let low = EACH * (0xff >> by);
    let mut left = count;
    for eight in eights {
        let eight = u64::from_le_bytes(*eight) >> by & low;
        // In each byte, the position of its quotient's one, provided that all of them fit in a byte.
        let places = eight.wrapping_mul(EACH).wrapping_add(0x0706_0504_0302_0100);
        if left >= 8 && eight & (EACH * 0xe0) == 0 && places >> 56 < Bits::MOST as u64 {
            let mut code = 0;
            for i in 0..8 {
                code |= 1 << (places >> (8 * i) & 63);
            }
            bits.push(code, (places >> 56) as u32 + 1);
        } else {
            for quotient in eight.to_le_bytes().into_iter().take(left) {
                bits.push_quotient(quotient.into());
            }
        }
        left = left.saturating_sub(8);
    }
    bits.finish()
}

/// Bits that are written from the least significant one of a byte on.
struct Bits<'a> {
    unary: &'a mut Unary,
    at: usize,
    /// The bits from byte `at` on.
    word: u64,
    /// The number of bits in it, below 8.
    filled: u32,
}

impl Bits<'_> {
    /// The maximum number of bits per push.
    const MOST: u32 = 56;

    #[inline(always)]
    fn push(&mut self, code: u64, len: u32) {
        self.word |= code << self.filled;
        self.filled += len;
        if let Some(to) = self.unary.get_mut(self.at..).and_then(<[_]>::first_chunk_mut) {
            *to = self.word.to_le_bytes();
        }
        self.at += self.filled as usize / 8;
        self.word = self.word.unbounded_shr(self.filled & !7);
        self.filled %= 8;
    }

    fn push_quotient(&mut self, mut quotient: u32) {
        while quotient >= Self::MOST {
            self.push(0, Self::MOST);
            quotient -= Self::MOST;
        }
        self.push(1 << quotient, quotient + 1);
    }

    fn finish(self) -> usize {
        self.at + usize::from(self.filled > 0)
    }
}

/// For each byte, the positions of its ones, one byte each.
static PLACES: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut ones) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[byte][ones] = bit;
                ones += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
};

/// Finds the ones in the first `len` bytes. Returns their number.
#[inline(always)]
pub(crate) fn places(unary: &Unary, len: usize, places: &mut Places) -> usize {
    let mut ones = 0;
    for (byte, i) in unary.iter().take(len).zip(0_u64..) {
        // There are no carries between bytes: the positions in the table are below 8, and multiples of 8 are added.
        let base = EACH * (8 * i % 256);
        let found = u64::from_le_bytes(PLACES[usize::from(*byte)]) | base;
        if let Some(to) = places.get_mut(1 + ones..).and_then(<[_]>::first_chunk_mut) {
            *to = found.to_le_bytes();
        }
        ones += byte.count_ones() as usize;
    }
    ones
}

/// The first `count` quotients, from the positions of that number of ones, followed by zeros. `None` if one of them is above 255, which no encoder
/// writes: positions are kept modulo 256. The last byte of the unary part, which contains a one, is the `len`th.
#[inline(always)]
pub(crate) fn quotients(
    unary: &Unary,
    len: usize,
    places: &mut Places,
    count: usize,
    quotients: &mut Quotients,
) -> Option<()> {
    // As if there were a one before the first bit.
    places[0] = u8::MAX;
    let (before, after) = (places.first_chunk::<BLOCK>(), places[1..].first_chunk::<BLOCK>());
    if let (Some(before), Some(after)) = (before, after) {
        for ((quotient, before), after) in quotients.0.iter_mut().zip(before).zip(after) {
            *quotient = after.wrapping_sub(*before).wrapping_sub(1);
        }
    }
    if let Some(after) = quotients.0.get_mut(count..) {
        after.fill(0);
    }
    let last = unary.get(len.checked_sub(1)?)?;
    let zeros = (8 * len).checked_sub(count + last.leading_zeros() as usize)?;
    // With fewer zeros, such a quotient cannot occur. Otherwise each one makes the sum too small by a multiple of 256.
    (zeros <= usize::from(u8::MAX) || sum(&quotients.0, 0) as usize == zeros).then_some(())
}

/// Whether all quotients have at most `bits` bits; `bits` is at most 8.
#[inline(always)]
pub(crate) fn fit(quotients: &Quotients, bits: u32) -> bool {
    let union = quotients.0.iter().fold(0, |union, quotient| union | quotient);
    u32::from(union) >> bits == 0
}
