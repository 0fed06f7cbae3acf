//! Residuals to words: one pass over the block for each short lag, and one that writes the words after the message. In a whole block without long
//! lags, the pass of the last short lag writes them there.
//!
//! The last pass reads the terms of longer lags from the message: if y is the difference by the long lags a, b, ..., then
//! x(i) = y(i) + x(i - a) + x(i - b) - x(i - a - b)... Where words of the message are missing, or other words are needed (fixed point), a
//! window takes the place of the message.

use super::pack::unpack_each;
use crate::decode::rebuild::{Form, Packed, Scratch};
use crate::format::{BLOCK, Domain, GROUP, GROUPS, MAX_ORDER};
use crate::kernel::block::Groups;
use crate::kernel::scalar::{SHORT, shifts};
use crate::kernel::{Kernel, portable};
use crate::word::Word;
use core::arch::x86_64::*;
use mpress_codec::{Full, Out};
use mpress_codec_support::avx2::{V, VECTOR, add, load, load_at, rotated_right, splat, store, sub, unzigzag};
use mpress_codec_support::prefetch;

// A lag that is not short is longer than a vector, and four vectors have the words of each short lag.
const _: () = assert!((SHORT + 1) * size_of::<u16>() >= VECTOR && SHORT * size_of::<u64>() <= 4 * VECTOR);

/// Vectors in a block.
const COUNT: usize = BLOCK / VECTOR;

/// The terms of three lags, and the word itself.
const TERMS: usize = 1 << MAX_ORDER;

/// Prefetches the code for blocks with these lags.
pub(super) fn prefetch_code<W: Word>(lags: &[u16]) {
    prefetch(unpack::<W> as *const u8, 768);
    prefetch(Message::differences::<W> as *const u8, 768);
    if shorts(lags) > 0 {
        prefetch(undo_factor::<W> as *const u8, 512);
    }
}

/// The number of lags whose last values are kept in registers.
fn shorts(lags: &[u16]) -> usize {
    lags.partition_point(|lag| usize::from(*lag) <= SHORT)
}

/// Appends the words of a block, from their differences, to the message that begins at `start` of `out`. The residuals are `packed` or, if
/// that is `None`, in `scratch`. `kernel` converts from and to fixed point.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(in crate::kernel) fn rebuild<W: Word, K: Kernel<W>>(
    kernel: K,
    packed: Option<Packed<'_>>,
    form: &Form<'_, W>,
    scratch: &mut Scratch,
    start: usize,
    out: &mut Out<'_>,
) -> Result<(), Full> {
    let Scratch { window, words, other, .. } = scratch;
    match packed {
        Some(packed) => unpack::<W>(packed, form.words, words.groups_mut()),
        None => undo_zigzag::<W>(words.groups_mut()),
    }
    let (lags, len) = (form.predictor.lags(), form.words.min(W::BLOCK) * W::WIDTH);
    let message = out.written().get(start..).ok_or(Full)?;
    let (at, reach) = (message.len(), form.predictor.reach() * W::WIDTH);
    let unit = match form.predictor.domain {
        Domain::Fixed(unit) => {
            window.fill_fixed(kernel, message, at, reach, unit);
            Some(unit)
        }
        _ if reach + GROUP <= at && len.is_multiple_of(VECTOR) && len <= out.remaining() => {
            // SAFETY: `start` is not past the bytes that have been written. `out` has room for the words, and all terms and a group before them are in
            // the message.
            unsafe {
                let start = out.as_mut_ptr().add(start).cast();
                Message { start, len: at }.differences::<W>(lags, words.groups_mut(), len);
                out.assume_written(len);
            }
            return Ok(());
        }
        _ => {
            window.fill(message, at, reach);
            None
        }
    };
    let before = window.before().len();
    let start = window.bytes_mut().as_mut_ptr();
    let (block, whole) = (words.groups_mut(), len.next_multiple_of(VECTOR));
    // SAFETY: the window has room for the block, and before it more than a predictor can reach and a group.
    unsafe { Message { start, len: before }.differences::<W>(lags, block, whole) };
    let mut made = window.block();
    if let Some(unit) = unit {
        kernel.apart(|| portable::to_float::<W>(made, unit.into(), &mut other.0));
        made = &other.0;
    }
    out.extend_from_slice(&made[..len])
}

/// Unpacks the differences of the first `words` words.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline(never)]
fn unpack<W: Word>(packed: Packed<'_>, words: usize, differences: &mut Groups) {
    let mut groups = differences.iter_mut();
    unpack_each::<W>(packed, words, |halves| {
        let Some(group) = groups.next() else { return };
        for (to, v) in group.as_chunks_mut().0.iter_mut().zip(halves) {
            store(to, unzigzag::<W>(v));
        }
    });
}

/// Residuals to differences.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn undo_zigzag<W: Word>(residuals: &mut Groups) {
    for vector in residuals.as_flattened_mut().as_chunks_mut().0 {
        store(vector, unzigzag::<W>(load(vector)));
    }
}

/// A message, or a window, while one of its blocks is being reconstructed.
pub(in crate::kernel) struct Message {
    pub(in crate::kernel) start: *mut u8,
    /// Bytes reconstructed so far.
    pub(in crate::kernel) len: usize,
}

impl Message {
    /// The bytes reconstructed so far.
    #[inline]
    pub(in crate::kernel) fn bytes(&self) -> &[u8] {
        // SAFETY: all bytes up to `len` are initialised, and nothing else refers to them while the message is reconstructed.
        unsafe { core::slice::from_raw_parts(self.start, self.len) }
    }

    /// Appends `len` bytes of words, in whole vectors, from the differences in a block.
    ///
    /// # Safety
    /// There is room for them. The message is longer than the reach of the lags by at least a group.
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    #[inline(never)]
    unsafe fn differences<W: Word>(self, lags: &[u16], block: &mut Groups, len: usize) {
        let count = shorts(lags);
        let longs = lags.len() - count;
        let shifts = shifts::<W>(&lags[count..]);
        let block = block.as_mut_ptr().cast();
        // SAFETY: the message has `self.len` bytes.
        let end_of_message = unsafe { self.start.add(self.len) };
        for i in 0..count {
            // Only for whole blocks: `undo_lag` always writes one.
            let is_last = i + 1 == count && longs == 0 && len == BLOCK;
            let to = if is_last { end_of_message } else { block };
            // SAFETY: the block has room, and so has the message for a whole one.
            unsafe { undo_factor::<W>(len.div_ceil(GROUP), &lags[i..], self.bytes(), block, to) };
            if is_last {
                return;
            }
        }
        let terms = shifts.map(|shift| end_of_message.wrapping_sub(shift).cast_const());
        // SAFETY: guaranteed by the caller. Lags other than the short ones are longer than a vector, so the words of all terms precede the vector
        // to be appended.
        unsafe {
            match longs {
                0 => self.append::<W, 0>(block, len, &terms),
                1 => self.append::<W, 1>(block, len, &terms),
                2 => self.append::<W, 2>(block, len, &terms),
                _ => self.append::<W, 3>(block, len, &terms),
            }
        }
    }

    /// Writes the words after the message, from the differences by `LONGS` lags in a block.
    ///
    /// # Safety
    /// There is room for them, in whole vectors, and the words of all terms exist.
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    unsafe fn append<W: Word, const LONGS: usize>(
        &self,
        block: *const u8,
        len: usize,
        terms: &[*const u8; TERMS],
    ) {
        for at in (0..len.min(BLOCK)).step_by(VECTOR) {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let term = |i: usize| _mm256_loadu_si256(terms[i].add(at).cast());
                let mut v = _mm256_loadu_si256(block.add(at).cast());
                if LONGS > 0 {
                    v = add::<W>(v, term(1));
                }
                if LONGS > 1 {
                    v = add::<W>(v, term(2));
                    v = sub::<W>(v, term(3));
                }
                if LONGS > 2 {
                    v = add::<W>(v, term(4));
                    v = sub::<W>(v, term(5));
                    v = sub::<W>(v, term(6));
                    v = add::<W>(v, term(7));
                }
                _mm256_storeu_si256(self.start.add(self.len + at).cast(), v);
            }
        }
    }
}

/// Undoes the factor of the first lag, a short one, in the first `groups` groups of a block: y(i) = d(i) + y(i - lag). Writes the difference by the
/// remaining lags to `to`. `before` has the words before the block.
///
/// # Safety
/// `block` has a block of differences, and `to` has room for one; they may be the same, but do not overlap in part. `to` does not overlap `before`.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline(never)]
unsafe fn undo_factor<W: Word>(groups: usize, lags: &[u16], before: &[u8], block: *const u8, to: *mut u8) {
    let Some((lag, rest)) = lags.split_first() else { return };
    // SAFETY: guaranteed by the caller.
    unsafe {
        match usize::from(*lag) * W::WIDTH {
            2 => undo_divisor::<W, 3>(groups, rest, before, block, to),
            4 => undo_divisor::<W, 2>(groups, rest, before, block, to),
            8 => undo_divisor::<W, 1>(groups, rest, before, block, to),
            16 => undo_divisor::<W, 0>(groups, rest, before, block, to),
            _ => {
                let backs = [4 * VECTOR, 3 * VECTOR, 2 * VECTOR, VECTOR];
                let mut last = [[0; VECTOR]; 4];
                for (to, v) in last.iter_mut().zip(differences_before::<W, 4>(before, backs, rest)) {
                    store(to, v);
                }
                by_lag!(undo_lag::<W>(last.as_flattened(), block, to), usize::from(*lag));
            }
        }
    }
}

/// Calls `undo` with the index of each vector in the first groups of a block.
#[inline(always)]
fn each(groups: usize, undo: impl FnMut(usize)) {
    // Nearly always a whole block, so the compiler then knows its length.
    match groups {
        GROUPS.. => (0..COUNT).for_each(undo),
        _ => (0..groups * (GROUP / VECTOR)).for_each(undo),
    }
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

/// Undoes a lag of 16, 8, 4 or 2 bytes by prefix sums in each half of a vector; each step doubles the lag, up to 16.
///
/// # Safety
/// As [`undo_factor`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn undo_divisor<W: Word, const STEPS: usize>(
    groups: usize,
    rest: &[u16],
    before: &[u8],
    block: *const u8,
    to: *mut u8,
) {
    let zero = _mm256_setzero_si256();
    let [last] = differences_before::<W, 1>(before, [VECTOR], rest);
    // The words before a vector, repeated.
    let mut carry = _mm256_permute4x64_epi64::<0xee>(ends::<STEPS>(last));
    each(groups, |i| {
        // SAFETY: vectors of a block, by the caller's guarantee.
        let (from, to) = unsafe { (block.add(i * VECTOR), to.add(i * VECTOR)) };
        // SAFETY: as above.
        let mut sums = unsafe { _mm256_loadu_si256(from.cast()) };
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
        // SAFETY: as above.
        unsafe { _mm256_storeu_si256(to.cast(), add::<W>(sums, carry)) };
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

/// Undoes a short lag that does not divide half a vector: takes `LAG` words at a time, which the compiler puts in vectors, and keeps the
/// last ones in registers.
///
/// # Safety
/// As [`undo_factor`].
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
unsafe fn undo_lag<W: Word, const LAG: usize>(before: &[u8], block: *const u8, to: *mut u8) {
    let mut last = [W::ZERO; LAG];
    for (last, word) in last.iter_mut().rev().zip(W::split(before).0.iter().rev()) {
        *last = W::from_bytes(*word);
    }
    let (block, to) = (block.cast::<W::Bytes>(), to.cast::<W::Bytes>());
    let whole = W::BLOCK / LAG * LAG;
    for at in (0..whole).step_by(LAG) {
        // SAFETY: words of a block, by the caller's guarantee.
        let words = unsafe { block.add(at).cast::<[W::Bytes; LAG]>().read() };
        for (last, word) in last.iter_mut().zip(words) {
            *last = last.plus(W::from_bytes(word));
        }
        // SAFETY: as above.
        unsafe { to.add(at).cast::<[W::Bytes; LAG]>().write(last.map(W::to_bytes)) };
    }
    for (at, last) in (whole..W::BLOCK).zip(last) {
        // SAFETY: as above.
        unsafe { to.add(at).write(last.plus(W::from_bytes(block.add(at).read())).to_bytes()) };
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
    // A separate case: a copy of known length is not a call.
    result.and(out.store(&last, left))
}
