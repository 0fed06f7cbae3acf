//! The kernel for AVX2: a group fills two vectors. It unpacks bits with the portable code.

mod pack;
mod predict;
mod vector;

use super::Kernel;
use super::scalar::Scalar;
use crate::lanes::block::{Block, Body, Widths};
use crate::lanes::past::Past;
use crate::lanes::probe::Sample;
use crate::lanes::window::View;
use crate::word::Word;
use mpress_codec::support::Avx2;
use mpress_codec::{Full, Out};

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
        // SAFETY: `self` proves the features that the call requires.
        unsafe { pack::pack::<W>(residuals, widths, len, out) }
    }
    #[inline(always)]
    fn unpack(self, body: &Body, widths: Widths, residuals: &mut Block) {
        Kernel::<W>::unpack(Scalar, body, widths, residuals)
    }
    #[inline(always)]
    fn bits(self, samples: &[&Sample], lanes: usize) -> u32 {
        Kernel::<W>::bits(Scalar, samples, lanes)
    }
}
