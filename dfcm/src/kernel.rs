//! Selects the kernel: the same code, compiled for the instructions that a [`Simd`] proves.
//!
//! All unsafe code of the plain codec is here: one call per direction.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod avx2;
mod scalar;

use crate::predictor::{Context, Predictor};
use crate::word::Word;
use mpress_codec::simd::{Simd, Tier};
use mpress_codec::{DecodeError, Full, Out};

/// Appends the blocks of `elements` to `out`. Returns the context after them.
pub(crate) fn encode<W: Word>(
    simd: Simd,
    predictor: Predictor<'_, W>,
    elements: &[W::Bytes],
    out: &mut Out<'_>,
) -> Result<Context<W>, Full> {
    match simd.tier() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a token of this tier proves that the CPU has avx2, bmi1, bmi2 and lzcnt, which are all that the function requires.
        Tier::Avx2 | Tier::Avx512 => unsafe { avx2::encode(predictor, elements, out) },
        _ => scalar::encode(predictor, elements, out),
    }
}

/// Appends `elements` elements to `out`, from the blocks that start at byte `at` of `wire`. Returns the context after them and the offset where the
/// blocks end.
pub(crate) fn decode<W: Word>(
    simd: Simd,
    predictor: Predictor<'_, W>,
    wire: &[u8],
    at: usize,
    elements: usize,
    out: &mut Out<'_>,
) -> Result<(Context<W>, usize), DecodeError> {
    match simd.tier() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as in `encode`.
        Tier::Avx2 | Tier::Avx512 => unsafe { avx2::decode(predictor, wire, at, elements, out) },
        _ => scalar::decode(predictor, wire, at, elements, out),
    }
}
