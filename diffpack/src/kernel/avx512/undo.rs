//! Residuals to words: lags within a vector by prefix sums, longer ones from the words before.

use super::vector::{
    V, add, behind, from_bytes, lane_indexes, load, load_at, permute, rotated_right, splat, store, store_at,
    sub, unzigzag,
};
use crate::block::{Block, Bytes, Group, groups};
use crate::format::{BLOCK, GROUP};
use crate::kernel::Words;
use crate::kernel::scalar::shifts;
use crate::word::Word;
use core::arch::x86_64::*;

/// Lane numbers modulo each lag.
static REMAINDERS: [[u8; 32]; 32] = {
    let mut table = [[0; 32]; 32];
    let mut lag = 1;
    while lag < 32 {
        let mut i = 0;
        while i < 32 {
            table[lag][i] = (i % lag) as u8;
            i += 1;
        }
        lag += 1;
    }
    table
};

/// Groups back to which a load would wait for the stores it spans.
const RECENT: usize = 12;

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn undo_difference<W: Word>(residuals: &Block, lags: &[u16], before: &[u8], words: &mut Words) {
    match lags {
        [] => {
            for (to, group) in words.block_mut().as_chunks_mut().0.iter_mut().zip(residuals.groups()) {
                store(to, unzigzag::<W>(load(group)));
            }
        }
        [first, rest @ ..] => {
            undo_factor::<W, true>(residuals, usize::from(*first), rest, before, words);
            for (i, lag) in rest.iter().enumerate() {
                undo_factor::<W, false>(residuals, usize::from(*lag), &rest[i + 1..], before, words);
            }
        }
    }
}

/// Undoes a factor 1 - B^lag: y(i) = d(i) + y(i - lag), where y is the difference by the lags `behind`, and d the
/// residuals without their zigzag for the `FIRST` factor, then what the factor before has made of `words`.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn undo_factor<W: Word, const FIRST: bool>(
    residuals: &Block,
    lag: usize,
    behind: &[u16],
    before: &[u8],
    words: &mut Words,
) {
    if lag >= W::BLOCK {
        let start = before.len().wrapping_sub(lag * W::WIDTH);
        for (i, group) in residuals.groups().iter().enumerate() {
            let earlier = difference_at::<W>(before, start.wrapping_add(i * GROUP), behind);
            let d = difference::<W, FIRST>(group, words, i);
            store_at(words.block_mut(), i * GROUP, add::<W>(d, earlier));
        }
        return;
    }
    let mut from = before.len();
    for to in words.before_mut().as_chunks_mut().0.iter_mut().rev().take(lag.div_ceil(W::LANES)) {
        from = from.wrapping_sub(GROUP);
        store(to, difference_at::<W>(before, from, behind));
    }
    match W::LANES.div_ceil(lag) {
        1 => undo_long::<W, FIRST>(residuals, words, lag),
        2 => undo_short::<W, FIRST, 1>(residuals, words, lag),
        3..=4 => undo_short::<W, FIRST, 2>(residuals, words, lag),
        5..=8 => undo_short::<W, FIRST, 3>(residuals, words, lag),
        9..=16 => undo_short::<W, FIRST, 4>(residuals, words, lag),
        _ => undo_short::<W, FIRST, 5>(residuals, words, lag),
    }
}

/// What is given of group `i`.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn difference<W: Word, const FIRST: bool>(residuals: &Group, words: &Words, i: usize) -> V {
    if FIRST { unzigzag::<W>(load(residuals)) } else { load_at(words.bytes(), BLOCK + i * GROUP) }
}

/// Undoes the factor of a lag shorter than a vector. It takes `STEPS` steps for a prefix sum, each of which adds the lanes
/// `lag`, 2 `lag`, 4 `lag`... below.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn undo_short<W: Word, const FIRST: bool, const STEPS: usize>(
    residuals: &Block,
    words: &mut Words,
    lag: usize,
) {
    let zero = _mm512_setzero_si512();
    let mut steps = [zero; STEPS];
    for (i, step) in steps.iter_mut().enumerate() {
        *step = lanes_less::<W>(lag << i);
    }
    // Where each lane's value before this vector is in the vector before.
    let remainders = REMAINDERS.get(lag).unwrap_or(&[0; 32]);
    let before = add::<W>(from_bytes::<W>(remainders), splat(W::of(W::LANES - lag)));
    let mut last = load_at(words.bytes(), BLOCK - GROUP);
    for (i, group) in residuals.groups().iter().enumerate() {
        let mut d = difference::<W, FIRST>(group, words, i);
        for step in steps {
            d = add::<W>(d, behind::<W>(d, step, zero));
        }
        last = add::<W>(d, permute::<W>(before, last));
        store_at(words.block_mut(), i * GROUP, last);
    }
}

/// Undoes the factor of a lag not shorter than a vector.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn undo_long<W: Word, const FIRST: bool>(residuals: &Block, words: &mut Words, lag: usize) {
    let (groups, lanes) = (lag / W::LANES, lag % W::LANES);
    let index = lanes_less::<W>(lanes);
    // A load that spans two stores has to wait until both are in the cache: better to put it together from two, and from
    // registers where it spans the last two.
    if groups == 1 {
        let mut last = load_at(words.bytes(), BLOCK - GROUP);
        let mut last_but_one = load_at(words.bytes(), BLOCK - 2 * GROUP);
        for (i, group) in residuals.groups().iter().enumerate() {
            let earlier = behind::<W>(last, index, last_but_one);
            last_but_one = last;
            last = add::<W>(difference::<W, FIRST>(group, words, i), earlier);
            store_at(words.block_mut(), i * GROUP, last);
        }
    } else if lanes != 0 && groups < RECENT {
        for (i, group) in residuals.groups().iter().enumerate() {
            let at = (BLOCK + i * GROUP).wrapping_sub(groups * GROUP);
            let earlier = behind::<W>(
                load_at(words.bytes(), at),
                index,
                load_at(words.bytes(), at.wrapping_sub(GROUP)),
            );
            let d = difference::<W, FIRST>(group, words, i);
            store_at(words.block_mut(), i * GROUP, add::<W>(d, earlier));
        }
    } else {
        for (i, group) in residuals.groups().iter().enumerate() {
            let earlier = load_at(words.bytes(), (BLOCK + i * GROUP).wrapping_sub(lag * W::WIDTH));
            let d = difference::<W, FIRST>(group, words, i);
            store_at(words.block_mut(), i * GROUP, add::<W>(d, earlier));
        }
    }
}

/// An index that moves lanes up by so many.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn lanes_less<W: Word>(lanes: usize) -> V {
    sub::<W>(lane_indexes::<W>(), splat(W::of(lanes)))
}

/// The difference of a group by up to two lags.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn difference_at<W: Word>(bytes: &[u8], at: usize, lags: &[u16]) -> V {
    let earlier = shifts::<W>(lags).map(|shift| load_at(bytes, at.wrapping_sub(shift)));
    match lags.len() {
        0 => earlier[0],
        1 => sub::<W>(earlier[0], earlier[1]),
        _ => sub::<W>(sub::<W>(earlier[0], earlier[1]), sub::<W>(earlier[2], earlier[3])),
    }
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn undo_below<W: Word>(residuals: &Block, maximum: W, rotation: u32, words: &mut Bytes) {
    for (to, group) in words.as_chunks_mut::<GROUP>().0.iter_mut().zip(groups(&residuals.0)) {
        store(to, rotated_right::<W>(sub::<W>(splat(maximum), load(group)), rotation));
    }
}
