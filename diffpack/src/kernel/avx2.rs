//! The kernel for AVX2 and BMI2: a group fills two vectors.

mod fixed;
mod pack;
mod predict;
mod split;
mod undo;

use super::{Chore, Compiled, Kernel, LAGS, Span, Words};
use crate::block::{Block, Bytes, Group, Mask, Widths, byte_bits};
use crate::word::Word;
use mpress_codec::support::Avx2;
use mpress_codec::{Full, Out};
pub(super) use pack::sum_and_ends;

impl<W: Word> Kernel<W> for Avx2 {
    operations!(unsafe);
    operations!(undo unsafe);
    #[inline]
    fn compiled<T: Chore>(self, chore: T) -> T::Output {
        self.run(Compiled(chore))
    }
    #[inline]
    fn spread(self, packed: u64, bits: u32) -> u64 {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { spread(packed, bits) }
    }
    #[inline]
    fn gather(self, spread: u64, bits: u32) -> u64 {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { gather(spread, bits) }
    }
    #[inline]
    fn sum_and_ends(self, widths: &Widths, groups: usize) -> (usize, u8, u8) {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { sum_and_ends(widths, groups) }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn spread(packed: u64, bits: u32) -> u64 {
    core::arch::x86_64::_pdep_u64(packed, byte_bits(bits))
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn gather(spread: u64, bits: u32) -> u64 {
    core::arch::x86_64::_pext_u64(spread, byte_bits(bits))
}
