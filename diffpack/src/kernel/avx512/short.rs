//! Short lags: factors 1 - B^lag whose last values stay in registers.

use crate::format::GROUP;
use crate::word::Word;
use core::arch::x86_64::*;
use mpress_codec_support::avx512::{
    V, add, behind, from_bytes, lane_indexes, load_at, permute_kept, splat, sub,
};

/// The number of groups that are in registers at once.
pub(super) const SOME: usize = 4;

/// The maximum number of steps of a prefix sum within a vector.
const STEPS: usize = 5;

/// Repeats the body for each step of a prefix sum, with `$i` constant, so that the vectors stay in registers.
macro_rules! steps {
    ($word:ident, $i:ident, $body:block) => {
        steps!(@ $word, $i, $body, 0, 1, 2, 3, 4)
    };
    (@ $word:ident, $i:ident, $body:block, $($n:literal),*) => {
        $(if 1 << $n < $word::LANES {
            const $i: usize = $n;
            $body
        })*
    };
}

/// Lane indices modulo each lag.
static REMAINDERS: [[u8; 32]; 33] = {
    let mut table = [[0; 32]; 33];
    let mut lag = 1;
    while lag <= 32 {
        let mut i = 0;
        while i < 32 {
            table[lag][i] = (i % lag) as u8;
            i += 1;
        }
        lag += 1;
    }
    table
};

/// A factor 1 - B^lag with a lag shorter than two vectors.
pub(super) struct Short {
    lag: usize,
    /// The steps of the prefix sum within a vector: each adds the lanes `lag`, 2 `lag`, 4 `lag`... below.
    keep: [u32; STEPS],
    up: [V; STEPS],
    /// For each lane, the lane of the last two vectors with the value that precedes it.
    from: V,
    /// The last two vectors of the result.
    last: [V; 2],
}

impl Short {
    /// Starts at the end of a message with the differences of its words by the lags after the one at `i`. Values before the message are 0.
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    pub(super) fn new<W: Word>(lags: &[u16], i: usize, message: &[u8]) -> Self {
        let zero = _mm512_setzero_si512();
        let lag = lags.get(i).map_or(1, |lag| usize::from(*lag));
        let mut short = Self { lag, keep: [0; STEPS], up: [zero; STEPS], from: zero, last: [zero; 2] };
        let rest = lags.get(i + 1..).unwrap_or_default();
        if !message.is_empty() {
            short.last[0] = difference_before::<W>(message, GROUP, rest);
        }
        if lag > W::LANES {
            short.from = lanes_up::<W>(lag - W::LANES);
            short.last[1] = difference_before::<W>(message, 2 * GROUP, rest);
        } else {
            let remainders = REMAINDERS.get(lag).unwrap_or(&[0; 32]);
            short.from = add::<W>(from_bytes::<W>(remainders), splat(W::of(W::LANES - lag)));
        }
        steps!(W, I, {
            short.keep[I] = lanes_from::<W>(lag << I);
            short.up[I] = lanes_up::<W>(lag << I);
        });
        short
    }

    /// Undoes the factor for the first `some` vectors.
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    pub(super) fn undo<W: Word>(&mut self, v: &mut [V; SOME], some: usize) {
        // The prefix sum within each.
        steps!(W, STEP, {
            if self.lag << STEP < W::LANES {
                each!(I, {
                    v[I] = add::<W>(v[I], permute_kept::<W>(self.keep[STEP], self.up[STEP], v[I]));
                });
            }
        });
        // The values of those before.
        each!(I, {
            if I < some {
                let [last, last_but_one] = self.last;
                v[I] = add::<W>(v[I], behind::<W>(last, self.from, last_but_one));
                self.last = [v[I], last];
            }
        });
    }
}

/// The index vector that moves words up by `lanes` lanes.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn lanes_up<W: Word>(lanes: usize) -> V {
    sub::<W>(lane_indexes::<W>(), splat(W::of(lanes)))
}

/// The mask of the lanes from `lane` on.
pub(super) fn lanes_from<W: Word>(lane: usize) -> u32 {
    (u32::MAX >> (32 - W::LANES)) & (u32::MAX << lane.min(31))
}

/// The vector at byte `at` of a message. Words before the message are 0.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn load_edge<W: Word>(message: &[u8], at: isize) -> V {
    match usize::try_from(at) {
        Ok(at) => load_at(message, at),
        Err(_) if at <= -(GROUP as isize) => _mm512_setzero_si512(),
        Err(_) => {
            let lanes = at.unsigned_abs() / W::WIDTH;
            permute_kept::<W>(lanes_from::<W>(lanes), lanes_up::<W>(lanes), load_at(message, 0))
        }
    }
}

/// The difference by up to two lags of the vector `back` bytes before the end of a message.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn difference_before<W: Word>(message: &[u8], back: usize, lags: &[u16]) -> V {
    let at = message.len() as isize - back as isize;
    let lag = |i: usize| lags.get(i).map_or(0, |lag| usize::from(*lag) * W::WIDTH) as isize;
    let mut v = load_edge::<W>(message, at);
    if !lags.is_empty() {
        v = sub::<W>(v, load_edge::<W>(message, at - lag(0)));
    }
    if lags.len() > 1 {
        let other = load_edge::<W>(message, at - lag(1));
        let both = load_edge::<W>(message, at - lag(0) - lag(1));
        v = sub::<W>(v, sub::<W>(other, both));
    }
    v
}
