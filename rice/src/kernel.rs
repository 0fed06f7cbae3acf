//! Who does the work: code compiled for each SIMD level, and the two things that levels do in ways of their own.
//!
//! Nearly all of the codec is plain loops over blocks, which the compiler turns into vectors of the level it compiles them
//! for; [`run`] chooses that once per message.
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
use mpress_codec::simd::Level;
use scalar::Scalar;

/// What a level does in its own way. [`Scalar`] defines the results.
pub(crate) trait Kernel: Copy {
    /// The places of the ones of the first `len` bytes, and how many there are.
    fn places(self, unary: &Unary, len: usize, places: &mut Places) -> usize;
    /// Turns zigzagged differences into words, the first by the word before it.
    fn undo_delta<W: Word>(self, residuals: &mut Block<W>, before: W);
}

/// Work for a kernel. `run` and what it calls are inlined, so that they are compiled for the kernel's level.
pub(crate) trait Work {
    /// What it gives.
    type Output;
    /// Does it.
    fn run<K: Kernel>(self, kernel: K) -> Self::Output;
}

/// Does the work with the best kernel for this level.
pub(crate) fn run<T: Work>(level: Level, work: T) -> T::Output {
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(kernel) = Avx512::new(level) {
            return kernel.run(work);
        }
        if let Some(kernel) = Avx2::new(level) {
            return kernel.run(work);
        }
    }
    let _ = level;
    work.run(Scalar)
}
