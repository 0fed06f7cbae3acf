//! The work on rows of 64 values, and who does it: a [`Kernel`] for each SIMD level.
//!
//! A message's encoder or decoder is generic over its kernel; [`with`] chooses that once per message. What a kernel
//! does is defined by [`scalar`]: every other one gives the same for every input.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;

use crate::block::{Row, RowBytes};
use crate::classes::LENGTHS;
use crate::format::{MAX_CLASSES, PACKED};
use crate::word::Word;
use mpress_codec::simd::{Level, Tier};

/// Work on rows.
pub(crate) trait Kernel: Copy {
    /// Takes [`PICKED`](crate::format::PICKED) out of lengths, gives the bit plane of it, and adds how often each length
    /// occurs.
    fn count(self, lengths: &mut RowBytes, counts: &mut [u32; LENGTHS]) -> u64;
    /// Rounds lengths up to those of their classes. `codes` gives the class of a length, `of_class` the length of a
    /// class. Gives the three bit planes of the classes.
    fn classify(self, lengths: &mut RowBytes, codes: &[u8; 16], of_class: &[u8; MAX_CLASSES]) -> [u64; 3];
    /// Puts the low bytes of each residual, as many as its length says, next to each other. Gives their number.
    fn pack<W: Word>(self, residuals: &Row<W>, lengths: &RowBytes, packed: &mut [u8; PACKED]) -> usize;

    /// The length of each value, from the bit planes of its class.
    fn lengths(self, planes: [u64; 3], of_class: &[u8; MAX_CLASSES]) -> RowBytes;
    /// A byte for each bit, 0 for a bit that is 0.
    fn spread(self, bits: u64) -> RowBytes;
    /// The inverse of `pack`: gives the number of bytes read.
    fn unpack<W: Word>(self, wire: &[u8; PACKED], lengths: &RowBytes, residuals: &mut Row<W>) -> usize;
}

/// What to do with a kernel. `run` and what it calls are inlined wherever a kernel is entered.
pub(crate) trait Work {
    /// What it gives.
    type Output;
    /// Does it.
    fn run<K: Kernel>(self, kernel: K) -> Self::Output;
}

/// Does `work` with the best kernel for this level, in code compiled for that level.
pub(crate) fn with<T: Work>(level: Level, work: T) -> T::Output {
    match level.tier() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a level of this tier proves that the machine has the features that the function asks for.
        Tier::Avx512 => unsafe { avx512::enter(work) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Tier::Avx2 => unsafe { avx2::enter(work) },
        _ => work.run(scalar::Scalar),
    }
}
