//! Words to residuals, and their cost.

use crate::format::{GROUP, MAX_ORDER};
use crate::kernel::block::{Bytes, Group, Widths, ZEROS};
use crate::kernel::{LAGS, SAMPLE};
use crate::word::Word;
use mpress_codec_support::pack::lanes;

/// The terms of a difference: the block at `at` shifted back by each sum of lags. Bit `j` of a term's index says whether lag `j` is in the
/// sum; terms whose index has an odd number of set bits are subtracted.
#[inline(always)]
pub(in crate::kernel) fn terms<'a, W: Word>(bytes: &'a [u8], at: usize, lags: &[u16]) -> [&'a Bytes; 8] {
    let mut terms = [&ZEROS; 8];
    for (to, shift) in terms.iter_mut().zip(shifts::<W>(lags)).take(1 << lags.len().min(MAX_ORDER)) {
        *to = term(bytes, at, shift).unwrap_or(&ZEROS);
    }
    terms
}

/// The number of bytes by which each term is shifted back. Missing lags count as 0.
#[inline(always)]
pub(in crate::kernel) fn shifts<W: Word>(lags: &[u16]) -> [usize; 8] {
    let lag = |i: usize| lags.get(i).map_or(0, |lag| usize::from(*lag)) * W::WIDTH;
    let (a, b, c) = (lag(0), lag(1), lag(2));
    [0, a, b, a + b, c, a + c, b + c, a + b + c]
}

#[inline(always)]
pub(in crate::kernel) fn term<const N: usize>(bytes: &[u8], at: usize, shift: usize) -> Option<&[u8; N]> {
    bytes.get(at.checked_sub(shift)?..)?.first_chunk()
}

pub(super) fn difference<W: Word>(bytes: &[u8], at: usize, lags: &[u16], residuals: &mut [Group]) {
    let [a, b, c, d, e, f, g, h] = terms::<W>(bytes, at, lags).map(|term| W::split(term).0);
    let at = |words: &[W::Bytes], i: usize| W::from_bytes(words[i]);
    let residuals = W::split_mut(residuals.as_flattened_mut()).0;
    let words = residuals.len().min(W::BLOCK);
    match lags.len() {
        0 => (0..words).for_each(|i| residuals[i] = at(a, i).zigzag().to_bytes()),
        1 => (0..words).for_each(|i| residuals[i] = at(a, i).minus(at(b, i)).zigzag().to_bytes()),
        2 => (0..words).for_each(|i| {
            let difference = at(a, i).minus(at(b, i)).minus(at(c, i).minus(at(d, i)));
            residuals[i] = difference.zigzag().to_bytes();
        }),
        _ => (0..words).for_each(|i| {
            let first = at(a, i).minus(at(b, i)).minus(at(c, i).minus(at(d, i)));
            let second = at(e, i).minus(at(f, i)).minus(at(g, i).minus(at(h, i)));
            residuals[i] = first.minus(second).zigzag().to_bytes();
        }),
    }
}

pub(super) fn below<W: Word>(words: &[Group], rotation: u32, residuals: &mut [Group]) -> W {
    // Separate cases, so that shift counts are constant.
    match rotation {
        0 => below_rotated::<W, 0>(words, residuals),
        _ => below_rotated::<W, 1>(words, residuals),
    }
}

fn below_rotated<W: Word, const ROTATION: u32>(words: &[Group], residuals: &mut [Group]) -> W {
    let residuals = W::split_mut(residuals.as_flattened_mut()).0;
    for (residual, word) in residuals.iter_mut().zip(W::split(words.as_flattened()).0) {
        *residual = W::from_bytes(*word).rotated_left(ROTATION).to_bytes();
    }
    // Four maxima, because each comparison waits for the previous one.
    let mut maxima = [W::ZERO; 4];
    for residuals in residuals.as_chunks::<4>().0 {
        for (maximum, residual) in maxima.iter_mut().zip(residuals) {
            *maximum = (*maximum).max(W::from_bytes(*residual));
        }
    }
    let maximum = maxima.into_iter().fold(W::ZERO, W::max);
    for residual in residuals {
        *residual = maximum.minus(W::from_bytes(*residual)).to_bytes();
    }
    maximum
}

/// The width of a group from the union (bitwise OR) of its residuals, as 64-bit lanes.
#[inline(always)]
fn width<W: Word>(mut union: u64) -> u32 {
    if W::BITS <= 32 {
        union |= union >> 32;
    }
    if W::BITS <= 16 {
        union |= union >> 16;
    }
    let unused = 64 - W::BITS;
    64 - (union << unused >> unused).leading_zeros()
}

pub(super) fn widths<W: Word>(residuals: &[Group]) -> Widths {
    let mut widths = [0; _];
    for (to, group) in widths.iter_mut().zip(residuals) {
        *to = width::<W>(lanes(group).iter().fold(0, |union, lane| union | lane)) as u8;
    }
    widths
}

/// The sum of the widths of eight groups, from a function that returns each word.
#[inline(always)]
fn cost<W: Word>(word: impl Fn(usize) -> W) -> u32 {
    let mut sum = 0;
    for group in 0..SAMPLE / GROUP {
        let mut union = W::ZERO;
        for i in 0..W::LANES {
            union = union.or(word(group * W::LANES + i));
        }
        sum += union.width();
    }
    sum
}

pub(super) fn difference_cost<W: Word>(bytes: &[u8], at: usize, lags: &[u16]) -> u32 {
    let mut terms: [&[u8; SAMPLE]; 8] = [&[0; SAMPLE]; 8];
    for (to, shift) in terms.iter_mut().zip(shifts::<W>(lags)).take(1 << lags.len().min(MAX_ORDER)) {
        *to = term(bytes, at, shift).unwrap_or(&[0; SAMPLE]);
    }
    let [a, b, c, d, e, f, g, h] = terms;
    let at = |words: &[u8; SAMPLE], i: usize| W::load(words, i * W::WIDTH);
    match lags.len() {
        0 => cost::<W>(|i| at(a, i).zigzag()),
        1 => cost::<W>(|i| at(a, i).minus(at(b, i)).zigzag()),
        2 => cost::<W>(|i| at(a, i).minus(at(b, i)).minus(at(c, i).minus(at(d, i))).zigzag()),
        _ => cost::<W>(|i| {
            let first = at(a, i).minus(at(b, i)).minus(at(c, i).minus(at(d, i)));
            let second = at(e, i).minus(at(f, i)).minus(at(g, i).minus(at(h, i)));
            first.minus(second).zigzag()
        }),
    }
}

pub(super) fn below_cost<W: Word>(bytes: &[u8], at: usize, rotation: u32) -> u32 {
    let sample: &[u8; SAMPLE] = term(bytes, at, 0).unwrap_or(&[0; SAMPLE]);
    match rotation {
        0 => below_cost_rotated::<W, 0>(sample),
        _ => below_cost_rotated::<W, 1>(sample),
    }
}

fn below_cost_rotated<W: Word, const ROTATION: u32>(sample: &[u8; SAMPLE]) -> u32 {
    let word = |i: usize| W::load(sample, i * W::WIDTH).rotated_left(ROTATION);
    let maximum = (0..SAMPLE / W::WIDTH).fold(W::ZERO, |maximum, i| maximum.max(word(i)));
    cost::<W>(|i| maximum.minus(word(i)))
}

#[inline(always)]
pub(in crate::kernel) fn lag_scores<W: Word>(
    bytes: &[u8],
    places: &[usize],
    base: usize,
    first: usize,
    scores: &mut [u32; LAGS],
) {
    *scores = [0; LAGS];
    let base = base * W::WIDTH;
    // Without a base, the words themselves are compared.
    let value = |at: usize| {
        let word = W::load(bytes, at);
        if base == 0 { word } else { word.minus(W::load(bytes, at.wrapping_sub(base))) }
    };
    for place in places {
        let here = value(*place);
        for (lag, score) in (first..).zip(scores.iter_mut()) {
            *score += here.minus(value(place.wrapping_sub(lag * W::WIDTH))).zigzag().width();
        }
    }
}
