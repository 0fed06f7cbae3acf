//! Words to residuals, and their cost.

use crate::format::{BLOCK, GROUP};
use crate::kernel::block::{Group, Widths};
use crate::kernel::{LAGS, SAMPLE};
use crate::word::Word;

/// The terms of a difference of order `ORDER`: the `N` bytes at `at` shifted back by each sum of lags. Bit `j` of a term's index says whether
/// lag `j` is in the sum; terms whose index has an odd number of set bits are subtracted.
#[inline(always)]
pub(in crate::kernel) fn terms<'a, W: Word, const ORDER: usize, const N: usize>(
    bytes: &'a [u8],
    at: usize,
    lags: &[u16],
) -> [&'a [u8; N]; 8] {
    let mut terms = [&[0; N]; 8];
    for (to, shift) in terms[..1 << ORDER].iter_mut().zip(shifts::<W>(lags)) {
        *to = term(bytes, at, shift).unwrap_or(&[0; N]);
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
    by_order!(difference_of_order::<W, BLOCK>(bytes, at, lags, residuals), lags)
}

/// The difference of up to `N` bytes, all of which are in `bytes`.
#[inline(always)]
fn difference_of_order<W: Word, const N: usize, const ORDER: usize>(
    bytes: &[u8],
    at: usize,
    lags: &[u16],
    residuals: &mut [Group],
) {
    let terms = terms::<W, ORDER, N>(bytes, at, lags).map(|term| W::split(term).0);
    for (to, i) in W::split_mut(residuals.as_flattened_mut()).0.iter_mut().zip(0..N / W::WIDTH) {
        *to = of_order!(ORDER, W::minus, |at| W::from_bytes(terms[at][i])).zigzag().to_bytes();
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

pub(super) fn widths<W: Word>(residuals: &[Group]) -> Widths {
    let mut widths = [0; _];
    for (to, group) in widths.iter_mut().zip(residuals) {
        let union = W::split(group).0.iter().fold(W::ZERO, |union, word| union.or(W::from_bytes(*word)));
        *to = union.width() as u8;
    }
    widths
}

pub(super) fn difference_cost<W: Word>(bytes: &[u8], at: usize, lags: &[u16]) -> u32 {
    let mut residuals = [[0; GROUP]; SAMPLE / GROUP];
    by_order!(difference_of_order::<W, SAMPLE>(bytes, at, lags, &mut residuals), lags);
    sum_of_widths::<W>(&residuals)
}

pub(super) fn below_cost<W: Word>(bytes: &[u8], at: usize, rotation: u32) -> u32 {
    let sample: &[u8; SAMPLE] = term(bytes, at, 0).unwrap_or(&[0; SAMPLE]);
    let mut residuals = [[0; GROUP]; SAMPLE / GROUP];
    below::<W>(sample.as_chunks().0, rotation, &mut residuals);
    sum_of_widths::<W>(&residuals)
}

fn sum_of_widths<W: Word>(residuals: &[Group]) -> u32 {
    widths::<W>(residuals).iter().map(|width| u32::from(*width)).sum()
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
