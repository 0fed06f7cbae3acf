//! Canonical codes: the lengths alone determine the codes (`docs/format/huffman.md`, section 2).
#![forbid(unsafe_code)]

use super::Lengths;
use crate::format::MAX_BITS;

/// The code of each symbol: its bits, the last one lowest, and its length.
#[derive(Clone, Debug)]
pub struct Codes {
    pub(crate) codes: [u16; 256],
    pub(crate) lengths: Lengths,
}

/// A quarter of the symbols.
const QUARTER: usize = 64;

impl Codes {
    /// Shorter codes come before longer ones, and codes of one length are in the order of their symbols.
    #[inline(always)]
    pub(crate) fn new(lengths: &Lengths) -> Self {
        // Each quarter of the symbols has its own counts: otherwise repeated equal lengths would wait for their own
        // count.
        let quarters = lengths.as_chunks::<QUARTER>().0;
        let mut of_length = [[0_u16; 16]; 4];
        for i in 0..QUARTER {
            for (of_length, lengths) in of_length.iter_mut().zip(quarters) {
                of_length[usize::from(lengths[i] % 16)] += 1;
            }
        }
        // The next code of each length in each quarter.
        let mut next = [[0_u16; 16]; 4];
        let mut code = 0;
        for length in 1..=MAX_BITS as usize {
            code <<= 1;
            for (next, of_length) in next.iter_mut().zip(&of_length) {
                next[length] = code;
                code += of_length[length];
            }
        }
        let mut codes = [0; 256];
        for i in 0..QUARTER {
            let quarters = codes.as_chunks_mut::<QUARTER>().0.iter_mut().zip(quarters);
            for ((codes, lengths), next) in quarters.zip(&mut next) {
                let length = lengths[i];
                let next = &mut next[usize::from(length % 16)];
                codes[i] = *next;
                *next += u16::from(length > 0);
            }
        }
        Self { codes, lengths: *lengths }
    }

    /// The code of a symbol and its length.
    #[inline(always)]
    pub(crate) fn of(&self, symbol: u8) -> (u64, u32) {
        (self.codes[usize::from(symbol)].into(), self.lengths[usize::from(symbol)].into())
    }
}
