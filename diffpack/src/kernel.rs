//! The work on blocks, and who does it: a [`Kernel`] for each SIMD level.
//!
//! A message's encoder or decoder is generic over its kernel; [`with`] chooses that once per message. What a kernel
//! does is defined by [`scalar`]: every other one gives the same for every input, valid or not.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;

use crate::block::{Block, Bytes, Mask, Widths};
use crate::word::Word;
#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::Avx512;
use mpress_codec::simd::Level;
use mpress_codec::{Full, Out};
pub(crate) use scalar::Scalar;

/// Lags that [`Kernel::lag_scores`] looks at together.
pub(crate) const LAGS: usize = 16;
/// Bytes of the eight groups whose cost is found at a time.
pub(crate) const SAMPLE: usize = 512;

/// Work on blocks of words `W`. `at` is a place in `bytes`, in bytes; lags and reach count words. Lags
/// come the smallest first.
///
/// Words outside `bytes` are read as 0 or make the result arbitrary (but the same at every level); callers see to it
/// that there are none.
pub trait Kernel<W>: Copy {
    /// The kernel, where the machine has the instructions.
    fn new(level: Level) -> Option<Self>;
    /// Does the work as code compiled for those instructions.
    fn enter<T: Work<W>>(self, work: T) -> T::Output;

    /// The residuals of the block at `at`: its difference by `lags`, zigzagged.
    fn difference(self, bytes: &[u8], at: usize, lags: &[u16], residuals: &mut Block);
    /// The greatest word, and the distances below it, of words rotated by `rotation`.
    fn below(self, words: &Bytes, rotation: u32, residuals: &mut Block) -> W;
    /// Puts each number of `bits` bits (1 to 8) of eight in a byte of its own.
    fn spread(self, packed: u64, bits: u32) -> u64;
    /// The width of each group.
    fn widths(self, residuals: &Block) -> Widths;
    /// The sum of the widths that the eight groups at `at` would have.
    fn difference_cost(self, bytes: &[u8], at: usize, lags: &[u16]) -> u32;
    fn below_cost(self, bytes: &[u8], at: usize, rotation: u32) -> u32;
    /// For the lags from `first` up: the sum over `places` of the width of the zigzagged difference by this
    /// lag, of words or of their differences by `base`.
    fn lag_scores(self, bytes: &[u8], places: &[usize], base: usize, first: usize, scores: &mut [u32; LAGS]);
    /// The residuals wider than `width`.
    fn above(self, residuals: &Block, width: u32) -> Mask;
    /// Moves the first `words` residuals together: those of the mask in `wide`, the others in `narrow`. Zeros fill the
    /// last group of each.
    fn deal(self, residuals: &Block, mask: &Mask, words: usize, wide: &mut Block, narrow: &mut Block);
    /// The inverse of [`deal`](Kernel::deal).
    fn collect(self, wide: &Block, narrow: &Block, mask: &Mask, residuals: &mut Block);
    /// Appends the groups of the first `words` residuals.
    fn pack(self, residuals: &Block, widths: &Widths, words: usize, out: &mut Out<'_>) -> Result<(), Full>;
    /// The inverse: reads groups from the front of `wire`. Residuals behind `words` are arbitrary.
    fn unpack(self, wire: &[u8], widths: &Widths, words: usize, residuals: &mut Block);
    /// The inverse of [`difference`](Kernel::difference); writes the block at `at`. Before that there are, besides what
    /// the lags reach, 64 bytes.
    fn undo_difference(self, residuals: &Block, lags: &[u16], bytes: &mut [u8], at: usize);
    /// The inverse of [`below`](Kernel::below).
    fn undo_below(self, residuals: &Block, maximum: W, rotation: u32, words: &mut Bytes);
    /// Section 5 of the format, word by word.
    fn to_fixed(self, words: &[u8], unit: u32, fixed: &mut [u8]);
    fn to_float(self, fixed: &[u8], unit: u32, words: &mut [u8]);
}

/// What to do with a kernel. `run` and what it calls for every block are inlined wherever a kernel enters them.
pub trait Work<W> {
    /// What it gives.
    type Output;
    /// Does it.
    fn run<K: Kernel<W>>(self, kernel: K) -> Self::Output;
}

/// Does `work` with the best kernel for this level.
pub(crate) fn with<W: Word, T: Work<W>>(level: Level, work: T) -> T::Output {
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(kernel) = <W::Avx512 as Kernel<W>>::new(level) {
            return kernel.enter(work);
        }
        if let Some(kernel) = <W::Avx2 as Kernel<W>>::new(level) {
            return kernel.enter(work);
        }
    }
    let _ = level;
    Scalar.enter(work)
}
