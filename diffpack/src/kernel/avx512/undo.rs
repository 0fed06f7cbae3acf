//! Residuals to words: lags within a vector by prefix sums, longer ones from the words before.

use super::vector::{
    V, add, behind, from_bytes, lane_indexes, load, load_at, permute, rotated_right, splat, store, store_at,
    sub, unzigzag,
};
use crate::block::{Block, Bytes, groups};
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
    for (to, group) in words.block_mut().as_chunks_mut().0.iter_mut().zip(residuals.groups()) {
        store(to, unzigzag::<W>(load(group)));
    }
    for (i, lag) in lags.iter().enumerate() {
        let lag = usize::from(*lag);
        let near = lag.min(W::BLOCK);
        // What undoing this factor makes is the difference by the lags behind it.
        let mut from = before.len().wrapping_sub((lag - near) * W::WIDTH);
        for to in words.before_mut().as_chunks_mut().0.iter_mut().rev().take(near.div_ceil(W::LANES)) {
            from = from.wrapping_sub(GROUP);
            store(to, difference_at::<W>(before, from, &lags[i + 1..]));
        }
        match W::LANES.div_ceil(lag) {
            1 => undo_long::<W>(words, near),
            2 => undo_short::<W, 1>(words, lag),
            3..=4 => undo_short::<W, 2>(words, lag),
            5..=8 => undo_short::<W, 3>(words, lag),
            9..=16 => undo_short::<W, 4>(words, lag),
            _ => undo_short::<W, 5>(words, lag),
        }
    }
}

/// Undoes the factor 1 - B^lag of a lag shorter than a vector: y(i) = d(i) + y(i - lag). It takes `STEPS` steps for a
/// prefix sum, each of which adds the lanes `lag`, 2 `lag`, 4 `lag`... below.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn undo_short<W: Word, const STEPS: usize>(words: &mut Words, lag: usize) {
    let zero = _mm512_setzero_si512();
    let mut steps = [zero; STEPS];
    for (i, step) in steps.iter_mut().enumerate() {
        *step = sub::<W>(lane_indexes::<W>(), splat(W::of(lag << i)));
    }
    // Where each lane's value before this vector is in the vector before.
    let remainders = REMAINDERS.get(lag).unwrap_or(&[0; 32]);
    let before = add::<W>(from_bytes::<W>(remainders), splat(W::of(W::LANES - lag)));
    let mut last = words.before_mut().last_chunk().map_or(zero, |group| load(group));
    for group in words.block_mut().as_chunks_mut().0 {
        let mut d = load(group);
        for step in steps {
            d = add::<W>(d, behind::<W>(d, step, zero));
        }
        last = add::<W>(d, permute::<W>(before, last));
        store(group, last);
    }
}

/// Undoes the factor of a lag not shorter than a vector.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn undo_long<W: Word>(words: &mut Words, lag: usize) {
    let (groups, lanes) = (lag / W::LANES, lag % W::LANES);
    let words = words.bytes_mut();
    // A load that spans two stores has to wait until both are in the cache: better to put it together from two.
    if lanes != 0 && groups < RECENT {
        let index = sub::<W>(lane_indexes::<W>(), splat(W::of(lanes)));
        for at in (BLOCK..2 * BLOCK).step_by(GROUP) {
            let group = at - groups * GROUP;
            let earlier = behind::<W>(load_at(words, group), index, load_at(words, group - GROUP));
            store_at(words, at, add::<W>(load_at(words, at), earlier));
        }
    } else {
        for at in (BLOCK..2 * BLOCK).step_by(GROUP) {
            let earlier = load_at(words, at - lag * W::WIDTH);
            store_at(words, at, add::<W>(load_at(words, at), earlier));
        }
    }
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
