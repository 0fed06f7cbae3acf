//! The reference kernel: portable code that defines the result of every kernel.
//!
//! Functions that the other kernels call are always inlined, so that they are compiled for those kernels' instructions.
#![forbid(unsafe_code)]

mod fixed;
mod pack;
mod predict;
mod split;
mod undo;

use super::{Kernel, LAGS, Span, Words};
use crate::block::{Block, Bytes, Group, Mask, Widths};
use crate::word::Word;
pub(super) use fixed::{span, strip, to_fixed, to_float};
use mpress_codec::{Full, Out};
pub(super) use pack::{ROOM, packed_len, sum_and_ends, used};
pub(super) use predict::{lag_scores, shifts, term, terms};
pub(super) use undo::{SHORT, undo_short};

/// Portable code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scalar;

/// A group as 64-bit lanes.
#[inline(always)]
fn lanes(group: &Group) -> [u64; 8] {
    let mut lanes = [0; 8];
    for (lane, bytes) in lanes.iter_mut().zip(group.as_chunks().0) {
        *lane = u64::from_le_bytes(*bytes);
    }
    lanes
}

impl<W: Word> Kernel<W> for Scalar {
    fn difference(self, bytes: &[u8], at: usize, lags: &[u16], residuals: &mut Block) {
        predict::difference::<W>(bytes, at, lags, residuals);
    }
    fn below(self, words: &Bytes, rotation: u32, residuals: &mut Block) -> W {
        predict::below(words, rotation, residuals)
    }
    fn spread(self, packed: u64, bits: u32) -> u64 {
        pack::spread(packed, bits)
    }
    fn gather(self, spread: u64, bits: u32) -> u64 {
        pack::gather(spread, bits)
    }
    fn widths(self, residuals: &Block) -> Widths {
        predict::widths::<W>(residuals)
    }
    fn difference_cost(self, bytes: &[u8], at: usize, lags: &[u16]) -> u32 {
        predict::difference_cost::<W>(bytes, at, lags)
    }
    fn below_cost(self, bytes: &[u8], at: usize, rotation: u32) -> u32 {
        predict::below_cost::<W>(bytes, at, rotation)
    }
    fn lag_scores(self, bytes: &[u8], places: &[usize], base: usize, first: usize, scores: &mut [u32; LAGS]) {
        predict::lag_scores::<W>(bytes, places, base, first, scores);
    }
    fn above(self, residuals: &Block, width: u32) -> Mask {
        split::above::<W>(residuals, width)
    }
    fn deal(self, residuals: &Block, mask: &Mask, words: usize, wide: &mut Block, narrow: &mut Block) {
        split::deal::<W>(residuals, mask, words, wide, narrow);
    }
    fn collect(self, wide: &Block, narrow: &Block, mask: &Mask, residuals: &mut Block) {
        split::collect::<W>(wide, narrow, mask, residuals);
    }
    fn pack(self, residuals: &Block, widths: &Widths, words: usize, out: &mut Out<'_>) -> Result<(), Full> {
        pack::pack::<W>(residuals, widths, words, out)
    }
    fn unpack(self, wire: &[u8], widths: &Widths, words: usize, residuals: &mut Block) {
        pack::unpack::<W>(wire, widths, words, residuals);
    }
    fn undo_difference(self, residuals: &Block, lags: &[u16], before: &[u8], words: &mut Words) {
        undo::undo_difference::<W>(residuals, lags, before, words);
    }
    fn undo_below(self, residuals: &Block, maximum: W, rotation: u32, words: &mut Bytes) {
        undo::undo_below(residuals, maximum, rotation, words);
    }
    fn to_fixed(self, words: &[u8], unit: u32, fixed: &mut [u8]) {
        fixed::to_fixed::<W>(words, unit, fixed);
    }
    fn to_float(self, fixed: &[u8], unit: u32, words: &mut [u8]) {
        fixed::to_float::<W>(fixed, unit, words);
    }
    fn span(self, words: &[u8], span: &mut Span) {
        fixed::span::<W>(words, span);
    }
    fn trailing_zeros(self, residuals: &Block) -> Widths {
        fixed::trailing_zeros::<W>(residuals)
    }
    fn strip(self, residuals: &mut Block, counts: &Widths) {
        fixed::strip::<W>(residuals, counts);
    }
    fn unstrip(self, residuals: &mut Block, counts: &Widths) {
        fixed::unstrip::<W>(residuals, counts);
    }
}
