//! Tables that map the next 11 bits of a stream to symbols: one per look-up, or up to four.
#![forbid(unsafe_code)]

use super::lengths::Alphabet;
use crate::format::MAX_BITS;

/// Entries of a table.
const SIZE: usize = 1 << MAX_BITS;
/// The number of look-ups for which the 57 bits of a window suffice.
const LOOKUPS: usize = 5;
/// The maximum number of symbols in an entry of [`Fours`].
const MOST: usize = 4;

/// A table for which five look-ups yield at most `WINDOW` bytes.
pub(crate) trait Lookup<const WINDOW: usize> {
    /// Decodes from the top of `bits`. Returns the number of symbols and the number of bits they took.
    fn five(&self, bits: u64, window: &mut [u8; WINDOW]) -> (usize, usize);
}

/// For each 11 bits, the symbol whose code is a prefix of them.
#[derive(Clone, Debug)]
pub(crate) struct Ones {
    /// The length is in the low byte, the symbol in the high byte. Has spare entries, so that short ranges can be written at once.
    entries: [u16; SIZE + SPARE],
}

const SPARE: usize = 8;

impl Ones {
    pub(crate) const EMPTY: Self = Self { entries: [0; _] };

    /// The entries of the alphabet in the order of their codes.
    #[inline(always)]
    fn in_order(alphabet: &Alphabet) -> [u16; 256] {
        let mut next = [0_u16; 16];
        let mut sum = 0;
        for (next, count) in next.iter_mut().zip(alphabet.of_length) {
            (sum, *next) = (sum + count, sum);
        }
        let mut order = [0; 256];
        for entry in alphabet.entries() {
            let next = &mut next[usize::from(entry % 16)];
            order[usize::from(*next % 256)] = *entry;
            *next += 1;
        }
        order
    }

    #[inline(always)]
    pub(crate) fn fill(&mut self, alphabet: &Alphabet) {
        let mut at = 0;
        for entry in &Self::in_order(alphabet)[..alphabet.entries().len()] {
            let len = SIZE >> (entry & 15);
            // The next range overwrites the excess of a range: codes are in ascending order.
            match self.entries.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<SPARE>()) {
                Some(few) if len <= SPARE => *few = [*entry; SPARE],
                _ => self.entries[at..at + len].fill(*entry),
            }
            at += len;
        }
    }

    /// Length and symbol of the code at the top of `bits`.
    #[inline(always)]
    pub(crate) fn one(&self, bits: u64) -> (usize, u8) {
        let entry = self.entries[(bits >> (64 - MAX_BITS)) as usize];
        (usize::from(entry & 255), (entry >> 8) as u8)
    }
}

impl Lookup<LOOKUPS> for Ones {
    #[inline(always)]
    fn five(&self, mut bits: u64, window: &mut [u8; LOOKUPS]) -> (usize, usize) {
        // The sum of the low bytes fits in a byte: five lengths are at most 55.
        let mut sum = 0;
        for symbol in window {
            let entry = u64::from(self.entries[(bits >> (64 - MAX_BITS)) as usize]);
            bits <<= entry & 63;
            sum += entry;
            *symbol = (entry >> 8) as u8;
        }
        (LOOKUPS, (sum & 255) as usize)
    }
}

/// For each 11 bits, all whole codes at their start, at most four.
#[derive(Clone, Debug)]
pub(crate) struct Fours {
    /// The table for *b* bits starts at 2^*b*, that for 11 bits is the last.
    entries: [u64; 2 * SIZE],
}

/// Prepends a symbol to an entry of [`Fours`]: symbols are in bytes 0 to 3, their lengths in four bits each in bytes 4 and 5, the sum of the lengths
/// in byte 6, the number of symbols in byte 7.
#[inline(always)]
fn prefixed(symbol: u64, length: u64, entry: u64) -> u64 {
    let symbols = (entry << 8 | symbol) & 0xffff_ffff;
    let lengths = (entry >> 32 & 0xfff) << 4 | length;
    // A fourth symbol is dropped.
    let last = entry >> 44 & 15;
    let sum = (entry >> 48 & 255) + length - last;
    let count = (entry >> 56) + u64::from(last == 0);
    symbols | lengths << 32 | sum << 48 | count << 56
}

impl Fours {
    pub(crate) const EMPTY: Self = Self { entries: [0; _] };

    /// Fills the tables for increasing numbers of bits: an entry is a symbol followed by the entry for the remaining bits.
    #[inline(always)]
    pub(crate) fn fill(&mut self, alphabet: &Alphabet) {
        let order = Ones::in_order(alphabet);
        self.entries[1] = 0;
        for bits in 1..=MAX_BITS as usize {
            let (smaller, table) = self.entries[..2 << bits].split_at_mut(1 << bits);
            let mut at = 0;
            for entry in &order[..alphabet.entries().len()] {
                let length = usize::from(entry & 15);
                if length > bits {
                    break;
                }
                let len = 1 << (bits - length);
                for (to, from) in table[at..at + len].iter_mut().zip(&smaller[len..2 * len]) {
                    *to = prefixed(u64::from(entry >> 8), length as u64, *from);
                }
                at += len;
            }
            table[at..].fill(0);
        }
    }
}

impl Lookup<{ LOOKUPS * MOST }> for Fours {
    #[inline(always)]
    fn five(&self, mut bits: u64, window: &mut [u8; LOOKUPS * MOST]) -> (usize, usize) {
        let (mut at, mut sum) = (0, 0);
        for _ in 0..LOOKUPS {
            let entry = self.entries[SIZE | (bits >> (64 - MAX_BITS)) as usize];
            bits <<= entry >> 48 & 63;
            sum += entry >> 48 & 255;
            if let Some(to) = window.get_mut(at..at + MOST) {
                to.copy_from_slice(&(entry as u32).to_le_bytes());
            }
            at += (entry >> 56) as usize;
        }
        (at, sum as usize)
    }
}
