//! Residuals to words, one factor 1 - B^lag after another.

use super::shifts;
use crate::block::{Block, Bytes, ZEROS};
use crate::format::{BLOCK, GROUPS};
use crate::kernel::Words;
use crate::word::Word;

/// The longest lag whose values fit in registers.
pub(in crate::kernel) const SHORT: usize = 16;

pub(super) fn undo_difference<W: Word>(
    residuals: &Block,
    groups: usize,
    lags: &[u16],
    before: &[u8],
    words: &mut Words,
) {
    let residuals = residuals.groups()[..groups.min(GROUPS)].as_flattened();
    for (to, residual) in W::split_mut(words.block_mut()).0.iter_mut().zip(W::split(residuals).0) {
        *to = W::from_bytes(*residual).unzigzag().to_bytes();
    }
    // Each step gives the difference by the lags after it.
    for (i, lag) in lags.iter().enumerate() {
        let near = usize::from(*lag).min(W::BLOCK);
        let earlier = W::split_mut(words.before_mut()).0;
        difference_before::<W>(before, (*lag).into(), &lags[i + 1..], &mut earlier[W::BLOCK - near..]);
        let words = W::split_mut(&mut words.bytes_mut()[..BLOCK + residuals.len()]).0;
        if near <= SHORT {
            undo_short::<W>(words, near);
        } else {
            undo_long::<W>(words, near);
        }
    }
}

/// Computes y(i) = d(i) + y(i - `lag`) in the second half of `words`, with the values before it in the first half, for a lag up to [`SHORT`].
#[inline(always)]
pub(in crate::kernel) fn undo_short<W: Word>(words: &mut [W::Bytes], lag: usize) {
    match lag {
        1 => undo_lag::<W, 1>(words),
        2 => undo_lag::<W, 2>(words),
        3 => undo_lag::<W, 3>(words),
        4 => undo_lag::<W, 4>(words),
        5 => undo_lag::<W, 5>(words),
        6 => undo_lag::<W, 6>(words),
        7 => undo_lag::<W, 7>(words),
        8 => undo_lag::<W, 8>(words),
        9 => undo_lag::<W, 9>(words),
        10 => undo_lag::<W, 10>(words),
        11 => undo_lag::<W, 11>(words),
        12 => undo_lag::<W, 12>(words),
        13 => undo_lag::<W, 13>(words),
        14 => undo_lag::<W, 14>(words),
        15 => undo_lag::<W, 15>(words),
        _ => undo_lag::<W, 16>(words),
    }
}

/// Takes `LAG` words at a time and keeps the last ones in registers.
#[inline(always)]
fn undo_lag<W: Word, const LAG: usize>(words: &mut [W::Bytes]) {
    let (before, block) = words.split_at_mut(W::BLOCK);
    let mut last = [W::ZERO; LAG];
    for (last, word) in last.iter_mut().zip(&before[W::BLOCK - LAG..]) {
        *last = W::from_bytes(*word);
    }
    let (chunks, rest) = block.as_chunks_mut::<LAG>();
    for chunk in chunks {
        for (last, word) in last.iter_mut().zip(chunk) {
            *last = last.plus(W::from_bytes(*word));
            *word = last.to_bytes();
        }
    }
    for (last, word) in last.iter_mut().zip(rest) {
        *word = last.plus(W::from_bytes(*word)).to_bytes();
    }
}

/// The same with a longer lag: `lag` consecutive words do not depend on each other.
fn undo_long<W: Word>(words: &mut [W::Bytes], lag: usize) {
    let mut done = W::BLOCK;
    while done < words.len() {
        let (before, rest) = words.split_at_mut(done);
        for (word, earlier) in rest.iter_mut().zip(&before[done - lag..]) {
            *word = W::from_bytes(*word).plus(W::from_bytes(*earlier)).to_bytes();
        }
        done += lag;
    }
}

/// The differences by up to two lags of the words that start `back` words before the end of `before`.
fn difference_before<W: Word>(before: &[u8], back: usize, lags: &[u16], to: &mut [W::Bytes]) {
    let len = to.len() * W::WIDTH;
    let terms = shifts::<W>(lags).map(|shift| {
        let at = before.len().checked_sub(back * W::WIDTH + shift);
        W::split(at.and_then(|at| before.get(at..)?.get(..len)).unwrap_or(&ZEROS[..len])).0
    });
    let pair = |a: &W::Bytes, b: &W::Bytes| W::from_bytes(*a).minus(W::from_bytes(*b));
    match lags.len() {
        0 => to.copy_from_slice(terms[0]),
        1 => {
            for ((to, a), b) in to.iter_mut().zip(terms[0]).zip(terms[1]) {
                *to = pair(a, b).to_bytes();
            }
        }
        _ => {
            for ((((to, a), b), c), d) in
                to.iter_mut().zip(terms[0]).zip(terms[1]).zip(terms[2]).zip(terms[3])
            {
                *to = pair(a, b).minus(pair(c, d)).to_bytes();
            }
        }
    }
}

/// The inverse of [`below`](crate::kernel::Kernel::below).
pub(crate) fn undo_below<W: Word>(residuals: &Block, maximum: W, rotation: u32, words: &mut Bytes) {
    for (word, residual) in W::split_mut(words).0.iter_mut().zip(W::split(&residuals.0).0) {
        *word = maximum.minus(W::from_bytes(*residual)).rotated_right(rotation).to_bytes();
    }
}
