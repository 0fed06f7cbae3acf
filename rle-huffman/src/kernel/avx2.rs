//! The kernel for AVX2. Codes are packed and streams are decoded by portable code compiled with BMI2.

mod runs;
mod vector;

use super::{Kernel, planes, scalar};
use crate::entropy::Codes;
use crate::width::Width;
use mpress_codec::{Full, Out};
use mpress_codec_support::Avx2;

impl Kernel for Avx2 {
    fn split(self, elements: &[u8], width: Width, planes: &mut [u8]) {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { split(self, elements, width, planes) }
    }
    fn join(self, planes: &[&[u8]; 8], width: Width, elements: &mut [u8]) {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { join(self, planes, width, elements) }
    }
    fn mark_equal(self, bytes: &[u8], symbol: Width, marks: &mut [u8]) {
        // SAFETY: `self` proves the features that the call requires.
        unsafe {
            match symbol {
                Width::One => runs::mark_equal::<1>(bytes, symbol, marks),
                Width::Two => runs::mark_equal::<2>(bytes, symbol, marks),
                Width::Four => runs::mark_equal::<4>(bytes, symbol, marks),
                Width::Eight => runs::mark_equal::<8>(bytes, symbol, marks),
            }
        }
    }
    #[inline(always)]
    fn pack(self, symbols: &[u8], codes: &Codes, out: &mut Out<'_>) -> Result<(), Full> {
        scalar::pack(symbols, codes, out)
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn split(kernel: Avx2, elements: &[u8], width: Width, to: &mut [u8]) {
    planes::split(kernel, elements, width, to);
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn join(kernel: Avx2, from: &[&[u8]; 8], width: Width, elements: &mut [u8]) {
    planes::join(kernel, from, width, elements);
}
