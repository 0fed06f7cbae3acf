//! The kernel for AVX2: a group fills two vectors.

mod predict;
mod vector;

use super::Kernel;
use super::scalar::Scalar;
use crate::lanes::block::{Block, Body, Widths, packed_len, used};
use crate::lanes::past::Past;
use crate::lanes::probe::Sample;
use crate::lanes::window::View;
use crate::word::Word;
use mpress_codec::{Full, Out};
use mpress_codec_support::{Avx2, avx2};

impl<W: Word> Kernel<W> for Avx2 {
    #[inline(always)]
    fn residuals(self, window: View<'_>, lanes: usize, residuals: &mut Block) {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { predict::residuals::<W>(window, lanes, residuals) }
    }
    #[inline(always)]
    fn restore(self, residuals: &Block, lanes: usize, past: &mut Past) {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { predict::restore::<W>(residuals, lanes, past) }
    }
    #[inline(always)]
    fn widths(self, residuals: &Block) -> Widths {
        Kernel::<W>::widths(Scalar, residuals)
    }
    #[inline(always)]
    fn pack(self, residuals: &Block, widths: Widths, len: usize, out: &mut Out<'_>) -> Result<(), Full> {
        // SAFETY: `self` proves the features that the call requires; and these are the widths of words, and the length of their groups.
        unsafe { avx2::pack::<W>(&residuals.0, used(&widths, len), packed_len::<W>(&widths, len), out) }
    }
    #[inline(always)]
    fn unpack(self, body: &Body, widths: &Widths, residuals: &mut Block) {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { avx2::unpack::<W>(body, widths, true, &mut residuals.0) }
    }
    #[inline(always)]
    fn bits(self, samples: &[&Sample], lanes: usize) -> u32 {
        Kernel::<W>::bits(Scalar, samples, lanes)
    }
}
