//! Canonical codes: the lengths alone say which code is whose (`docs/format/huffman.md`, section 2).
#![forbid(unsafe_code)]

use super::Lengths;
use crate::format::MAX_BITS;

/// The code of each symbol: its bits, the last one lowest, and how many there are.
#[derive(Clone, Debug)]
pub struct Codes {
    pub(crate) codes: [u16; 256],
    pub(crate) lengths: Lengths,
}

impl Codes {
    /// Shorter codes before longer ones, and those of one length by their symbols.
    #[inline(always)]
    pub(crate) fn new(lengths: &Lengths) -> Self {
        let mut of_length = [0_u16; 16];
        for length in lengths {
            of_length[usize::from(*length % 16)] += 1;
        }
        let mut next = [0_u16; 16];
        for length in 1..MAX_BITS as usize {
            next[length + 1] = (next[length] + of_length[length]) << 1;
        }
        let mut codes = [0; 256];
        for (code, length) in codes.iter_mut().zip(lengths) {
            let next = &mut next[usize::from(*length % 16)];
            *code = *next;
            *next += u16::from(*length > 0);
        }
        Self { codes, lengths: *lengths }
    }

    /// The code of a symbol and its length.
    #[inline(always)]
    pub(crate) fn of(&self, symbol: u8) -> (u64, u32) {
        (self.codes[usize::from(symbol)].into(), self.lengths[usize::from(symbol)].into())
    }
}
