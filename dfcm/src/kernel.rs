//! Selects the kernel: the same code, compiled for the instructions that a [`Simd`] proves.
#![forbid(unsafe_code)]

mod scalar;

use crate::predictor::{Context, Predictor};
use crate::word::Word;
use mpress_codec::simd::Simd;
use mpress_codec::{DecodeError, Full, Out};
#[cfg(target_arch = "x86_64")]
use mpress_codec_support::{Avx2, Avx512};
use mpress_codec_support::{Task, run};

/// The portable code, once per tier: shifts that leave flags alone, and the leading-zero count that the paper (section 2.2) wrote in assembly.
/// AVX-512 would gain nothing more.
macro_rules! compiled {
    ($name:ident -> $output:ty { $($field:ident: $type:ty),* }) => {
        struct $name<'a, 'o, W: Word> {
            predictor: Predictor<'a, W>,
            out: &'a mut Out<'o>,
            $($field: $type,)*
        }

        impl<'a, W: Word> Task for $name<'a, '_, W> {
            type Output = $output;
            #[inline(always)]
            fn scalar(self) -> Self::Output {
                self.run()
            }
            #[cfg(target_arch = "x86_64")]
            #[inline(always)]
            fn avx2(self, _: Avx2) -> Self::Output {
                self.run()
            }
            #[cfg(target_arch = "x86_64")]
            #[inline(always)]
            fn avx512(self, token: Avx512) -> Self::Output {
                token.avx2().run(self)
            }
        }
    };
}

compiled!(Encoding -> Result<Context<W>, Full> { elements: &'a [W::Bytes] });
compiled!(Decoding -> Result<(Context<W>, usize), DecodeError> { wire: &'a [u8], at: usize, elements: usize });

impl<W: Word> Encoding<'_, '_, W> {
    #[inline(always)]
    fn run(self) -> Result<Context<W>, Full> {
        scalar::encode(self.predictor, self.elements, self.out)
    }
}

impl<W: Word> Decoding<'_, '_, W> {
    #[inline(always)]
    fn run(self) -> Result<(Context<W>, usize), DecodeError> {
        scalar::decode(self.predictor, self.wire, self.at, self.elements, self.out)
    }
}

/// Appends the blocks of `elements` to `out`. Returns the context after them.
pub(crate) fn encode<W: Word>(
    simd: Simd,
    predictor: Predictor<'_, W>,
    elements: &[W::Bytes],
    out: &mut Out<'_>,
) -> Result<Context<W>, Full> {
    run(simd, Encoding { predictor, out, elements })
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
    run(simd, Decoding { predictor, out, wire, at, elements })
}
