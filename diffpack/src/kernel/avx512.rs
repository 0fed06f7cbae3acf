//! The kernel for AVX-512: a group fills a vector.

/// Repeats the body for each of some vectors, with `$i` constant, so that the vectors stay in registers. The steps of a group wait for each other;
/// those of other groups fill the gaps.
macro_rules! each {
    ($i:ident, $body:block) => {
        each!(@ $i, $body, 0, 1, 2, 3, 4, 5, 6, 7)
    };
    (@ $i:ident, $body:block, $($n:literal),*) => {
        $({
            const $i: usize = $n;
            $body
        })*
    };
}

mod fixed;
mod pack;
mod predict;
mod rebuild;
mod short;
mod split;

use super::avx2::sum_and_ends;
use super::{Chore, Compiled, Kernel, LAGS, Span};
use crate::block::{Block, Group, Mask, Widths, byte_bits};
use crate::rebuild::{Form, Packed, Scratch};
use crate::word::Word;
use mpress_codec::support::Avx512;
use mpress_codec::{Full, Out};

impl<W: Word> Kernel<W> for Avx512 {
    operations!(unsafe);
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
    fn rebuild(
        self,
        packed: Option<Packed<'_>>,
        form: &Form<'_, W>,
        scratch: &mut Scratch,
        start: usize,
        out: &mut Out<'_>,
    ) -> Result<(), Full> {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { rebuild::rebuild::<W>(packed, form, &scratch.residuals, start, out) }
    }
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn spread(packed: u64, bits: u32) -> u64 {
    core::arch::x86_64::_pdep_u64(packed, byte_bits(bits))
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn gather(spread: u64, bits: u32) -> u64 {
    core::arch::x86_64::_pext_u64(spread, byte_bits(bits))
}
