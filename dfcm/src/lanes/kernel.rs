//! The work on blocks, and who does it: a [`Kernel`] for each SIMD level. What a kernel does is defined by
//! [`scalar`]; every other one gives the same for every input, valid or not.
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
use mpress_codec::simd::{Level, Tier};
use mpress_codec::{Full, Out};

/// Work on blocks of words `W`, in `lanes` lanes (section 10.2 of the format says how many there may be).
pub(super) trait Kernel<W>: Copy {
    /// The residuals of a block (format, section 10.3).
    fn residuals(self, window: View<'_>, lanes: usize, residuals: &mut Block);
    /// The inverse: makes the block of `past` that follows what is there before it.
    fn restore(self, residuals: &Block, lanes: usize, past: &mut Past);
    /// The width of each group, as the wire has it (format, section 10.5).
    fn widths(self, residuals: &Block) -> Widths;
    /// Appends the words of the block's first `len` bytes, those of each group in its width.
    fn pack(self, residuals: &Block, widths: Widths, len: usize, out: &mut Out<'_>) -> Result<(), Full>;
    /// The inverse, but for groups of full length. Of a shorter one the words after its end are arbitrary.
    fn unpack(self, body: &Body, widths: Widths, residuals: &mut Block);
    /// The sum of the widths that the magnitudes of second differences have, in the groups of some samples.
    fn bits(self, samples: &[&Sample], lanes: usize) -> u32;
}

/// What to do with a kernel. `run` and what it calls for every block are inlined wherever a kernel is entered.
pub(super) trait Work<W> {
    /// What it gives.
    type Output;
    /// Does it.
    fn run<K: Kernel<W>>(self, kernel: K) -> Self::Output;
}

/// Does `work` with the best kernel for this level.
pub(super) fn with<W: Word, T: Work<W>>(level: Level, work: T) -> T::Output {
    match level.tier() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a level of this tier proves that the machine has the features that the function asks for.
        Tier::Avx512 => unsafe { avx512::enter::<W, T>(work) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Tier::Avx2 => unsafe { avx2::enter::<W, T>(work) },
        _ => work.run(scalar::Scalar),
    }
}
