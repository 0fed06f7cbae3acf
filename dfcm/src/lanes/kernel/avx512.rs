//! The kernel for AVX-512: a group fills a vector.

mod predict;
mod vector;

use super::Kernel;
use crate::lanes::block::{Block, Body, Widths, packed_len, used};
use crate::lanes::past::Past;
use crate::lanes::probe::Sample;
use crate::lanes::window::View;
use crate::word::Word;
use mpress_codec::{Full, Out};
use mpress_codec_support::{Avx512, avx512};

impl<W: Word> Kernel<W> for Avx512 {
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
        // SAFETY: `self` proves the features that the call requires.
        unsafe { predict::widths::<W>(residuals) }
    }
    #[inline(always)]
    fn pack(self, residuals: &Block, widths: Widths, len: usize, out: &mut Out<'_>) -> Result<(), Full> {
        // SAFETY: `self` proves the features that the call requires; and these are the widths of words, and the length of their groups.
        unsafe {
            avx512::pack::<W, false>(
                &residuals.0,
                used(&widths, len),
                packed_len::<W>(&widths, len),
                false,
                out,
            )
        }
    }
    #[inline(always)]
    fn unpack(self, body: &Body, widths: &Widths, residuals: &mut Block) {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { avx512::unpack::<W>(body, widths, true, &mut residuals.0) }
    }
    #[inline(always)]
    fn bits(self, samples: &[&Sample], lanes: usize) -> u32 {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { predict::bits::<W>(samples, lanes) }
    }
}
