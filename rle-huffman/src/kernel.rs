//! The work that each SIMD level does in its own way, and who does it: a [`Kernel`] for each level.
//!
//! A message's encoder or decoder is generic over its kernel; [`with`] chooses that once per message. What a kernel
//! does is defined by [`scalar`]: every other one gives the same for every input.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod planes;
mod scalar;

use crate::entropy::Codes;
use crate::width::Width;
use mpress_codec::simd::Level;
use mpress_codec::{Full, Out};

/// The work of a SIMD level.
pub trait Kernel: Copy {
    /// The kernel, where the machine has the instructions.
    fn new(level: Level) -> Option<Self>;
    /// Does the work as code compiled for those instructions.
    fn enter<T: Work>(self, work: T) -> T::Output;

    /// Deals the bytes of elements of two bytes and more to planes: first the first byte of each element, then the
    /// second byte of each, and so on. Both have the same length, a multiple of the width.
    fn split(self, elements: &[u8], width: Width, planes: &mut [u8]);
    /// The inverse of [`split`](Kernel::split). The planes, as many as the width has bytes, are of the same length.
    fn join(self, planes: &[&[u8]; 8], width: Width, elements: &mut [u8]);
    /// Marks each symbol that is followed by the same: bit *i* of `marks`, the lowest one of a byte first, for symbol *i*. The
    /// bytes are whole symbols, and no more of `marks` is written than there are symbols.
    fn mark_equal(self, bytes: &[u8], symbol: Width, marks: &mut [u8]);
    /// Appends the codes of these symbols, one after the other, and zeros up to a whole byte.
    fn pack(self, symbols: &[u8], codes: &Codes, out: &mut Out<'_>) -> Result<(), Full>;
}

/// What to do with a kernel. `run` and what it calls for every symbol are inlined wherever a kernel enters them.
pub trait Work {
    /// What it gives.
    type Output;
    /// Does it.
    fn run<K: Kernel>(self, kernel: K) -> Self::Output;
}

/// Does `work` with the best kernel for this level.
pub(crate) fn with<T: Work>(level: Level, work: T) -> T::Output {
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(kernel) = avx512::Avx512::new(level) {
            return kernel.enter(work);
        }
        if let Some(kernel) = avx2::Avx2::new(level) {
            return kernel.enter(work);
        }
    }
    let _ = level;
    scalar::Scalar.enter(work)
}
