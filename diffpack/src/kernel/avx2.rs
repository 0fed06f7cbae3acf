//! The kernel for AVX2 and BMI2: a group fills two vectors.

mod fixed;
mod pack;
mod predict;
mod split;
mod undo;

use super::{Chore, Compiled, Kernel, LAGS, Span, Words};
use crate::block::{Block, Bytes, Mask, Widths, byte_bits};
use crate::word::Word;
use mpress_codec::support::Avx2;
use mpress_codec::{Full, Out};
pub(super) use pack::sum_and_ends;

impl<W: Word> Kernel<W> for Avx2 {
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
    fn undo_difference(self, residuals: &Block, lags: &[u16], before: &[u8], words: &mut Words) {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { undo::undo_difference::<W>(residuals, lags, before, words) }
    }
    fn undo_below(self, residuals: &Block, maximum: W, rotation: u32, words: &mut Bytes) {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { undo::undo_below::<W>(residuals, maximum, rotation, words) }
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
    fn unstrip(self, residuals: &mut Block, counts: &Widths) {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { fixed::unstrip::<W>(residuals, counts) }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn spread(packed: u64, bits: u32) -> u64 {
    core::arch::x86_64::_pdep_u64(packed, byte_bits(bits))
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn gather(spread: u64, bits: u32) -> u64 {
    core::arch::x86_64::_pext_u64(spread, byte_bits(bits))
}
