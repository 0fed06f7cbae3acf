//! Residuals to words in one pass: a group stays in registers from the wire to the message. Nothing but a few last values connects one group to the
//! next, so the processor works on many at a time.
//!
//! Lags shorter than two vectors are undone in registers: within a vector by prefix sums, between vectors by carrying the last values. The terms of
//! longer lags are read from the message: if y is the difference by the long lags a, b, ..., then x(i) = y(i) + x(i - a) + x(i - b) - x(i - a -
//! b)..., so nothing but the message itself must be kept.

use super::pack::Source;
use super::short::{SOME, Short, lanes_up, load_edge};
use crate::decode::rebuild::{Form, Packed};
use crate::format::{Domain, GROUP, GROUPS, MAX_ORDER, Predictor};
use crate::kernel::block::Bytes;
use crate::word::Word;
use core::arch::x86_64::*;
use mpress_codec::{Full, Out};
use mpress_codec_support::avx512::{V, add, behind, rotated_right, splat, sub, unzigzag};

/// The distance in groups below which a load that spans two stores would wait for them.
const RECENT: usize = 12;
/// The maximum number of terms of a difference besides the word itself.
const TERMS: usize = (1 << MAX_ORDER) - 1;

/// A term of the longer lags.
#[derive(Clone, Copy)]
struct Term {
    /// How far it looks back, in bytes; at least two vectors.
    shift: usize,
    /// If it is made of two vectors, the distance of the later one, and by how many lanes it lies before that.
    back: usize,
    lanes: usize,
}

impl Term {
    /// A load that spans two recent stores would wait until both are in the cache, so a vector is assembled from two loads there.
    fn new<W: Word>(shift: usize) -> Self {
        let back = if shift / GROUP < RECENT { shift / GROUP * GROUP } else { shift };
        Self { shift, back, lanes: (shift - back) / W::WIDTH }
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
                back => behind::<W>(self.before(back), lanes_up::<W>(term.lanes), self.before(back + GROUP)),
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
        load_edge::<W>(self.bytes(), self.len as isize - shift as isize)
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

    /// The bytes reconstructed so far.
    fn bytes(&self) -> &[u8] {
        // SAFETY: all bytes up to `len` are initialised, and nothing else refers to them while the message is reconstructed.
        unsafe { core::slice::from_raw_parts(self.start, self.len) }
    }
}

/// The number of lags shorter than two vectors.
fn shorts<W: Word>(lags: &[u16]) -> usize {
    lags.partition_point(|lag| usize::from(*lag) < 2 * W::LANES)
}

/// Where the code for blocks of a predictor begins, and about how many bytes are used.
pub(super) fn code_of<W: Word>(predictor: &Predictor) -> (*const u8, usize) {
    match shorts::<W>(predictor.lags()) {
        _ if predictor.has_maximum() => (Message::below::<W> as *const u8, 640),
        0 => (Message::differences::<W, 0> as *const u8, 2048),
        1 => (Message::differences::<W, 1> as *const u8, 6144),
        2 => (Message::differences::<W, 2> as *const u8, 6144),
        _ => (Message::differences::<W, 3> as *const u8, 6144),
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
    let message = Message { start: start_of_message, len: written - start };
    // SAFETY: `out` has room for the block. `differences` gets the number of lags shorter than two vectors.
    unsafe {
        match form.predictor.lags() {
            _ if form.predictor.has_maximum() => message.below::<W>(source, form, len),
            lags => match shorts::<W>(lags) {
                0 => message.differences::<W, 0>(source, form, len),
                1 => message.differences::<W, 1>(source, form, len),
                2 => message.differences::<W, 2>(source, form, len),
                _ => message.differences::<W, 3>(source, form, len),
            },
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
        for i in 0..len.div_ceil(GROUP) {
            let v = rotated_right::<W>(sub::<W>(maximum, source.group::<W>(i)), rotation);
            // SAFETY: guaranteed by the caller.
            unsafe { self.append(v, len - i * GROUP) };
        }
    }

    /// Appends `len` bytes of words from their differences, `SHORTS` of whose lags are short.
    ///
    /// # Safety
    /// `out` has room for them. The lags after the short ones are of two vectors or more.
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline(never)]
    unsafe fn differences<W: Word, const SHORTS: usize>(
        mut self,
        mut source: Source<'_>,
        form: &Form<'_, W>,
        len: usize,
    ) {
        let lags = form.predictor.lags();
        let long = lags.get(SHORTS..).unwrap_or_default();
        let count = ((1 << long.len()) - 1).min(TERMS);
        let mut terms = [const { Term { shift: 0, back: 0, lanes: 0 } }; TERMS];
        for (term, shift) in terms.iter_mut().zip(shifts_of::<W>(long)) {
            *term = Term::new::<W>(shift);
        }
        let mut shorts = (Short::new::<W>(lags, 0, self.bytes()), Short::new::<W>(lags, 1, self.bytes()));
        let mut last = Short::new::<W>(lags, 2, self.bytes());
        let mut i = 0;
        while i < len.div_ceil(GROUP) {
            let mut v = [_mm512_setzero_si512(); SOME];
            // Some whole groups, or one.
            let some = if i + SOME <= len / GROUP && source.has(SOME * GROUP) {
                each!(I, {
                    // SAFETY: no group is longer than a vector, and as many are left.
                    v[I] = unzigzag::<W>(unsafe { source.inside::<W>(i + I) });
                });
                SOME
            } else {
                v[0] = unzigzag::<W>(source.group::<W>(i));
                1
            };
            if SHORTS > 0 {
                shorts.0.undo::<W>(&mut v, some);
            }
            if SHORTS > 1 {
                shorts.1.undo::<W>(&mut v, some);
            }
            if SHORTS > 2 {
                last.undo::<W>(&mut v, some);
            }
            each!(I, {
                if I < some {
                    let mut v = v[I];
                    for (i, term) in terms[..count].iter().enumerate() {
                        let words = self.term::<W>(term);
                        // Subsets of two lags are subtracted.
                        v = if matches!(i, 2 | 4 | 5) { sub::<W>(v, words) } else { add::<W>(v, words) };
                    }
                    // SAFETY: guaranteed by the caller.
                    unsafe { self.append(v, len - (i + I) * GROUP) };
                }
            });
            i += some;
        }
    }
}
