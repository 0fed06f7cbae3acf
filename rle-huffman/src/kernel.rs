//! The operations that SIMD tiers implement differently: a [`Kernel`] for each tier.
//!
//! A message's encoder or decoder is generic over its kernel; [`with`] selects it once per message. [`scalar`] defines the operations: every other
//! kernel gives the same result for every input.
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
use mpress_codec::{Full, Out};
use mpress_codec_support::kernels;

/// The operations of a SIMD tier.
pub trait Kernel: Copy {
    /// Splits elements of two or more bytes into byte planes: first the first byte of each element, then the second byte of each, and so on. Both
    /// slices have the same length, a multiple of the width.
    fn split(self, elements: &[u8], width: Width, planes: &mut [u8]);
    /// The inverse of [`split`](Kernel::split). There are as many planes as the width has bytes, all of the same length.
    fn join(self, planes: &[&[u8]; 8], width: Width, elements: &mut [u8]);
    /// Marks each symbol that is followed by an equal one: bit *i* of `marks`, lowest bit of a byte first, for symbol *i*. `bytes` consists of whole
    /// symbols; bits of `marks` beyond their number are not written.
    fn mark_equal(self, bytes: &[u8], symbol: Width, marks: &mut [u8]);
    /// Appends the codes of these symbols, padded with zeros to a whole byte.
    fn pack(self, symbols: &[u8], codes: &Codes, out: &mut Out<'_>) -> Result<(), Full>;
}

/// An operation to run with a kernel. `run` and what it calls for every symbol are inlined into the kernel's `enter`.
pub(crate) trait Work {
    /// The result.
    type Output;
    /// Runs the operation.
    fn run<K: Kernel>(self, kernel: K) -> Self::Output;
}

kernels! {
    /// Runs `work` with the best kernel for this tier.
    pub(crate) fn with(Work);
    scalar::Scalar, |kernel| kernel, |kernel| kernel
}
