//! Short lags: factors 1 - B^lag whose last values stay in registers.

use crate::format::GROUP;
use crate::kernel::block::Group;
use crate::kernel::scalar::shifts;
use crate::word::Word;
use core::arch::x86_64::*;
use mpress_codec_support::avx512::{
    V, add, behind, from_bytes, lane_indexes, load, load_at, permute, permute_kept, splat, store, sub,
    unzigzag,
};

/// The number of groups that are in registers at once.
pub(super) const SOME: usize = 8;

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

/// Undoes the factor of the lag at `i`, which is shorter than two vectors, for some vectors of differences. The first factor takes them as
/// residuals.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline(never)]
pub(super) fn undo<W: Word>(groups: &mut [Group], lags: &[u16], i: usize, message: &[u8]) {
    let mut short = Short::new::<W>(lags, i, message);
    for some in groups.as_chunks_mut::<SOME>().0 {
        let mut v = [_mm512_setzero_si512(); SOME];
        each!(I, {
            v[I] = load(&some[I]);
        });
        if i == 0 {
            each!(I, {
                v[I] = unzigzag::<W>(v[I]);
            });
        }
        short.undo::<W>(&mut v);
        each!(I, {
            store(&mut some[I], v[I]);
        });
    }
}

/// A factor 1 - B^lag with a lag shorter than two vectors.
struct Short {
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
    /// Starts at the end of a message, with the differences of its words by the lags after the one at `i`. Values before the message are
    /// 0.
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    fn new<W: Word>(lags: &[u16], i: usize, message: &[u8]) -> Self {
        let zero = _mm512_setzero_si512();
        let lag = lags.get(i).map_or(1, |lag| usize::from(*lag));
        let mut short = Self { lag, keep: [0; STEPS], up: [zero; STEPS], from: zero, last: [zero; 2] };
        let rest = lags.get(i + 1..).unwrap_or_default();
        let vectors = if message.is_empty() { 0 } else { 1 + usize::from(lag > W::LANES) };
        let shifts = shifts::<W>(rest);
        let shifts = shifts.get(..1 << rest.len()).unwrap_or(&shifts);
        for (last, i) in short.last[..vectors].iter_mut().zip(1..) {
            *last = difference_before::<W>(message, i * GROUP, shifts);
        }
        short.from = if lag > W::LANES {
            lanes_up::<W>(lag - W::LANES)
        } else {
            let remainders = REMAINDERS.get(lag).unwrap_or(&[0; 32]);
            add::<W>(from_bytes::<W>(remainders), splat(W::of(W::LANES - lag)))
        };
        steps!(W, I, {
            short.keep[I] = lanes_from::<W>(lag << I);
            short.up[I] = lanes_up::<W>(lag << I);
        });
        short
    }

    /// Undoes the factor for some vectors.
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    fn undo<W: Word>(&mut self, v: &mut [V; SOME]) {
        // The prefix sum within each.
        steps!(W, STEP, {
            if self.lag << STEP < W::LANES {
                each!(I, {
                    v[I] = add::<W>(v[I], permute_kept::<W>(self.keep[STEP], self.up[STEP], v[I]));
                });
            }
        });
        // The preceding values.
        if self.lag > W::LANES {
            each!(I, {
                let [last, last_but_one] = self.last;
                v[I] = add::<W>(v[I], behind::<W>(last, self.from, last_but_one));
                self.last = [v[I], last];
            });
            return;
        }
        // Two at a time, because each pair waits for the one before.
        let (from, from_two) = (self.from, permute::<W>(self.from, self.from));
        let mut last = self.last[0];
        for [first, second] in v.as_chunks_mut().0 {
            let both = add::<W>(*second, permute::<W>(from, *first));
            *first = add::<W>(*first, permute::<W>(from, last));
            last = add::<W>(both, permute::<W>(from_two, last));
            *second = last;
        }
        self.last[0] = last;
    }
}

/// The index vector that moves words up by `lanes` lanes.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn lanes_up<W: Word>(lanes: usize) -> V {
    sub::<W>(lane_indexes::<W>(), splat(W::of(lanes)))
}

/// The mask of the lanes from `lane` on.
fn lanes_from<W: Word>(lane: usize) -> u32 {
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

/// The vector `back` bytes before the end of a message, for a difference whose terms have these shifts.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline(never)]
pub(super) fn difference_before<W: Word>(message: &[u8], back: usize, shifts: &[usize]) -> V {
    let mut v = _mm512_setzero_si512();
    for (subset, shift) in shifts.iter().enumerate() {
        let words = load_edge::<W>(message, message.len() as isize - (back + shift) as isize);
        v = if subset.count_ones() % 2 == 0 { add::<W>(v, words) } else { sub::<W>(v, words) };
    }
    v
}
