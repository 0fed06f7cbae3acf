//! The operations on blocks: a [`Kernel`] for each SIMD tier. [`scalar`] defines the operations; every other kernel gives the same result for every
//! input, valid or not.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;

use super::block::{Block, Body, Widths};
use super::past::Past;
use super::probe::Sample;
use super::window::View;
use crate::word::Word;
use mpress_codec::{Full, Out};
use mpress_codec_support::kernels;

/// Operations on blocks of words `W` in `lanes` lanes (section 10.2 of the format gives the limits).
pub(super) trait Kernel<W>: Copy {
    /// The residuals of a block (format, section 10.3).
    fn residuals(self, window: View<'_>, lanes: usize, residuals: &mut Block);
    /// The inverse: reconstructs the block of `past` from the elements before it.
    fn restore(self, residuals: &Block, lanes: usize, past: &mut Past);
    /// The width of each group as stored on the wire (format, section 10.5).
    fn widths(self, residuals: &Block) -> Widths;
    /// Appends the words of the block's first `len` bytes, packed with the width of each group.
    fn pack(self, residuals: &Block, widths: Widths, len: usize, out: &mut Out<'_>) -> Result<(), Full>;
    /// The inverse for groups of full length. In a shorter group the words past its end are arbitrary.
    fn unpack(self, body: &Body, widths: &Widths, residuals: &mut Block);
    /// The sum of the widths of the magnitudes of second differences in the groups of some samples.
    fn bits(self, samples: &[&Sample], lanes: usize) -> u32;
}

/// An operation to run with a kernel. `run` and what it calls for every block are inlined into the kernel's entry function.
pub(super) trait Work<W> {
    /// The result.
    type Output;
    /// Runs the operation.
    fn run<K: Kernel<W>>(self, kernel: K) -> Self::Output;
}

kernels! {
    /// Runs `work` with the best kernel for this tier.
    pub(super) fn with<W: Word>(Work<W>);
    scalar::Scalar, |kernel| kernel, |kernel| kernel
}
