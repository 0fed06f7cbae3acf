//! Residuals to words: one pass over the block for each lag shorter than two vectors ([`short`]), and a last one that appends the words.
//!
//! The last pass reads the terms of longer lags from the message: if y is the difference by the long lags a, b, ..., then x(i) = y(i) +
//! x(i - a) + x(i - b) - x(i - a - b)..., so it keeps nothing but the message. Keeping a group in registers from the wire to the message
//! is a seventh faster if everything is in the first-level cache. But it takes a function for each form, and most blocks wait for the wire
//! or the code and do not gain from it.

use super::short::{self, SOME, lanes_up, load_edge};
use crate::decode::rebuild::Form;
use crate::format::{Domain, GROUP, MAX_ORDER, Predictor};
use crate::kernel::avx2::undo::Message;
use crate::kernel::block::{Group, Groups};
use crate::kernel::scalar::shifts;
use crate::word::Word;
use core::arch::x86_64::*;
use mpress_codec::{Full, Out};
use mpress_codec_support::avx512::{V, add, behind, load, rotated_right, splat, store, sub, unzigzag};
use mpress_codec_support::prefetch;

/// The terms of three lags, and the word itself.
const TERMS: usize = 1 << MAX_ORDER;

/// From this distance on, a vector is loaded directly. A load that spans two recent stores would wait until both are in the cache, so a
/// nearer vector is made of two.
const FAR: usize = 12 * GROUP;

/// The words at a distance of at least two vectors before some others.
#[derive(Clone, Copy)]
struct Term {
    /// The distance in bytes of the vector; or of the later of two vectors, and which lanes of them the words are.
    back: usize,
    up: V,
}

impl Term {
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    fn new<W: Word>(shift: usize, far: bool) -> Self {
        let lanes = if far { 0 } else { shift % GROUP };
        Self { back: shift - lanes, up: lanes_up::<W>(lanes / W::WIDTH) }
    }
}

impl Message {
    /// The vector `back` bytes before the end.
    ///
    /// # Safety
    /// The message has at least `back` bytes, and `back` is at least a vector.
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    unsafe fn before(&self, back: usize) -> V {
        debug_assert!((GROUP..=self.len).contains(&back));
        // SAFETY: the caller guarantees that these 64 bytes belong to the message.
        unsafe { _mm512_loadu_si512(self.start.add(self.len - back).cast()) }
    }

    /// The words of a term for the next group.
    ///
    /// # Safety
    /// The message is a vector longer than the term's shift, which is two vectors or more.
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    unsafe fn inside<W: Word, const IS_FAR: bool>(&self, term: &Term) -> V {
        // SAFETY: guaranteed by the caller; `back` is at least two vectors, because a shift is.
        unsafe {
            let later = self.before(term.back);
            if IS_FAR { later } else { behind::<W>(later, term.up, self.before(term.back + GROUP)) }
        }
    }

    /// Appends the first `len` bytes of a vector (at least one), or all of it if `len` is more.
    ///
    /// # Safety
    /// `out` has room for them.
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    unsafe fn append_vector(&mut self, v: V, len: usize) {
        // SAFETY: the caller guarantees that there is room for `len` bytes; if the vector is longer, only the bytes in the mask are
        // written.
        unsafe {
            let to = self.start.add(self.len).cast();
            if len >= GROUP {
                _mm512_storeu_si512(to, v);
                self.len += GROUP;
            } else {
                _mm512_mask_storeu_epi8(to.cast(), u64::MAX >> (GROUP - len.max(1)), v);
                self.len += len;
            }
        }
    }
}

/// The number of lags shorter than two vectors.
fn shorts<W: Word>(lags: &[u16]) -> usize {
    lags.partition_point(|lag| usize::from(*lag) < 2 * W::LANES)
}

/// Prefetches the code for blocks of a predictor.
pub(super) fn prefetch_code<W: Word>(predictor: &Predictor) {
    prefetch(rebuild::<W> as *const u8, 128);
    if predictor.has_maximum() {
        return prefetch(Message::append_below::<W> as *const u8, 320);
    }
    prefetch(Message::append_differences::<W> as *const u8, 1280);
    if shorts::<W>(predictor.lags()) > 0 {
        prefetch(short::undo::<W> as *const u8, 1280);
        prefetch(short::difference_before::<W> as *const u8, 384);
    }
    if shorts::<W>(predictor.lags()) < predictor.lags().len() {
        prefetch(Message::append_others::<W> as *const u8, 448);
    }
}

/// Appends the words of a block to the message that begins at `start` of `out`.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn rebuild<W: Word>(
    form: &Form<'_, W>,
    residuals: &mut Groups,
    start: usize,
    out: &mut Out<'_>,
) -> Result<(), Full> {
    let len = form.words.min(W::BLOCK) * W::WIDTH;
    let written = out.written().len();
    if start > written || len > out.remaining() {
        return Err(Full);
    }
    // SAFETY: `start` is not past the bytes that have been written.
    let start_of_message = unsafe { out.as_mut_ptr().add(start) }.cast();
    let message = Message { start: start_of_message, len: written - start };
    // SAFETY: `out` has room for the block.
    unsafe {
        match form.predictor.has_maximum() {
            true => message.append_below::<W>(residuals, form, len),
            false => message.append_differences::<W>(residuals, form, len),
        }
        // All words of the block have been written after the existing bytes.
        out.assume_written(len);
    }
    Ok(())
}

impl Message {
    /// Appends `len` bytes of words from their distances below the greatest one.
    ///
    /// # Safety
    /// `out` has room for them.
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline(never)]
    unsafe fn append_below<W: Word>(mut self, residuals: &Groups, form: &Form<'_, W>, len: usize) {
        let maximum = splat(form.maximum);
        let rotation = u32::from(form.predictor.domain == Domain::Below { rotation: 1 });
        for (group, i) in residuals.iter().zip(0..len.div_ceil(GROUP)) {
            let v = rotated_right::<W>(sub::<W>(maximum, load(group)), rotation);
            // SAFETY: guaranteed by the caller.
            unsafe { self.append_vector(v, len - i * GROUP) };
        }
    }

    /// Appends `len` bytes of words from their differences.
    ///
    /// # Safety
    /// `out` has room for them.
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline(never)]
    unsafe fn append_differences<W: Word>(mut self, residuals: &mut Groups, form: &Form<'_, W>, len: usize) {
        let lags = form.predictor.lags();
        let some = &mut residuals[..len.div_ceil(SOME * GROUP) * SOME];
        let count = shorts::<W>(lags);
        if count == 0 {
            for group in &mut *some {
                store(group, unzigzag::<W>(load(group)));
            }
        }
        for i in 0..count {
            short::undo::<W>(some, lags, i, self.bytes());
        }
        let longs = lags.len() - count;
        let shifts = &shifts::<W>(&lags[count..])[..1 << longs.min(MAX_ORDER)];
        let far = shifts.get(1).is_some_and(|least| *least >= FAR);
        let mut terms = [Term { back: 0, up: _mm512_setzero_si512() }; TERMS];
        for (term, shift) in terms.iter_mut().zip(shifts) {
            *term = Term::new::<W>(*shift, far);
        }
        // The groups for which a term may reach before the message.
        let edge = match shifts {
            [.., reach] if longs > 0 => (reach + GROUP).saturating_sub(self.len).div_ceil(GROUP),
            _ => 0,
        };
        let (first, rest) = some.split_at(edge.min(len / GROUP));
        let (whole, last) = rest.split_at(len / GROUP - first.len());
        // SAFETY: guaranteed by the caller; `whole` are the groups after the edge.
        unsafe {
            self.append_others::<W>(first, shifts, first.len() * GROUP);
            match (longs, far) {
                (0, _) => self.append_whole::<W, 0, true>(whole, &terms),
                (1, false) => self.append_whole::<W, 1, false>(whole, &terms),
                (1, true) => self.append_whole::<W, 1, true>(whole, &terms),
                (2, false) => self.append_whole::<W, 2, false>(whole, &terms),
                (2, true) => self.append_whole::<W, 2, true>(whole, &terms),
                _ => self.append_others::<W>(whole, shifts, whole.len() * GROUP),
            }
            self.append_others::<W>(last, shifts, len % GROUP);
        }
    }

    /// Appends whole groups of words from the differences by `LONGS` lags, up to two.
    ///
    /// # Safety
    /// No term reaches before the message, and `out` has room for the groups.
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    unsafe fn append_whole<W: Word, const LONGS: usize, const IS_FAR: bool>(
        &mut self,
        groups: &[Group],
        terms: &[Term; TERMS],
    ) {
        for group in groups {
            let mut v = load(group);
            // SAFETY: guaranteed by the caller.
            unsafe {
                if LONGS > 0 {
                    v = add::<W>(v, self.inside::<W, IS_FAR>(&terms[1]));
                }
                if LONGS > 1 {
                    v = sub::<W>(
                        add::<W>(v, self.inside::<W, IS_FAR>(&terms[2])),
                        self.inside::<W, IS_FAR>(&terms[3]),
                    );
                }
                self.append_vector(v, GROUP);
            }
        }
    }

    /// Appends `len` bytes of words from the differences by any lags, anywhere in the message.
    ///
    /// # Safety
    /// `out` has room for them.
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline(never)]
    unsafe fn append_others<W: Word>(&mut self, groups: &[Group], shifts: &[usize], len: usize) {
        for (group, i) in groups.iter().zip(0..len.div_ceil(GROUP)) {
            let mut v = load(group);
            for (subset, shift) in shifts.iter().enumerate().skip(1) {
                let words = load_edge::<W>(self.bytes(), self.len as isize - *shift as isize);
                v = if subset.count_ones() % 2 == 0 { sub::<W>(v, words) } else { add::<W>(v, words) };
            }
            // SAFETY: guaranteed by the caller.
            unsafe { self.append_vector(v, len - i * GROUP) };
        }
    }
}
