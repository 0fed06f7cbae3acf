//! Words to residuals, and their cost.

use crate::format::BLOCK;
use crate::kernel::block::{Group, Widths, parts};
use crate::kernel::scalar::{self, terms};
use crate::kernel::{LAGS, SAMPLE};
use crate::word::Word;
use core::arch::x86_64::*;
use mpress_codec_support::avx2::{
    Bytes, V, VECTOR, add, greatest, load, load_at, lowest, max, ordered, rotated_left, splat, store, sub,
    sum, union_of_words, unions, widths_of, widths_of as widths_of_words, zigzag,
};

differences!("avx2,bmi1,bmi2,lzcnt,popcnt", Bytes);

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn below<W: Word>(words: &[Group], rotation: u32, residuals: &mut [Group]) -> W {
    match rotation {
        0 => below_rotated::<W, 0>(words, residuals),
        _ => below_rotated::<W, 1>(words, residuals),
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn below_rotated<W: Word, const ROTATION: u32>(words: &[Group], residuals: &mut [Group]) -> W {
    let fours = words.as_flattened().as_chunks::<VECTOR>().0.as_chunks::<4>().0;
    let residuals = residuals.as_flattened_mut().as_chunks_mut().0;
    let mut maxima = [ordered::<W>(_mm256_setzero_si256()); 4];
    // Four at a time, because each comparison waits for the previous one.
    for (to, vectors) in residuals.as_chunks_mut::<4>().0.iter_mut().zip(fours) {
        for ((to, v), maximum) in to.iter_mut().zip(vectors).zip(&mut maxima) {
            let v = ordered::<W>(rotated_left::<W, ROTATION>(load(v)));
            *maximum = max::<W>(*maximum, v);
            store(to, v);
        }
    }
    let maximum = greatest_of_four::<W>(maxima);
    for to in residuals {
        store(to, sub::<W>(maximum, load(to)));
    }
    lowest(ordered::<W>(maximum))
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn greatest_of_four<W: Word>([a, b, c, d]: [V; 4]) -> V {
    greatest::<W>(max::<W>(max::<W>(a, b), max::<W>(c, d)))
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn widths<W: Word>(residuals: &[Group]) -> Widths {
    let mut fours = [_mm256_setzero_si256(); 8];
    let samples = residuals.as_flattened().as_chunks().0.as_chunks::<16>().0;
    for (pair, halves) in fours.as_chunks_mut().0.iter_mut().zip(samples) {
        let mut v = [_mm256_setzero_si256(); 8];
        for (v, [low, high]) in v.iter_mut().zip(halves.as_chunks().0) {
            *v = _mm256_or_si256(load(low), load(high));
        }
        *pair = widths_of_groups::<W>(v);
    }
    let mut widths = [0; _];
    store(&mut widths, bytes_of(fours));
    widths
}

/// The lowest byte of each 64-bit lane.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn bytes_of(v: [V; 8]) -> V {
    let four = |i: usize| {
        let (a, b) = (_mm256_packus_epi32(v[i], v[i + 1]), _mm256_packus_epi32(v[i + 2], v[i + 3]));
        _mm256_packus_epi32(a, b)
    };
    // Each half now has every other pair of bytes.
    let bytes = _mm256_packus_epi16(four(0), four(4));
    let (even, odd) = (_mm256_castsi256_si128(bytes), _mm256_extracti128_si256::<1>(bytes));
    _mm256_set_m128i(_mm_unpackhi_epi16(even, odd), _mm_unpacklo_epi16(even, odd))
}

/// The widths of eight groups from the unions (bitwise OR) of their halves.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn widths_of_groups<W: Word>(v: [V; 8]) -> [V; 2] {
    let [a, b] = unions(v);
    [widths_of::<u64>(union_of_words::<W>(a)), widths_of::<u64>(union_of_words::<W>(b))]
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn difference_cost<W: Word>(bytes: &[u8], at: usize, lags: &[u16]) -> u32 {
    by_order!(cost_of_order::<W>(bytes, at, lags), lags)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn cost_of_order<W: Word, const ORDER: usize>(bytes: &[u8], at: usize, lags: &[u16]) -> u32 {
    let terms = sample_terms::<W, ORDER>(bytes, at, lags);
    let mut v = [_mm256_setzero_si256(); 8];
    for (i, v) in v.iter_mut().enumerate() {
        let (low, high) =
            (of_terms::<W, ORDER, _>(&terms, 2 * i), of_terms::<W, ORDER, _>(&terms, 2 * i + 1));
        *v = _mm256_or_si256(low, high);
    }
    sum_of_widths::<W>(v)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn sum_of_widths<W: Word>(v: [V; 8]) -> u32 {
    let [a, b] = widths_of_groups::<W>(v);
    sum(add::<u64>(a, b)) as u32
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn below_cost<W: Word>(bytes: &[u8], at: usize, rotation: u32) -> u32 {
    let sample: &[u8; SAMPLE] = scalar::term(bytes, at, 0).unwrap_or(&[0; SAMPLE]);
    match rotation {
        0 => cost_of_rotated::<W, 0>(sample),
        _ => cost_of_rotated::<W, 1>(sample),
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn cost_of_rotated<W: Word, const ROTATION: u32>(sample: &[u8; SAMPLE]) -> u32 {
    let mut words = [_mm256_setzero_si256(); SAMPLE / VECTOR];
    let mut maxima = [ordered::<W>(_mm256_setzero_si256()); 4];
    // Four at a time, so that the maxima stay in registers.
    for (words, halves) in
        words.as_chunks_mut::<4>().0.iter_mut().zip(sample.as_chunks().0.as_chunks::<4>().0)
    {
        for ((v, half), maximum) in words.iter_mut().zip(halves).zip(&mut maxima) {
            *v = ordered::<W>(rotated_left::<W, ROTATION>(load(half)));
            *maximum = max::<W>(*maximum, *v);
        }
    }
    let maximum = greatest_of_four::<W>(maxima);
    let mut v = [_mm256_setzero_si256(); 8];
    for (v, [low, high]) in v.iter_mut().zip(words.as_chunks().0) {
        *v = _mm256_or_si256(sub::<W>(maximum, *low), sub::<W>(maximum, *high));
    }
    sum_of_widths::<W>(v)
}
