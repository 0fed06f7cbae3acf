//! Code compiled for each SIMD tier, and the two operations that tiers implement differently.
//!
//! Nearly all of the codec consists of plain loops over blocks. The compiler vectorises them for each tier for which it compiles them; [`run`]
//! selects the tier once per message.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;

use crate::block::Block;
use crate::unary::{Places, Unary};
use crate::word::Word;
use mpress_codec_support::kernels;

/// The operations that tiers implement differently. [`scalar`] defines the results.
pub(crate) trait Kernel: Copy {
    /// Finds the positions of the ones in the first `len` bytes. Returns their number.
    fn places(self, unary: &Unary, len: usize, places: &mut Places) -> usize;
    /// Turns zigzagged differences into words, the first one relative to `before`.
    fn undo_delta<W: Word>(self, residuals: &mut Block<W>, before: W);
}

/// An operation to run with a kernel. `run` and what it calls are inlined, so that they are compiled for the kernel's tier.
pub(crate) trait Work {
    /// The result.
    type Output;
    /// Runs the operation.
    fn run<K: Kernel>(self, kernel: K) -> Self::Output;
}

kernels! {
    /// Runs `work` with the best kernel for this tier.
    pub(crate) fn run(Work);
    scalar::Scalar, |kernel| kernel, |kernel| kernel
}
