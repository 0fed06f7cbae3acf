//! Packs remainders to bits and back, a row of lanes at a time (format, section 6).
//!
//! Each lane has its own bit string, and all lanes of a row are shifted by the same count. These are plain loops over lanes; the compiler vectorises
//! them for each tier for which it compiles them.
#![forbid(unsafe_code)]

use crate::block::{Aligned, Block};
use crate::format::BLOCK;
use crate::word::Word;

/// Packed rows followed by one more, which is read but not used.
pub(crate) type Packed<W> = Aligned<[W; BLOCK + 32]>;

/// Packs the lowest `bits` bits (fewer than a word has) of the words in `rows` rows of `L`.
#[inline(always)]
pub(crate) fn pack<W: Word, const L: usize>(words: &Block<W>, rows: usize, bits: u32, packed: &mut Block<W>) {
    let mask = low_bits::<W>(bits);
    let mut to = packed.0.as_chunks_mut::<L>().0.iter_mut();
    let mut filling = [W::ZERO; L];
    let mut filled = 0;
    for row in words.0.as_chunks::<L>().0.iter().take(rows) {
        let row = row.map(|word| word & mask);
        for (lane, word) in filling.iter_mut().zip(row) {
            *lane = *lane | word << filled;
        }
        filled += bits;
        if filled >= W::BITS {
            filled -= W::BITS;
            if let Some(to) = to.next() {
                *to = filling;
            }
            // The bits that did not fit; 0 if all fitted, because no word has more than `bits` bits.
            filling = row.map(|word| word >> (bits - filled));
        }
    }
    if let Some(to) = to.next() {
        *to = filling;
    }
}

/// The inverse of [`pack`]. Words after these rows are unchanged.
#[inline(always)]
pub(crate) fn unpack<W: Word, const L: usize>(
    packed: &Packed<W>,
    rows: usize,
    bits: u32,
    words: &mut Block<W>,
) {
    let mask = low_bits::<W>(bits);
    let from = packed.0.as_chunks::<L>().0;
    let mut at = 0;
    for to in words.0.as_chunks_mut::<L>().0.iter_mut().take(rows) {
        let (row, shift) = (at / W::BITS, at % W::BITS);
        at += bits;
        let &[lower, upper] =
            from.get(row as usize..).and_then(<[_]>::first_chunk).unwrap_or(&[[W::ZERO; L]; 2]);
        for ((to, lower), upper) in to.iter_mut().zip(lower).zip(upper) {
            // If the word ends before its packed word does, the bits of the next word are masked out.
            *to = (lower >> shift | upper << 1 << (W::BITS - 1 - shift)) & mask;
        }
    }
}

/// A word with the lowest `bits` bits set (fewer than a word has).
#[inline(always)]
fn low_bits<W: Word>(bits: u32) -> W {
    (W::ONE << bits).minus(W::ONE)
}
