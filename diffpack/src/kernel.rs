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
#[cfg(test)]
mod tests;

use crate::block::{Block, Bytes, Mask, Widths};
use crate::format::BLOCK;
use crate::rebuild::{self, Form, Packed, Scratch};
use crate::window::Window;
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

/// Zero bits at the end of a fraction that make a float a round one.
pub(crate) const ROUND_BITS: u32 = 4;

/// What has been seen of some floats.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// The least unit in which one of them is a whole number (format, section 5).
    pub(crate) lowest: u32,
    /// The greatest exponent.
    pub(crate) exponent: u32,
    /// How many are not 0, and how many of these are round.
    pub(crate) floats: u32,
    pub(crate) round: u32,
    /// Whether there are infinities, NaNs, denormals or negative zeros.
    pub(crate) odd: bool,
}

impl Default for Span {
    fn default() -> Self {
        Self { lowest: u32::MAX, exponent: 0, floats: 0, round: 0, odd: false }
    }
}

/// A block of words and room for as many before it.
pub(crate) type Words = Window<{ 2 * BLOCK }>;

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
    /// Appends the words of a block to the message that begins at `start` of `out`, from residuals on the wire or those of
    /// `scratch`.
    #[inline(always)]
    fn rebuild(
        self,
        packed: Option<Packed<'_>>,
        form: &Form<'_, W>,
        scratch: &mut Scratch,
        start: usize,
        out: &mut Out<'_>,
    ) -> Result<(), Full>
    where
        W: Word,
    {
        rebuild::in_steps(self, packed, form, scratch, start, out)
    }
    /// The inverse of [`difference`](Kernel::difference): makes the block of `words` that follows the words `before`, of
    /// which there are what the lags reach and a group. What `words` has before its block is arbitrary afterwards.
    ///
    /// This and the other inverses have no use beside [`rebuild`](Kernel::rebuild): a kernel with one of its own has the
    /// portable ones.
    fn undo_difference(self, residuals: &Block, lags: &[u16], before: &[u8], words: &mut Words)
    where
        W: Word,
    {
        Kernel::<W>::undo_difference(Scalar, residuals, lags, before, words);
    }
    /// The inverse of [`below`](Kernel::below).
    fn undo_below(self, residuals: &Block, maximum: W, rotation: u32, words: &mut Bytes)
    where
        W: Word,
    {
        Scalar.undo_below(residuals, maximum, rotation, words);
    }
    /// Section 5 of the format, word by word.
    fn to_fixed(self, words: &[u8], unit: u32, fixed: &mut [u8]);
    fn to_float(self, fixed: &[u8], unit: u32, words: &mut [u8]);
    /// Looks at some floats.
    fn span(self, words: &[u8], span: &mut Span);
    /// The zeros that all differences of each group end in, at most 15; none where all differences are 0. Residuals are
    /// those of a difference.
    fn trailing_zeros(self, residuals: &Block) -> Widths;
    /// Shifts so many zeros out of the differences of each group.
    fn strip(self, residuals: &mut Block, counts: &Widths);
    /// The inverse of [`strip`](Kernel::strip).
    fn unstrip(self, residuals: &mut Block, counts: &Widths)
    where
        W: Word,
    {
        Kernel::<W>::unstrip(Scalar, residuals, counts);
    }
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
