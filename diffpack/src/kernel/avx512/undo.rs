//! Residuals to words: lags within a vector by prefix sums, longer ones from memory.

use super::vector::{
    V, add, from_bytes, lane_indexes, load, load_at, permute, rotated_right, splat, store, store_at, sub,
    unzigzag,
};
use crate::block::{Block, Bytes, groups};
use crate::format::GROUP;
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

/// The inverse of the factor 1 - B^lag for a lag shorter than a vector: y(i) = d(i) + y(i - lag).
#[derive(Clone, Copy)]
struct Stage {
    /// Steps of the prefix sum: each adds the lanes `lag`, 2 `lag`, 4 `lag`... below.
    steps: usize,
    from: [V; 5],
    keep: [u32; 5],
    /// Where each lane's value before this vector is in the vector before.
    before: V,
    last: V,
}

impl Stage {
    /// `last` has the values before the first vector, as far as the lag reaches.
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    fn new<W: Word>(lag: usize, last: V) -> Self {
        let zero = _mm512_setzero_si512();
        let remainders = REMAINDERS.get(lag).unwrap_or(&[0; 32]);
        let before = add::<W>(from_bytes::<W>(remainders), splat(W::of(W::LANES - lag)));
        let mut stage = Self { steps: 0, from: [zero; 5], keep: [0; 5], before, last };
        let mut distance = lag;
        while distance < W::LANES && stage.steps < 5 {
            // Lanes without one so far below have no bit in `keep`.
            stage.from[stage.steps] = sub::<W>(lane_indexes::<W>(), splat(W::of(distance)));
            stage.keep[stage.steps] = u32::MAX << distance;
            stage.steps += 1;
            distance *= 2;
        }
        stage
    }

    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    fn undo<W: Word>(&mut self, mut d: V) -> V {
        let before = permute::<W>(u32::MAX, self.before, self.last);
        d = self.step::<W>(0, d);
        if self.steps > 1 {
            d = self.step::<W>(1, d);
            if self.steps > 2 {
                d = self.step::<W>(2, d);
                if self.steps > 3 {
                    d = self.step::<W>(3, d);
                    if self.steps > 4 {
                        d = self.step::<W>(4, d);
                    }
                }
            }
        }
        self.last = add::<W>(d, before);
        self.last
    }

    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    fn step<W: Word>(&self, step: usize, d: V) -> V {
        add::<W>(d, permute::<W>(self.keep[step], self.from[step], d))
    }
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn undo_difference<W: Word>(residuals: &Block, lags: &[u16], bytes: &mut [u8], at: usize) {
    let mut short = 0;
    for lag in lags {
        short += usize::from(usize::from(*lag) < W::LANES);
    }
    match (short, lags.len() - short) {
        (0, 0) => undo::<W, 0, 0>(residuals, lags, bytes, at),
        (0, 1) => undo::<W, 0, 1>(residuals, lags, bytes, at),
        (0, 2) => undo::<W, 0, 2>(residuals, lags, bytes, at),
        (0, _) => undo::<W, 0, 3>(residuals, lags, bytes, at),
        (1, 0) => undo::<W, 1, 0>(residuals, lags, bytes, at),
        (1, 1) => undo::<W, 1, 1>(residuals, lags, bytes, at),
        (1, _) => undo::<W, 1, 2>(residuals, lags, bytes, at),
        (2, 0) => undo::<W, 2, 0>(residuals, lags, bytes, at),
        (2, _) => undo::<W, 2, 1>(residuals, lags, bytes, at),
        _ => undo::<W, 3, 0>(residuals, lags, bytes, at),
    }
}

/// With the first `SHORT` lags shorter than a vector and `LONG` longer ones behind them.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn undo<W: Word, const SHORT: usize, const LONG: usize>(
    residuals: &Block,
    lags: &[u16],
    bytes: &mut [u8],
    mut at: usize,
) {
    let zero = _mm512_setzero_si512();
    let mut stages = [Stage { steps: 0, from: [zero; 5], keep: [0; 5], before: zero, last: zero }; SHORT];
    for (i, stage) in stages.iter_mut().enumerate() {
        // What this stage makes is the difference by the lags behind it.
        let last = value::<W>(bytes, at.wrapping_sub(GROUP), lags.get(i + 1..).unwrap_or(&[]));
        *stage = Stage::new::<W>(lags.get(i).map_or(1, |lag| usize::from(*lag)), last);
    }
    let long = lags.get(SHORT..).unwrap_or(&[]);
    let shifts = shifts::<W>(long);
    for group in residuals.groups() {
        let mut d = unzigzag::<W>(load(group));
        for stage in &mut stages {
            d = stage.undo::<W>(d);
        }
        if LONG > 0 {
            d = add::<W>(d, history::<W, LONG>(bytes, at, &shifts));
        }
        store_at(bytes, at, d);
        at += GROUP;
    }
}

/// What the difference at `at` lacks of the word there.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn history<W: Word, const LONG: usize>(bytes: &[u8], at: usize, shifts: &[usize; 8]) -> V {
    let before = |index: usize| load_at(bytes, at.wrapping_sub(shifts[index]));
    match LONG {
        0 => _mm512_setzero_si512(),
        1 => before(1),
        2 => sub::<W>(add::<W>(before(1), before(2)), before(3)),
        _ => {
            let firsts = add::<W>(add::<W>(before(1), before(2)), before(4));
            let seconds = add::<W>(add::<W>(before(3), before(5)), before(6));
            add::<W>(sub::<W>(firsts, seconds), before(7))
        }
    }
}

/// The difference of a group by up to two lags.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn value<W: Word>(bytes: &[u8], at: usize, lags: &[u16]) -> V {
    let shifts = shifts::<W>(lags);
    let here = load_at(bytes, at);
    match lags.len() {
        0 => here,
        1 => sub::<W>(here, history::<W, 1>(bytes, at, &shifts)),
        _ => sub::<W>(here, history::<W, 2>(bytes, at, &shifts)),
    }
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn undo_below<W: Word>(residuals: &Block, maximum: W, rotation: u32, words: &mut Bytes) {
    for (to, group) in words.as_chunks_mut::<GROUP>().0.iter_mut().zip(groups(&residuals.0)) {
        store(to, rotated_right::<W>(sub::<W>(splat(maximum), load(group)), rotation));
    }
}
