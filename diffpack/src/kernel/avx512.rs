//! The kernel for AVX-512: a group fills a vector.

/// Repeats the body for each of some vectors, with `$i` constant, so that the vectors stay in registers. The steps of a group wait for each other;
/// those of other groups fill the gaps.
macro_rules! each {
    ($i:ident, $body:block) => {
        each!(@ $i, $body, 0, 1, 2, 3, 4, 5, 6, 7)
    };
    (@ $i:ident, $body:block, $($n:literal),*) => {
        $({
            const $i: usize = $n;
            $body
        })*
    };
}

mod fixed;
mod pack;
mod predict;
mod rebuild;
mod short;
mod split;

use super::avx2::sum_and_ends;
use super::{Chore, Compiled, Kernel, LAGS, Span};
use crate::block::{Block, Bytes, Mask, Widths, byte_bits};
use crate::rebuild::{Form, Packed, Scratch};
use crate::word::Word;
use mpress_codec::support::Avx512;
use mpress_codec::{Full, Out};

impl<W: Word> Kernel<W> for Avx512 {
    #[inline]
    fn compiled<T: Chore>(self, chore: T) -> T::Output {
        self.run(Compiled(chore))
    }
    fn difference(self, bytes: &[u8], at: usize, lags: &[u16], residuals: &mut Block) {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { predict::difference::<W>(bytes, at, lags, residuals) }
    }
    fn below(self, words: &Bytes, rotation: u32, residuals: &mut Block) -> W {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { predict::below::<W>(words, rotation, residuals) }
    }
    #[inline]
    fn spread(self, packed: u64, bits: u32) -> u64 {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { spread(packed, bits) }
    }
    #[inline]
    fn gather(self, spread: u64, bits: u32) -> u64 {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { gather(spread, bits) }
    }
    fn widths(self, residuals: &Block) -> Widths {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { predict::widths::<W>(residuals) }
    }
    #[inline]
    fn sum_and_ends(self, widths: &Widths, groups: usize) -> (usize, u8, u8) {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { sum_and_ends(widths, groups) }
    }
    fn difference_cost(self, bytes: &[u8], at: usize, lags: &[u16]) -> u32 {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { predict::difference_cost::<W>(bytes, at, lags) }
    }
    fn below_cost(self, bytes: &[u8], at: usize, rotation: u32) -> u32 {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { predict::below_cost::<W>(bytes, at, rotation) }
    }
    fn lag_scores(self, bytes: &[u8], places: &[usize], base: usize, first: usize, scores: &mut [u32; LAGS]) {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { predict::lag_scores::<W>(bytes, places, base, first, scores) }
    }
    fn above(self, residuals: &Block, width: u32) -> Mask {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { split::above::<W>(residuals, width) }
    }
    fn deal(self, residuals: &Block, mask: &Mask, words: usize, wide: &mut Block, narrow: &mut Block) {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { split::deal::<W>(residuals, mask, words, wide, narrow) }
    }
    fn collect(self, wide: &Block, narrow: &Block, mask: &Mask, residuals: &mut Block) {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { split::collect::<W>(wide, narrow, mask, residuals) }
    }
    fn pack(self, residuals: &Block, widths: &Widths, words: usize, out: &mut Out<'_>) -> Result<(), Full> {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { pack::pack::<W>(residuals, widths, words, out) }
    }
    fn unpack(self, wire: &[u8], widths: &Widths, words: usize, residuals: &mut Block) {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { pack::unpack::<W>(wire, widths, words, residuals) }
    }
    fn rebuild(
        self,
        packed: Option<Packed<'_>>,
        form: &Form<'_, W>,
        scratch: &mut Scratch,
        start: usize,
        out: &mut Out<'_>,
    ) -> Result<(), Full> {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { rebuild::rebuild::<W>(packed, form, &scratch.residuals, start, out) }
    }
    fn to_fixed(self, words: &[u8], unit: u32, fixed: &mut [u8]) {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { fixed::to_fixed::<W>(words, unit, fixed) }
    }
    fn to_float(self, fixed: &[u8], unit: u32, words: &mut [u8]) {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { fixed::to_float::<W>(fixed, unit, words) }
    }
    fn span(self, words: &[u8], seen: &mut Span) {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { fixed::span::<W>(words, seen) }
    }
    fn trailing_zeros(self, residuals: &Block) -> Widths {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { fixed::trailing_zeros::<W>(residuals) }
    }
    fn strip(self, residuals: &mut Block, counts: &Widths) {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { fixed::strip::<W>(residuals, counts) }
    }
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn spread(packed: u64, bits: u32) -> u64 {
    core::arch::x86_64::_pdep_u64(packed, byte_bits(bits))
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn gather(spread: u64, bits: u32) -> u64 {
    core::arch::x86_64::_pext_u64(spread, byte_bits(bits))
}
