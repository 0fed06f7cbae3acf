//! Code compiled for each SIMD tier, and the two operations that tiers implement in their own way.
//!
//! Nearly all of the codec consists of plain loops over blocks, which the compiler vectorises for the tier for which it compiles them; [`run`]
//! selects that once per message.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;

use crate::block::Block;
use crate::unary::{Places, Unary};
use crate::word::Word;
#[cfg(target_arch = "x86_64")]
use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
use avx512::Avx512;
use mpress_codec::simd::Simd;
use scalar::Scalar;

/// The operations that a tier implements in its own way. [`Scalar`] defines the results.
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

/// Runs `work` with the best kernel for this tier.
pub(crate) fn run<T: Work>(simd: Simd, work: T) -> T::Output {
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(kernel) = Avx512::new(simd) {
            return kernel.run(work);
        }
        if let Some(kernel) = Avx2::new(simd) {
            return kernel.run(work);
        }
    }
    let _ = simd;
    work.run(Scalar)
}
