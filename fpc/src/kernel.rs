//! The operations on rows of 64 values: a [`Kernel`] for each SIMD tier.
//!
//! A message's encoder or decoder is generic over its kernel; [`with`] selects it once per message. [`scalar`] defines the operations: every other
//! kernel gives the same result for every input.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;

use crate::block::{Row, RowBytes};
use crate::classes::LENGTHS;
use crate::format::{MAX_CLASSES, PACKED};
use crate::word::Word;
use mpress_codec_support::kernels;

/// Operations on rows.
pub(crate) trait Kernel: Copy {
    /// Removes [`PICKED`](crate::format::PICKED) from the lengths, returns its bit plane, and adds the number of occurrences of each length to
    /// `counts`.
    fn count(self, lengths: &mut RowBytes, counts: &mut [u32; LENGTHS]) -> u64;
    /// Rounds lengths up to those of their classes. `codes` maps a length to its class, `of_class` a class to its length. Returns the three bit
    /// planes of the classes.
    fn classify(self, lengths: &mut RowBytes, codes: &[u8; 16], of_class: &[u8; MAX_CLASSES]) -> [u64; 3];
    /// Packs the low bytes of each residual, as many as its length, without gaps. Returns their number.
    fn pack<W: Word>(self, residuals: &Row<W>, lengths: &RowBytes, packed: &mut [u8; PACKED]) -> usize;

    /// The length of each value, from the bit planes of the classes.
    fn lengths(self, planes: [u64; 3], of_class: &[u8; MAX_CLASSES]) -> RowBytes;
    /// One byte per bit: 0 for a 0 bit, otherwise nonzero.
    fn spread(self, bits: u64) -> RowBytes;
    /// The inverse of `pack`. Returns the number of bytes read.
    fn unpack<W: Word>(self, wire: &[u8; PACKED], lengths: &RowBytes, residuals: &mut Row<W>) -> usize;
}

/// An operation to run with a kernel. `run` and what it calls are inlined into the kernel's entry function.
pub(crate) trait Work {
    /// The result.
    type Output;
    /// Runs the operation.
    fn run<K: Kernel>(self, kernel: K) -> Self::Output;
}

kernels! {
    /// Runs `work` with the best kernel for this tier, in code compiled for that tier.
    pub(crate) fn with(Work);
    scalar::Scalar, |_kernel| scalar::Scalar, |kernel| kernel
}
