//! Residuals to words, one factor 1 - B^lag after another.

use super::shifts;
use crate::format::BLOCK;
use crate::kernel::Words;
use crate::kernel::block::{Groups, ZEROS};
use crate::word::Word;

/// The longest lag whose values fit in registers.
pub(in crate::kernel) const SHORT: usize = 16;
// `by_lag!` has an arm for each.
const _: () = assert!(SHORT == 16);

/// Replaces the residuals in the block of `words` by the words that follow those `before`. Afterwards the part of `words` before
/// the block is arbitrary. Computes whole blocks: loops of known length are faster.
pub(crate) fn undo_difference<W: Word>(lags: &[u16], before: &[u8], words: &mut Words) {
    for word in W::split_mut(words.groups_mut().as_flattened_mut()).0 {
        *word = W::from_bytes(*word).unzigzag().to_bytes();
    }
    // Each step gives the difference by the remaining lags.
    for (i, lag) in lags.iter().enumerate() {
        let near = usize::from(*lag).min(W::BLOCK);
        let earlier = W::split_mut(&mut words.bytes_mut()[..BLOCK]).0;
        difference_before::<W>(before, (*lag).into(), &lags[i + 1..], &mut earlier[W::BLOCK - near..]);
        let words = W::split_mut(words.bytes_mut()).0;
        if near <= SHORT {
            by_lag!(undo_lag::<W>(words), near);
        } else {
            undo_long::<W>(words, near);
        }
    }
}

/// Computes y(i) = d(i) + y(i - `LAG`) in the second half of `words`, with the values before it in the first half. Takes `LAG` words at a
/// time and keeps the last ones in registers.
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

/// The same for a longer lag: `lag` consecutive words do not depend on each other.
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

/// The inverse of [`below`](crate::kernel::Kernel::below), in place.
#[inline(always)]
pub(crate) fn undo_below<W: Word, const ROTATION: u32>(residuals: &mut Groups, maximum: W) {
    for word in W::split_mut(residuals.as_flattened_mut()).0 {
        *word = maximum.minus(W::from_bytes(*word)).rotated_right(ROTATION).to_bytes();
    }
}
