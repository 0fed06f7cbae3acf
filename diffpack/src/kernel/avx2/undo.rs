//! Residuals to words, one factor 1 - B^lag after another. Lags are in bytes here, so that the same permutations serve every word.

use super::pack::unpack_each;
use crate::decode::rebuild::{Form, Packed};
use crate::format::{BLOCK, GROUP, GROUPS};
use crate::kernel::Words;
use crate::kernel::scalar::{self, SHORT, shifts};
use crate::word::Word;
use core::arch::x86_64::*;
use mpress_codec::{Full, Out};
use mpress_codec_support::avx2::{
    Bytes as Vector, V, VECTOR, add, load, load_at, load_lane, middle, quarter, rotated_right, splat, store,
    sub, unzigzag,
};

/// Vectors in a block.
const COUNT: usize = BLOCK / VECTOR;

/// Calls `undo` with the index of each vector in the first groups of a block.
#[inline(always)]
fn each(groups: usize, undo: impl FnMut(usize)) {
    // Nearly always a whole block, whose length the compiler then knows.
    match groups {
        GROUPS.. => (0..COUNT).for_each(undo),
        _ => (0..groups * (GROUP / VECTOR)).for_each(undo),
    }
}

/// The distance in bytes below which a load that spans two stores would wait for them.
const RECENT: usize = 512;

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn undo_difference<W: Word>(groups: usize, lags: &[u16], before: &[u8], words: &mut Words) {
    let Some(words) = words.bytes_mut().as_chunks_mut().0.first_chunk_mut() else { return };
    match lags {
        [] => copy::<W>(groups, words),
        _ => undo_factor::<W, true>(groups, lags, before, words),
    }
    for i in 1..lags.len() {
        undo_factor::<W, false>(groups, &lags[i..], before, words);
    }
}

/// Copies the differences unchanged.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn copy<W: Word>(groups: usize, words: &mut [Vector; 2 * COUNT]) {
    each(groups, |i| {
        let d = difference::<W, true>(words, i);
        store(&mut words[COUNT + i], d);
    });
}

/// Undoes the factor of the first lag: y(i) = d(i) + y(i - lag). The first factor takes d from the residuals, the others from the result of the
/// factor before. The result is the difference by the remaining lags.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn undo_factor<W: Word, const FIRST: bool>(
    groups: usize,
    lags: &[u16],
    before: &[u8],
    words: &mut [Vector; 2 * COUNT],
) {
    let Some((lag, rest)) = lags.split_first() else { return };
    match usize::from(*lag) * W::WIDTH {
        2 => undo_divisor::<W, FIRST, 3>(groups, rest, before, words),
        4 => undo_divisor::<W, FIRST, 2>(groups, rest, before, words),
        8 => undo_divisor::<W, FIRST, 1>(groups, rest, before, words),
        16 => undo_divisor::<W, FIRST, 0>(groups, rest, before, words),
        lag if lag <= SHORT * W::WIDTH => undo_short::<W, FIRST>(groups, lag, rest, before, words),
        lag => undo_far::<W, FIRST>(lag, rest, before, words),
    }
}

/// The vector of differences at index `i`.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn difference<W: Word, const FIRST: bool>(words: &[Vector; 2 * COUNT], i: usize) -> V {
    let d = load(&words[COUNT + i]);
    if FIRST { unzigzag::<W>(d) } else { d }
}

/// The differences by up to two lags of the vectors at `backs` bytes before the end of `before`.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn differences_before<W: Word, const N: usize>(before: &[u8], backs: [usize; N], lags: &[u16]) -> [V; N] {
    let shifts = shifts::<W>(lags);
    let mut differences = [_mm256_setzero_si256(); N];
    for (to, back) in differences.iter_mut().zip(backs) {
        let at = before.len().wrapping_sub(back);
        let earlier = |i: usize| load_at(before, at.wrapping_sub(shifts[i]));
        *to = match lags.len() {
            0 => earlier(0),
            1 => sub::<W>(earlier(0), earlier(1)),
            _ => sub::<W>(sub::<W>(earlier(0), earlier(1)), sub::<W>(earlier(2), earlier(3))),
        };
    }
    differences
}

/// Undoes a lag of 16, 8, 4 or 2 bytes by prefix sums in each half of a vector, in as many steps as it takes to double the lag to 16.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn undo_divisor<W: Word, const FIRST: bool, const STEPS: usize>(
    groups: usize,
    rest: &[u16],
    before: &[u8],
    words: &mut [Vector; 2 * COUNT],
) {
    let zero = _mm256_setzero_si256();
    let [last] = differences_before::<W, 1>(before, [VECTOR], rest);
    // The words before a vector, repeated.
    let mut carry = _mm256_permute4x64_epi64::<0xee>(ends::<STEPS>(last));
    each(groups, |i| {
        let mut sums = difference::<W, FIRST>(words, i);
        if STEPS > 2 {
            sums = add::<W>(sums, _mm256_bslli_epi128::<2>(sums));
        }
        if STEPS > 1 {
            sums = add::<W>(sums, _mm256_bslli_epi128::<4>(sums));
        }
        if STEPS > 0 {
            sums = add::<W>(sums, _mm256_bslli_epi128::<8>(sums));
        }
        let halves = ends::<STEPS>(sums);
        let swapped = _mm256_permute4x64_epi64::<0x4e>(halves);
        let sums = add::<W>(sums, _mm256_blend_epi32::<0xf0>(zero, swapped));
        store(&mut words[COUNT + i], add::<W>(sums, carry));
        carry = add::<W>(carry, add::<W>(halves, swapped));
    });
}

/// The last words of each half of a vector, as many as the lag, repeated.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn ends<const STEPS: usize>(v: V) -> V {
    match STEPS {
        0 => v,
        1 => _mm256_unpackhi_epi64(v, v),
        2 => _mm256_shuffle_epi32::<0xff>(v),
        _ => _mm256_shuffle_epi32::<0xff>(_mm256_shufflehi_epi16::<0xff>(v)),
    }
}

/// Undoes a short lag that does not divide half a vector with the portable code, which takes as many words at a time as the lag, in vectors and what
/// remains of them.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn undo_short<W: Word, const FIRST: bool>(
    groups: usize,
    lag: usize,
    rest: &[u16],
    before: &[u8],
    words: &mut [Vector; 2 * COUNT],
) {
    if FIRST {
        copy::<W>(groups, words);
    }
    let last = differences_before::<W, 4>(before, [VECTOR, 2 * VECTOR, 3 * VECTOR, 4 * VECTOR], rest);
    for (to, v) in words[..COUNT].iter_mut().rev().zip(last) {
        store(to, v);
    }
    let words = W::split_mut(words.as_flattened_mut()).0;
    scalar::undo_short::<W>(words, lag / W::WIDTH);
}

/// Undoes a longer lag: reads words before the block as far as the lag reaches there, then words of the block itself.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn undo_far<W: Word, const FIRST: bool>(
    lag: usize,
    rest: &[u16],
    before: &[u8],
    words: &mut [Vector; 2 * COUNT],
) {
    let whole = lag / VECTOR;
    match rest {
        [] => add_before::<W, FIRST>(lag, &[], before, words),
        [a] => add_before::<W, FIRST>(lag, &[*a], before, words),
        [a, b, ..] => add_before::<W, FIRST>(lag, &[*a, *b], before, words),
    }
    if whole >= COUNT {
        return;
    }
    let last = differences_before::<W, 2>(before, [VECTOR, 2 * VECTOR], rest);
    for (to, v) in words[..COUNT].iter_mut().rev().zip(last) {
        store(to, v);
    }
    if lag.is_multiple_of(VECTOR) {
        for i in whole..COUNT {
            let d = difference::<W, FIRST>(words, i);
            let earlier = load(&words[COUNT + i - whole]);
            store(&mut words[COUNT + i], add::<W>(d, earlier));
        }
    } else if lag >= RECENT {
        for i in whole..COUNT {
            let d = difference::<W, FIRST>(words, i);
            let earlier = load_at(words.as_flattened(), (COUNT + i) * VECTOR - lag);
            store(&mut words[COUNT + i], add::<W>(d, earlier));
        }
    } else {
        // A load that spans two recent stores would wait until both are in the cache, so the vector is assembled from two loads.
        let behind = Behind::new(lag);
        match lag % VECTOR {
            ..16 => add_behind::<W, FIRST, 0>(whole, &behind, words),
            16 => add_behind::<W, FIRST, 1>(whole, &behind, words),
            _ => add_behind::<W, FIRST, 2>(whole, &behind, words),
        }
    }
}

/// The part of the block for which all added words are before the block.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn add_before<W: Word, const FIRST: bool>(
    lag: usize,
    rest: &[u16],
    before: &[u8],
    words: &mut [Vector; 2 * COUNT],
) {
    for i in 0..COUNT.min(lag / VECTOR) {
        let d = difference::<W, FIRST>(words, i);
        let [earlier] = differences_before::<W, 1>(before, [lag - i * VECTOR], rest);
        store(&mut words[COUNT + i], add::<W>(d, earlier));
    }
}

/// The rest of the block, with added vectors assembled from two.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn add_behind<W: Word, const FIRST: bool, const HALVES: usize>(
    whole: usize,
    behind: &Behind,
    words: &mut [Vector; 2 * COUNT],
) {
    let mut before = load(&words[COUNT - 1]);
    for i in whole..COUNT {
        let d = difference::<W, FIRST>(words, i);
        let this = load(&words[COUNT + i - whole]);
        let earlier = behind.of::<W, HALVES>(before, this);
        before = this;
        store(&mut words[COUNT + i], add::<W>(d, earlier));
    }
}

/// Permutations that assemble the vector at some bytes before another from that one and the one before.
struct Behind {
    /// For each byte: its source in a half, or in the half before.
    this: V,
    before: V,
}

impl Behind {
    /// For the part of a lag beyond whole vectors.
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    fn new(lag: usize) -> Self {
        // An index with its highest bit set gives a zero byte.
        const NUMBERS: [u8; 48] = {
            let mut numbers = [0x80; 48];
            let mut i = 0;
            while i < 16 {
                numbers[16 + i] = i as u8;
                i += 1;
            }
            numbers
        };
        let numbers = |from: usize| {
            let numbers = NUMBERS.get(from..).and_then(|rest| rest.first_chunk()).unwrap_or(&[0x80; 16]);
            _mm256_broadcastsi128_si256(load_lane(numbers))
        };
        Self { this: numbers(16 - lag % 16), before: numbers(32 - lag % 16) }
    }

    /// `HALVES`: 0 for less than half a vector, 1 for exactly half, otherwise more.
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    fn of<W: Word, const HALVES: usize>(&self, before: V, this: V) -> V {
        let middle = middle(before, this);
        let (before, this) = match HALVES {
            0 => (middle, this),
            1 => return middle,
            _ => (before, middle),
        };
        match W::BITS {
            64 => quarter(before, this),
            _ => _mm256_or_si256(
                _mm256_shuffle_epi8(before, self.before),
                _mm256_shuffle_epi8(this, self.this),
            ),
        }
    }
}

/// Appends the words of a block from their distances below the greatest one.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn undo_below<W: Word, const ROTATION: u32>(
    packed: Packed<'_>,
    form: &Form<'_, W>,
    out: &mut Out<'_>,
) -> Result<(), Full> {
    let (maximum, mut left) = (splat(form.maximum), form.words * W::WIDTH);
    let (mut result, mut last) = (Ok(()), [0; GROUP]);
    unpack_each::<W>(packed, form.words, |halves| {
        let mut group = [0; GROUP];
        for (to, v) in group.as_chunks_mut().0.iter_mut().zip(halves) {
            store(to, rotated_right::<W, ROTATION>(sub::<W>(maximum, v)));
        }
        if left >= GROUP {
            left -= GROUP;
            result = result.and(out.store(&group, GROUP));
        } else {
            last = group;
        }
    });
    // Apart from the others: a copy whose length is known is no call.
    result.and(out.store(&last, left))
}
