//! Residuals to words in one pass: a group stays in registers from the wire to the message. Nothing but a few last values connects one group to the
//! next, so the processor works on many at a time.
//!
//! Lags shorter than two vectors are undone in registers: within a vector by prefix sums, between vectors by carrying the last values. The terms of
//! longer lags are read from the message: if y is the difference by the long lags a, b, ..., then x(i) = y(i) + x(i - a) + x(i - b) - x(i - a -
//! b)..., so nothing but the message itself must be kept.

use super::fixed::{fixed_of, float_of};
use super::pack::{Source, unpack_at};
use super::short::{SOME, Short, lanes_from, lanes_up, load_edge};
use crate::block::Bytes;
use crate::format::{GROUP, GROUPS, MAX_ORDER};
use crate::predictor::Domain;
use crate::rebuild::{Form, Packed};
use crate::word::Word;
use core::arch::x86_64::*;
use core::ops::Range;
use mpress_codec::support::avx512::{
    V, add, behind, lane_indexes, permute_kept, rotated_right, shifted_left, splat, sub, unzigzag,
};
use mpress_codec::{Full, Out};

/// The distance in groups below which a load that spans two stores would wait for them.
const RECENT: usize = 12;
/// The maximum number of terms of a difference besides the word itself.
const TERMS: usize = (1 << MAX_ORDER) - 1;

/// Unpacks the groups from `$i` on into `$v`. Not a function, because the vectors must stay in registers.
macro_rules! unpack_some {
    ($word:ident, $source:ident, $i:ident, $v:ident) => {
        match $source.some::<SOME, { SOME * GROUP }>($i) {
            Some((widths, room)) => {
                let mut from = 0;
                if $source.narrow {
                    each!(I, {
                        // SAFETY: no group is longer than a vector, and there is room for as many vectors.
                        $v[I] = unsafe { unpack_at::<$word, true>(room, &mut from, widths[I]) };
                    });
                } else {
                    each!(I, {
                        // SAFETY: as above.
                        $v[I] = unsafe { unpack_at::<$word, false>(room, &mut from, widths[I]) };
                    });
                }
                $source.at += from;
            }
            None => {
                each!(I, {
                    $v[I] = $source.group::<$word>($i + I);
                });
            }
        }
    };
}

/// A term of the longer lags.
struct Term {
    /// How far it looks back, in bytes; at least two vectors.
    shift: usize,
    /// If it is made of two vectors, the distance of the later one, and which lanes it consists of.
    back: usize,
    up: V,
}

impl Term {
    /// A load that spans two recent stores would wait until both are in the cache, so a vector is assembled from two loads there.
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    fn new<W: Word>(shift: usize) -> Self {
        let back = if shift / GROUP < RECENT { shift / GROUP * GROUP } else { shift };
        Self { shift, back, up: lanes_up::<W>((shift - back) / W::WIDTH) }
    }
}

/// The shifts of the terms of up to three lags: for each non-empty subset of the lags, numbered from 1, the sum of its lags in bytes at index number - 1.
#[inline(always)]
fn shifts_of<W: Word>(lags: &[u16]) -> [usize; TERMS] {
    let lag = |i: usize| lags.get(i).map_or(0, |lag| usize::from(*lag) * W::WIDTH);
    let (a, b, c) = (lag(0), lag(1), lag(2));
    [a, b, a + b, c, a + c, b + c, a + b + c]
}

/// The message while one of its blocks is being reconstructed.
struct Message {
    /// The start of the message.
    start: *mut u8,
    /// Bytes reconstructed so far.
    len: usize,
    /// The offset of the current block.
    block: usize,
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
    unsafe fn inside<W: Word>(&self, term: &Term) -> V {
        // SAFETY: guaranteed by the caller; `back` is at least two vectors, because a shift is.
        unsafe {
            match term.back {
                back if back == term.shift => self.before(back),
                back => behind::<W>(self.before(back), term.up, self.before(back + GROUP)),
            }
        }
    }

    /// The same for a term that may reach before the message.
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    fn term<W: Word>(&self, term: &Term) -> V {
        if self.len < term.shift + GROUP {
            return self.edge::<W>(term.shift);
        }
        // SAFETY: the condition above.
        unsafe { self.inside::<W>(term) }
    }

    /// The words `shift` bytes before the next group, of which some may be before the message.
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[cold]
    #[inline(never)]
    fn edge<W: Word>(&self, shift: usize) -> V {
        load_edge::<W>(self.bytes(), self.len as isize - shift as isize, None)
    }

    /// Appends the first `len` bytes of a vector, at least one, or all of it if `len` is more.
    ///
    /// # Safety
    /// `out` has room for them.
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    unsafe fn append(&mut self, v: V, len: usize) {
        // SAFETY: the caller guarantees that there is room for `len` bytes; of a vector that is longer only the bytes in the mask are written.
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

    /// The fixed-point values of the vector at a byte of the message. Words of the current block are fixed-point values already: the format
    /// predicts from them, and with a hostile wire a conversion to floats and back need not restore them.
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    fn fixed<W: Word>(&self, v: V, at: isize, unit: u32) -> V {
        let before = usize::try_from(self.block as isize - at).unwrap_or(0) / W::WIDTH;
        match before {
            0 => v,
            _ if before >= W::LANES => fixed_of::<W>(v, unit),
            _ => {
                let inside = lanes_from::<W>(before);
                let same = lane_indexes::<W>();
                let before = permute_kept::<W>(!inside, same, fixed_of::<W>(v, unit));
                _mm512_or_si512(before, permute_kept::<W>(inside, same, v))
            }
        }
    }

    /// Converts the fixed-point values of the block to floats.
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    fn finish_fixed<W: Word>(&mut self, unit: u32) {
        let end = core::mem::replace(&mut self.len, self.block);
        while self.len < end {
            let some = (end - self.len).min(GROUP);
            let keep = u64::MAX >> (GROUP - some);
            // SAFETY: only the bytes in the mask are read, all in the block; they are overwritten below.
            unsafe {
                let v = _mm512_maskz_loadu_epi8(keep, self.start.add(self.len).cast());
                self.append(float_of::<W>(v, unit), some);
            }
        }
    }

    /// The bytes reconstructed so far.
    fn bytes(&self) -> &[u8] {
        // SAFETY: all bytes up to `len` are initialised, and nothing else refers to them while the message is reconstructed.
        unsafe { core::slice::from_raw_parts(self.start, self.len) }
    }
}

/// Appends the words of a block to the message that begins at `start` of `out`.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn rebuild<W: Word>(
    packed: Option<Packed<'_>>,
    form: &Form<'_, W>,
    residuals: &Bytes,
    start: usize,
    out: &mut Out<'_>,
) -> Result<(), Full> {
    let len = form.words.min(W::BLOCK) * W::WIDTH;
    let written = out.written().len();
    if start > written || len > out.remaining() {
        return Err(Full);
    }
    // Residuals in a block are like packed ones of the full width.
    let widths = [W::BITS as u8; GROUPS];
    let source = Source::new::<W>(packed.unwrap_or(Packed { wire: residuals, widths: &widths }));
    // SAFETY: `start` is not past the bytes that have been written.
    let start_of_message = unsafe { out.as_mut_ptr().add(start) }.cast();
    let message = Message { start: start_of_message, len: written - start, block: written - start };
    let lags = form.predictor.lags();
    let (short, long) = lags.split_at(lags.partition_point(|lag| usize::from(*lag) < 2 * W::LANES));
    let groups = len.div_ceil(GROUP);
    let any = matches!(form.predictor.domain, Domain::Fixed(_)) || form.strip.is_some();
    // SAFETY: `out` has room for the block, whose groups are these. The lags are split at two vectors, `COUNT` is the number that stands for those after the
    // split, and where words are in fixed point or zeros were stripped (`any`), no arm but the general ones is taken.
    unsafe {
        match (short.len(), long) {
            _ if !form.predictor.is_difference() => message.below::<W>(source, form, len),
            (0, []) if !any => message.differences::<W, 0, 0>(source, form, len),
            (1, []) if !any => message.differences::<W, 1, 0>(source, form, len),
            (2, []) if !any => message.differences::<W, 2, 0>(source, form, len),
            (3, []) if !any => message.differences::<W, 3, 0>(source, form, len),
            (0, [_]) if !any => message.differences::<W, 0, 1>(source, form, len),
            (1, [_]) if !any => message.differences::<W, 1, 1>(source, form, len),
            (2, [_]) if !any => message.differences::<W, 2, 1>(source, form, len),
            (0, [a, b]) if !any && a == b => message.differences::<W, 0, 2>(source, form, len),
            (1, [a, b]) if !any && a == b => message.differences::<W, 1, 2>(source, form, len),
            (0, [_, _]) if !any => message.differences::<W, 0, 3>(source, form, len),
            (1, [_, _]) if !any => message.differences::<W, 1, 3>(source, form, len),
            (0, _) => {
                message.general::<W, 0>(source, form, len, 0..groups);
            }
            (1, _) => {
                message.general::<W, 1>(source, form, len, 0..groups);
            }
            (2, _) => {
                message.general::<W, 2>(source, form, len, 0..groups);
            }
            _ => {
                message.general::<W, 3>(source, form, len, 0..groups);
            }
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
    unsafe fn below<W: Word>(mut self, mut source: Source<'_>, form: &Form<'_, W>, len: usize) {
        let maximum = splat(form.maximum);
        let rotation = u32::from(form.predictor.domain == Domain::BelowRotated);
        let mut i = 0;
        while i + SOME <= len / GROUP {
            let mut v = [maximum; SOME];
            unpack_some!(W, source, i, v);
            each!(I, {
                // SAFETY: guaranteed by the caller.
                unsafe { self.append(rotated_right::<W>(sub::<W>(maximum, v[I]), rotation), GROUP) };
            });
            i += SOME;
        }
        for i in i..len.div_ceil(GROUP) {
            let v = rotated_right::<W>(sub::<W>(maximum, source.group::<W>(i)), rotation);
            // SAFETY: guaranteed by the caller.
            unsafe { self.append(v, len - i * GROUP) };
        }
    }

    /// Appends `len` bytes of words from their differences, `SHORTS` of whose lags are short. The others have `COUNT` terms: 2 are those of a lag
    /// twice, and 3 those of two lags. Most groups are whole, and no term of theirs reaches before the message: the code for these has an instance
    /// for each such form, the code for the others ([`general`](Self::general)) has not.
    ///
    /// # Safety
    /// `out` has room for them. The lags after the short ones are of two vectors or more, and `COUNT` is right for them. The words are not in fixed
    /// point, and no zeros were stripped.
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline(never)]
    unsafe fn differences<W: Word, const SHORTS: usize, const COUNT: usize>(
        mut self,
        mut source: Source<'_>,
        form: &Form<'_, W>,
        len: usize,
    ) {
        let lags = form.predictor.lags();
        let shifts = shifts_of::<W>(lags.get(SHORTS..).unwrap_or_default());
        let reach = if COUNT == 0 { 0 } else { shifts[TERMS - 1] + GROUP };
        let groups = len.div_ceil(GROUP);
        let mut i = reach.saturating_sub(self.len).div_ceil(GROUP);
        if i + SOME > len / GROUP {
            i = 0;
        } else {
            if i > 0 {
                // SAFETY: guaranteed by the caller.
                (self, source) = unsafe { self.general::<W, SHORTS>(source, form, len, 0..i) };
            }
            let short = |i| Short::new::<W>(lags, i, self.bytes(), None);
            let (mut a, mut b, mut c) = (short(0), short(1), short(2));
            let first = Term::new::<W>(shifts[0]);
            let second = Term::new::<W>(shifts[1]);
            let last = Term::new::<W>(shifts[2]);
            while i + SOME <= len / GROUP {
                let mut v = [_mm512_setzero_si512(); SOME];
                unpack_some!(W, source, i, v);
                each!(I, {
                    v[I] = unzigzag::<W>(v[I]);
                });
                if SHORTS > 0 {
                    a.undo_some::<W>(&mut v);
                }
                if SHORTS > 1 {
                    b.undo_some::<W>(&mut v);
                }
                if SHORTS > 2 {
                    c.undo_some::<W>(&mut v);
                }
                each!(I, {
                    let mut v = v[I];
                    // SAFETY: terms do not reach before the message, and `out` has room for the group.
                    unsafe {
                        if COUNT > 0 {
                            let term = self.inside::<W>(&first);
                            v = add::<W>(v, if COUNT == 2 { add::<W>(term, term) } else { term });
                        }
                        if COUNT > 1 {
                            v = sub::<W>(v, self.inside::<W>(&last));
                        }
                        if COUNT == 3 {
                            v = add::<W>(v, self.inside::<W>(&second));
                        }
                        self.append(v, GROUP);
                    }
                });
                i += SOME;
            }
        }
        if i < groups {
            // SAFETY: guaranteed by the caller.
            unsafe { self.general::<W, SHORTS>(source, form, len, i..groups) };
        }
    }

    /// Appends some groups, of `len` bytes altogether with those before and after, from their differences, `SHORTS` of whose lags are short. They may
    /// be in fixed point; then these are all groups of the block. Returns what is left.
    ///
    /// # Safety
    /// `out` has room for them. The lags after the short ones are of two vectors or more. The last of the groups is not after that with the last of `len`
    /// bytes.
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline(never)]
    unsafe fn general<'a, W: Word, const SHORTS: usize>(
        mut self,
        mut source: Source<'a>,
        form: &Form<'_, W>,
        len: usize,
        groups: Range<usize>,
    ) -> (Self, Source<'a>) {
        let unit = match form.predictor.domain {
            Domain::Fixed(unit) => Some(u32::from(unit)),
            _ => None,
        };
        let lags = form.predictor.lags();
        let shifts = shifts_of::<W>(lags.get(SHORTS..).unwrap_or_default());
        let count = (1 << lags.len().saturating_sub(SHORTS)) - 1;
        let short = |i| Short::new::<W>(lags, i, self.bytes(), unit);
        let (mut a, mut b, mut c) = (short(0), short(1), short(2));
        for i in groups {
            let mut v = unzigzag::<W>(source.group::<W>(i));
            if let Some(strip) = form.strip {
                v = shifted_left::<W>(v, splat(W::of(strip[i % GROUPS].into())));
            }
            v = if SHORTS > 0 { a.undo::<W>(v) } else { v };
            v = if SHORTS > 1 { b.undo::<W>(v) } else { v };
            v = if SHORTS > 2 { c.undo::<W>(v) } else { v };
            for (i, shift) in shifts[..count.min(TERMS)].iter().enumerate() {
                v = self.plus::<W>(v, i, *shift, unit);
            }
            // SAFETY: guaranteed by the caller.
            unsafe { self.append(v, len - i * GROUP) };
        }
        if let Some(unit) = unit {
            self.finish_fixed::<W>(unit);
        }
        (self, source)
    }

    /// Adds or subtracts the term with this index, if need be in fixed point.
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    fn plus<W: Word>(&self, v: V, index: usize, shift: usize, unit: Option<u32>) -> V {
        let mut term = self.term::<W>(&Term::new::<W>(shift));
        if let Some(unit) = unit {
            term = self.fixed::<W>(term, self.len as isize - shift as isize, unit);
        }
        // Subsets of two lags are subtracted.
        match index {
            2 | 4 | 5 => sub::<W>(v, term),
            _ => add::<W>(v, term),
        }
    }
}
