//! The operations on blocks: a [`Kernel`] for each SIMD tier.
//!
//! Code for blocks is generic over the kernel; [`with`] selects the kernel once per stretch of blocks. Such code is large, because it is
//! compiled for each word and tier, so each [`Work`] is used in several places but has only one instance. Code for messages does not know
//! the kernel. [`scalar`] defines the operations: every other kernel gives the same result for every input, valid or not.
#![allow(unsafe_code)]

/// The operations of a kernel that are functions of its modules. `unsafe`, where the argument says so, because they have target features.
macro_rules! operations {
    (@ $safety:tt $($(#[$inline:ident])? $module:ident::$name:ident$(<$word:ident>)?($($value:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
        $($(#[$inline])? fn $name(self, $($value: $type),*) $(-> $result)? {
            operations!(@call $safety $module::$name$(::<$word>)?($($value),*))
        })*
    };
    (@call () $call:expr) => { $call };
    (@call (unsafe) $call:expr) => {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { $call }
    };
    ($($safety:tt)?) => {
        operations! { @ ($($safety)?)
            predict::difference<W>(bytes: &[u8], at: usize, lags: &[u16], residuals: &mut [Group]);
            predict::below<W>(words: &[Group], rotation: u32, residuals: &mut [Group]) -> W;
            predict::widths<W>(residuals: &[Group]) -> Widths;
            predict::difference_cost<W>(bytes: &[u8], at: usize, lags: &[u16]) -> u32;
            predict::below_cost<W>(bytes: &[u8], at: usize, rotation: u32) -> u32;
            predict::lag_scores<W>(bytes: &[u8], places: &[usize], base: usize, first: usize, scores: &mut [u32; LAGS]);
            split::above<W>(residuals: &Block, width: u32) -> Mask;
            split::deal<W>(residuals: &Block, mask: &Mask, words: usize, wide: &mut Block, narrow: &mut Block);
            split::collect<W>(wide: &Block, narrow: &Block, mask: &Mask, residuals: &mut Groups);
            pack::pack<W>(residuals: &Block, widths: &Widths, words: usize, out: &mut Out<'_>) -> Result<(), Full>;
            pack::unpack<W>(wire: &[u8], widths: &Widths, words: usize, residuals: &mut Groups);
            #[inline] pack::spread(packed: u64, bits: u32) -> u64;
            #[inline] pack::gather(spread: u64, bits: u32) -> u64;
            #[inline] pack::joined(eights: [u64; GROUPS / 8]) -> Widths;
            #[inline] pack::sum_and_ends(widths: &Widths, groups: usize) -> (usize, u8, u8);
        }
    };
}

/// Functions, and the approximate number of bytes of each one's code that is used.
#[cfg(target_arch = "x86_64")]
macro_rules! code {
    ($($function:path: $bytes:literal),*) => {
        &[$(($function as *const u8, $bytes)),*]
    };
}

/// [`Kernel::apart`] for these features.
#[cfg(target_arch = "x86_64")]
macro_rules! apart {
    ($features:literal) => {
        fn apart<T>(self, operation: impl FnOnce() -> T) -> T {
            #[target_feature(enable = $features)]
            #[inline(never)]
            fn enter<T>(operation: impl FnOnce() -> T) -> T {
                operation()
            }
            // SAFETY: `self` proves the features.
            unsafe { enter(operation) }
        }
    };
}

/// Calls a function that is generic over the order of a difference, the number of its lags.
macro_rules! by_order {
    ($function:ident::<$($type:ident),*>($($value:expr),*), $lags:ident) => {
        match $lags.len() {
            0 => $function::<$($type,)* 0>($($value),*),
            1 => $function::<$($type,)* 1>($($value),*),
            2 => $function::<$($type,)* 2>($($value),*),
            _ => $function::<$($type,)* 3>($($value),*),
        }
    };
}

/// Calls a function that is generic over a lag, from 1 to [`scalar::SHORT`].
macro_rules! by_lag {
    ($function:ident::<$word:ident>($($value:expr),*), $lag:expr) => {
        by_lag!(@ $lag, $function, $word, ($($value),*), 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    (@ $lag:expr, $function:ident, $word:ident, $values:tt, $($n:literal)*) => {
        match $lag {
            $($n => $function::<$word, $n> $values,)*
            _ => $function::<$word, 16> $values,
        }
    };
}

/// The difference of order `$order` of some terms: `$term` is the one at `$index`. Not a function, which would take closures and not be inlined.
macro_rules! of_order {
    ($order:ident, $minus:path, |$index:ident| $term:expr) => {{
        let pair = |$index: usize| {
            let minuend = $term;
            let $index = $index + 1;
            $minus(minuend, $term)
        };
        match $order {
            0 => {
                let $index = 0;
                $term
            }
            1 => pair(0),
            2 => $minus(pair(0), pair(2)),
            _ => $minus($minus(pair(0), pair(2)), $minus(pair(4), pair(6))),
        }
    }};
}

/// The functions of a kernel's module `predict` that differ only in features and vectors. `$bytes` is the type of a vector's bytes.
#[cfg(target_arch = "x86_64")]
macro_rules! differences {
    ($features:literal, $bytes:ty) => {
        /// The zigzagged difference of order `ORDER` of the vectors at index `i` of its terms. (An array of these vectors would have to be made
        /// by `map`, which some builds call as a function.)
        #[target_feature(enable = $features)]
        #[inline]
        fn of_terms<W: Word, const ORDER: usize, const N: usize>(terms: &[&[$bytes; N]; 8], i: usize) -> V {
            zigzag::<W>(of_order!(ORDER, sub::<W>, |at| load(&terms[at][i])))
        }

        #[target_feature(enable = $features)]
        pub(super) fn difference<W: Word>(bytes: &[u8], at: usize, lags: &[u16], residuals: &mut [Group]) {
            by_order!(difference_of_order::<W>(bytes, at, lags, residuals), lags)
        }

        #[target_feature(enable = $features)]
        #[inline]
        fn difference_of_order<W: Word, const ORDER: usize>(
            bytes: &[u8],
            at: usize,
            lags: &[u16],
            residuals: &mut [Group],
        ) {
            const VECTORS: usize = BLOCK / size_of::<$bytes>();
            let terms = terms::<W, ORDER, BLOCK>(bytes, at, lags).map(parts::<BLOCK, _, VECTORS>);
            for (to, i) in residuals.as_flattened_mut().as_chunks_mut().0.iter_mut().zip(0..VECTORS) {
                store(to, of_terms::<W, ORDER, _>(&terms, i));
            }
        }

        /// The terms of a difference of the eight groups at `at`.
        #[inline(always)]
        fn sample_terms<'a, W: Word, const ORDER: usize>(
            bytes: &'a [u8],
            at: usize,
            lags: &[u16],
        ) -> [&'a [$bytes; SAMPLE / size_of::<$bytes>()]; 8] {
            terms::<W, ORDER, SAMPLE>(bytes, at, lags).map(parts)
        }

        #[target_feature(enable = $features)]
        pub(super) fn lag_scores<W: Word>(
            bytes: &[u8],
            places: &[usize],
            base: usize,
            first: usize,
            scores: &mut [u32; LAGS],
        ) {
            const VECTOR: usize = size_of::<$bytes>();
            let lanes = VECTOR / W::WIDTH;
            // AVX-512 does not count the leading zeros of words of 16 bits.
            const { assert!(VECTOR < 64 || W::BITS > 16 || VECTOR / W::WIDTH > LAGS) };
            if lanes > LAGS {
                return scalar::lag_scores::<W>(bytes, places, base, first, scores);
            }
            let base = base * W::WIDTH;
            let mut sums = [splat(0_u64); LAGS * size_of::<u64>() / VECTOR];
            for place in places {
                let mut here = W::load(bytes, *place);
                if base != 0 {
                    here = here.minus(W::load(bytes, place.wrapping_sub(base)));
                }
                for (i, sum) in sums[..LAGS / lanes].iter_mut().enumerate() {
                    let from = place.wrapping_sub((first + (i + 1) * lanes - 1) * W::WIDTH);
                    let mut there = load_at(bytes, from);
                    if base != 0 {
                        there = sub::<W>(there, load_at(bytes, from.wrapping_sub(base)));
                    }
                    *sum = add::<W>(*sum, widths_of_words::<W>(zigzag::<W>(sub::<W>(splat(here), there))));
                }
            }
            for (sum, scores) in sums.into_iter().zip(scores.chunks_mut(lanes)) {
                let mut bytes = [0; VECTOR];
                store(&mut bytes, sum);
                for (score, word) in scores.iter_mut().zip(W::split(&bytes).0.iter().rev()) {
                    *score = W::from_bytes(*word).to_u64() as u32;
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub(crate) mod block;
pub(crate) mod portable;
mod scalar;
#[cfg(test)]
mod tests;
pub(crate) mod window;

use crate::decode::rebuild::{Form, Packed, Scratch};
use crate::format::{BLOCK, GROUPS, Predictor};
use crate::word::Word;
use block::{Block, Group, Groups, Mask, Widths};
use mpress_codec::simd::Simd;
#[cfg(target_arch = "x86_64")]
use mpress_codec::simd::Tier;
use mpress_codec::{Full, Out};
use mpress_codec_support::{self as support, kernels};
#[cfg(target_arch = "x86_64")]
use mpress_codec_support::{Avx2, Avx512};
pub(crate) use scalar::{Scalar, undo_below, undo_difference};
use window::Window;

/// The longest message that is prefetched together with the code for it. In longer messages the processor prefetches by itself, and
/// loading the code takes a small part of the time.
pub(crate) const SHORT: usize = 16 << 10;
/// The number of lags that [`Kernel::lag_scores`] examines together.
pub(crate) const LAGS: usize = 16;
/// Bytes of eight groups, whose cost is computed at once.
pub(crate) const SAMPLE: usize = 512;

/// A block of words, and room for the same number of words before it.
pub(crate) type Words = Window<{ 2 * BLOCK }>;

/// Where the code of functions begins, and its length in bytes.
pub(crate) type Code = &'static [(*const u8, usize)];

/// Operations on blocks of words `W`. `at` is a byte offset in `bytes`; lags and reach count words. Lags are in ascending order.
///
/// Callers ensure that no word outside `bytes` is needed: it would be read as 0, or make the result arbitrary.
pub(crate) trait Kernel<W>: Copy {
    /// Runs an operation in its own function, compiled for the tier: a portable loop, or code that few blocks need and that is kept separate
    /// from code that all need.
    fn apart<T>(self, operation: impl FnOnce() -> T) -> T;
    /// The operations that nearly every block needs to be encoded.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(dead_code, reason = "only code for vectors is prefetched")
    )]
    const ENCODES: Code;
    /// Prefetches the code that rebuilds blocks of a predictor.
    fn prefetch_rebuild(self, predictor: &Predictor);
    /// The residuals of the first groups of the block at `at`: its zigzagged difference by `lags`.
    fn difference(self, bytes: &[u8], at: usize, lags: &[u16], residuals: &mut [Group]);
    /// Returns the greatest of the words of some samples, rotated by `rotation`, and stores each word's distance below it.
    fn below(self, words: &[Group], rotation: u32, residuals: &mut [Group]) -> W;
    /// Spreads eight numbers of `bits` bits (1 to 8) to one byte each.
    fn spread(self, packed: u64, bits: u32) -> u64;
    /// The inverse of [`spread`](Kernel::spread): concatenates the lowest `bits` bits of each byte.
    fn gather(self, spread: u64, bits: u32) -> u64;
    /// Eight bytes of each number. Written in one store, because they are loaded together: after several stores, the load would wait until
    /// all of them are in the cache.
    fn joined(self, eights: [u64; GROUPS / 8]) -> Widths;
    /// The width of each group of some samples; 0 past the last one.
    fn widths(self, residuals: &[Group]) -> Widths;
    /// The sum, the least and the greatest of the widths of the first `groups` groups: 0, 255 and 0 if there are none.
    fn sum_and_ends(self, widths: &Widths, groups: usize) -> (usize, u8, u8);
    /// The sum of the widths of the eight groups at `at`, if coded as differences.
    fn difference_cost(self, bytes: &[u8], at: usize, lags: &[u16]) -> u32;
    fn below_cost(self, bytes: &[u8], at: usize, rotation: u32) -> u32;
    /// For each lag from `first` up, the sum over `places` of the width of the zigzagged difference by this lag, of words or of their
    /// differences by `base`.
    fn lag_scores(self, bytes: &[u8], places: &[usize], base: usize, first: usize, scores: &mut [u32; LAGS]);
    /// A mask of the residuals wider than `width`.
    fn above(self, residuals: &Block, width: u32) -> Mask;
    /// Compacts the first `words` residuals: those in the mask into `wide`, the others into `narrow`. Zeros fill the last group of each.
    fn deal(self, residuals: &Block, mask: &Mask, words: usize, wide: &mut Block, narrow: &mut Block);
    /// The inverse of [`deal`](Kernel::deal).
    fn collect(self, wide: &Block, narrow: &Block, mask: &Mask, residuals: &mut Groups);
    /// Appends the packed groups of the first `words` residuals.
    fn pack(self, residuals: &Block, widths: &Widths, words: usize, out: &mut Out<'_>) -> Result<(), Full>;
    /// The inverse of [`pack`](Kernel::pack): reads groups from the front of `wire`. Residuals past `words` are arbitrary.
    fn unpack(self, wire: &[u8], widths: &Widths, words: usize, residuals: &mut Groups);
    /// Appends the words of a block to the message that begins at `start` of `out`. The residuals are packed on the wire or in `scratch`.
    fn rebuild(
        self,
        packed: Option<Packed<'_>>,
        form: &Form<'_, W>,
        scratch: &mut Scratch,
        start: usize,
        out: &mut Out<'_>,
    ) -> Result<(), Full>;
}

/// An operation to run with a kernel. `run` and what it calls for every block are inlined into the kernel's `enter`.
pub(crate) trait Work<W> {
    /// The result.
    type Output;
    /// Runs the operation.
    fn run<K: Kernel<W>>(self, kernel: K) -> Self::Output;
}

kernels! {
    /// Runs `work` with the best kernel for this tier.
    pub(crate) fn with<W: Word>(Work<W>);
    Scalar, |kernel| kernel, |kernel| kernel;
    /// Where the code of an operation begins.
    code_of
}

/// Prefetches `bytes` bytes of the code of an operation, and the code of others.
pub(crate) fn prefetch<W: Word, T: Work<W>>(simd: Simd, bytes: usize, others: Code) {
    if let Some(start) = code_of::<W, T>(simd) {
        support::prefetch(start, bytes);
    }
    for (start, bytes) in others {
        support::prefetch(*start, *bytes);
    }
}

/// The operations that encode blocks, for this tier.
pub(crate) fn encodes<W: Word>(simd: Simd) -> Code {
    match simd.tier() {
        #[cfg(target_arch = "x86_64")]
        Tier::Avx512 => <Avx512 as Kernel<W>>::ENCODES,
        #[cfg(target_arch = "x86_64")]
        Tier::Avx2 => <Avx2 as Kernel<W>>::ENCODES,
        _ => &[],
    }
}
