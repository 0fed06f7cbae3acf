//! Residuals to words in one pass: eight groups at a time stay in registers from the wire to the message.
//!
//! Lags shorter than two vectors are undone in registers: within a vector by prefix sums, between vectors by carrying the last values. The terms of
//! longer lags are read from the message: if y is the difference by the long lags a, b, ..., then x(i) = y(i) + x(i - a) + x(i - b) - x(i - a -
//! b)..., so nothing but the message itself must be kept.

use super::fixed::{fixed_of, float_of};
use super::pack::is_narrow;
use crate::block::{Block, Group, Widths};
use crate::format::{GROUP, MAX_ORDER};
use crate::predictor::Domain;
use crate::rebuild::{Form, Packed};
use crate::word::Word;
use core::arch::x86_64::*;
use mpress_codec::support::avx512::{
    Layout, V, add, behind, from_bytes, lane_indexes, load, load_at, load_to_the_end, load_unchecked,
    permute, permute_kept, rotated_right, shifted_left, splat, store, sub, unzigzag,
};
use mpress_codec::{Full, Out};

/// The number of groups that are in registers at once.
const EIGHT: usize = 8;
/// The distance in groups below which a load that spans two stores would wait for them.
const RECENT: usize = 12;
/// The maximum number of terms of a difference besides the word itself.
const TERMS: usize = (1 << MAX_ORDER) - 1;

/// Repeats the body for each of eight vectors, with `$i` constant, so that the vectors stay in registers.
macro_rules! each {
    ($i:ident, $body:block) => {
        each!(@ $i, $body, 0, 1, 2, 3, 4, 5, 6, 7)
    };
    (@ $i:ident, $body:block, $($n:literal),*) => {
        $({
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
#[derive(Clone, Copy)]
struct Short {
    lag: usize,
    /// The last two vectors of the result.
    last: [V; 2],
}

impl Short {
    /// Starts at the end of a message with the differences of its words by the remaining lags. Values before the message are 0.
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    fn begin<W: Word>(&mut self, lag: usize, rest: &[u16], message: &[u8], unit: Option<u32>) {
        self.lag = lag;
        if !message.is_empty() {
            self.last[0] = difference_before::<W>(message, GROUP, rest, unit);
            if lag > W::LANES {
                self.last[1] = difference_before::<W>(message, 2 * GROUP, rest, unit);
            }
        }
    }

    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    fn undo<W: Word>(&mut self, v: &mut [V; EIGHT]) {
        if self.lag > W::LANES {
            let up = lanes_up::<W>(self.lag - W::LANES);
            let [mut last, mut last_but_one] = self.last;
            each!(I, {
                let earlier = behind::<W>(last, up, last_but_one);
                last_but_one = last;
                last = add::<W>(v[I], earlier);
                v[I] = last;
            });
            self.last = [last, last_but_one];
            return;
        }
        // Prefix sum within each vector: each step adds the lanes `lag`, 2 `lag`, 4 `lag`... below.
        let mut lanes = self.lag;
        while lanes < W::LANES {
            let (keep, up) = (lanes_from::<W>(lanes), lanes_up::<W>(lanes));
            each!(I, {
                v[I] = add::<W>(v[I], permute_kept::<W>(keep, up, v[I]));
            });
            lanes *= 2;
        }
        // The position, in the previous vector, of the value that precedes each lane.
        let remainders = REMAINDERS.get(self.lag).unwrap_or(&[0; 32]);
        let from = add::<W>(from_bytes::<W>(remainders), splat(W::of(W::LANES - self.lag)));
        let mut last = self.last[0];
        each!(I, {
            last = add::<W>(v[I], permute::<W>(from, last));
            v[I] = last;
        });
        self.last[0] = last;
    }
}

/// The index vector that moves words up by `lanes` lanes.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn lanes_up<W: Word>(lanes: usize) -> V {
    sub::<W>(lane_indexes::<W>(), splat(W::of(lanes)))
}

/// The mask of the lanes from `lane` on.
fn lanes_from<W: Word>(lane: usize) -> u32 {
    (u32::MAX >> (32 - W::LANES)) & (u32::MAX << lane.min(31))
}

/// The terms of the longer lags: for each non-empty subset of the lags, numbered from 1, the sum of its lags in bytes at index number - 1.
type Terms = [usize; TERMS];

/// The terms of up to three lags, and the number of terms.
#[inline(always)]
fn terms_of<W: Word>(lags: &[u16]) -> (Terms, usize) {
    let lag = |i: usize| lags.get(i).map_or(0, |lag| usize::from(*lag) * W::WIDTH);
    let (a, b, c) = (lag(0), lag(1), lag(2));
    ([a, b, a + b, c, a + c, b + c, a + b + c], (1 << lags.len().min(MAX_ORDER)) - 1)
}

/// Adds or subtracts the term with this index.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn plus<W: Word>(x: V, index: usize, term: V) -> V {
    // Subsets of two lags are subtracted.
    match index {
        2 | 4 | 5 => sub::<W>(x, term),
        _ => add::<W>(x, term),
    }
}

/// The vector at byte `at` of a message, as words or in fixed point. Words before the message are 0.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn load_edge<W: Word>(message: &[u8], at: isize, unit: Option<u32>) -> V {
    let v = match usize::try_from(at) {
        Ok(at) => load_at(message, at),
        Err(_) if at <= -(GROUP as isize) => return _mm512_setzero_si512(),
        Err(_) => {
            let lanes = at.unsigned_abs() / W::WIDTH;
            permute_kept::<W>(lanes_from::<W>(lanes), lanes_up::<W>(lanes), load_at(message, 0))
        }
    };
    unit.map_or(v, |unit| fixed_of::<W>(v, unit))
}

/// The difference by up to two lags of the vector `back` bytes before the end of a message.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn difference_before<W: Word>(message: &[u8], back: usize, lags: &[u16], unit: Option<u32>) -> V {
    let at = message.len() as isize - back as isize;
    let lag = |i: usize| lags.get(i).map_or(0, |lag| usize::from(*lag) * W::WIDTH) as isize;
    let mut v = load_edge::<W>(message, at, unit);
    if !lags.is_empty() {
        v = sub::<W>(v, load_edge::<W>(message, at - lag(0), unit));
    }
    if lags.len() > 1 {
        let other = load_edge::<W>(message, at - lag(1), unit);
        let both = load_edge::<W>(message, at - lag(0) - lag(1), unit);
        v = sub::<W>(v, sub::<W>(other, both));
    }
    v
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
    /// The message has at least the term's shift plus a vector of bytes.
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    unsafe fn term<W: Word>(&self, shift: usize) -> V {
        if shift / GROUP >= RECENT || shift.is_multiple_of(GROUP) {
            // SAFETY: a term's shift is at least two vectors; the rest is guaranteed by the caller.
            return unsafe { self.before(shift) };
        }
        // A load that spans two recent stores would wait until both are in the cache, so the vector is assembled from two loads.
        let back = shift / GROUP * GROUP;
        // SAFETY: the shift lies between these two distances, the greater of which exceeds it by less than a vector.
        let (last, last_but_one) = unsafe { (self.before(back), self.before(back + GROUP)) };
        behind::<W>(last, lanes_up::<W>((shift - back) / W::WIDTH), last_but_one)
    }

    /// Appends a vector.
    ///
    /// # Safety
    /// `out` has room for it.
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    unsafe fn append(&mut self, v: V) {
        // SAFETY: the caller guarantees that the 64 bytes after the message are writable.
        unsafe { _mm512_storeu_si512(self.start.add(self.len).cast(), v) };
        self.len += GROUP;
    }

    /// Appends the first `len` bytes of a vector, at least one.
    ///
    /// # Safety
    /// `out` has room for them.
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    unsafe fn append_part(&mut self, v: V, len: usize) {
        let keep = u64::MAX >> (GROUP - len.clamp(1, GROUP));
        // SAFETY: only the bytes in the mask are written; the caller guarantees that there is room for them.
        unsafe { _mm512_mask_storeu_epi8(self.start.add(self.len).cast(), keep, v) };
        self.len += len;
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
                self.append_part(float_of::<W>(v, unit), some);
            }
        }
    }

    /// The bytes reconstructed so far.
    fn bytes(&self) -> &[u8] {
        // SAFETY: all bytes up to `len` are initialised, and nothing else refers to them while the message is reconstructed.
        unsafe { core::slice::from_raw_parts(self.start, self.len) }
    }

    /// Adds `TERMS` terms to eight groups and appends the sums.
    ///
    /// # Safety
    /// `out` has room for them, and the message has at least each term's shift plus a vector of bytes.
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    unsafe fn eight<W: Word, const TERMS: usize>(&mut self, v: &[V; EIGHT], terms: &Terms) {
        each!(I, {
            let mut x = v[I];
            for (i, shift) in terms.iter().enumerate().take(TERMS) {
                // SAFETY: guaranteed by the caller; the message only grows.
                x = plus::<W>(x, i, unsafe { self.term::<W>(*shift) });
            }
            // SAFETY: guaranteed by the caller.
            unsafe { self.append(x) };
        });
    }

    /// The same for any number of groups, the last of which may be partial, and for terms that may reach before the message.
    ///
    /// # Safety
    /// `out` has room for `len` bytes.
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    unsafe fn any<W: Word>(&mut self, v: &[V; EIGHT], len: usize, terms: &[usize], unit: Option<u32>) {
        let mut eight = Eight([[0; GROUP]; EIGHT]);
        each!(I, {
            store(&mut eight.0[I], v[I]);
        });
        for (group, at) in eight.0.iter().zip((0..len).step_by(GROUP)) {
            let mut x = load(group);
            for (i, shift) in terms.iter().enumerate() {
                let at = self.len as isize - *shift as isize;
                let mut earlier = if shift + GROUP > self.len {
                    load_edge::<W>(self.bytes(), at, None)
                } else {
                    // SAFETY: the condition above.
                    unsafe { self.term::<W>(*shift) }
                };
                if let Some(unit) = unit {
                    earlier = self.fixed::<W>(earlier, at, unit);
                }
                x = plus::<W>(x, i, earlier);
            }
            // SAFETY: guaranteed by the caller.
            unsafe { self.append_part(x, (len - at).min(GROUP)) };
        }
    }
}

/// Eight vectors in memory.
#[repr(align(64))]
struct Eight([Group; EIGHT]);

/// Appends the words of a block to the message that begins at `start` of `out`.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline(never)]
pub(super) fn rebuild<W: Word>(
    packed: Option<Packed<'_>>,
    form: &Form<'_, W>,
    residuals: &Block,
    start: usize,
    out: &mut Out<'_>,
) -> Result<(), Full> {
    let zero = _mm512_setzero_si512();
    let words = form.words.min(W::BLOCK);
    let groups = words.div_ceil(W::LANES);
    let narrow = packed.is_some_and(|packed| is_narrow::<W>(packed.widths));
    let unit = match form.predictor.domain {
        Domain::Fixed(unit) => Some(u32::from(unit)),
        _ => None,
    };
    let is_difference = form.predictor.is_difference();
    let rotation = u32::from(form.predictor.domain == Domain::BelowRotated);

    let mut left = words * W::WIDTH;
    let message = out.written().get(start..).ok_or(Full)?;
    let lags = form.predictor.lags();
    let shorts = lags.iter().take_while(|lag| usize::from(**lag) < 2 * W::LANES).count();
    let (short, long) = lags.split_at(shorts);
    let mut factors = [Short { lag: 1, last: [zero; 2] }; MAX_ORDER];
    for (i, (factor, lag)) in factors.iter_mut().zip(short).enumerate() {
        factor.begin::<W>((*lag).into(), &lags[i + 1..], message, unit);
    }
    let factors = &mut factors[..shorts.min(MAX_ORDER)];
    let (terms, count) = terms_of::<W>(long);
    let reach = long.iter().map(|lag| usize::from(*lag)).sum::<usize>() * W::WIDTH;
    let is_inside = reach + GROUP <= message.len() && unit.is_none();
    let len = message.len();
    if left > out.remaining() {
        return Err(Full);
    }
    // SAFETY: `start` is not past the bytes that have been written.
    let mut message = Message { start: unsafe { out.as_mut_ptr().add(start) }.cast(), len, block: len };

    let mut at = 0;
    let eights = residuals.groups().as_chunks::<EIGHT>().0;
    for (i, first) in (0..groups).step_by(EIGHT).enumerate() {
        let mut v = [zero; EIGHT];
        match packed {
            Some(Packed { wire, widths }) => {
                let eight = widths.as_chunks().0.get(i).unwrap_or(&[0; EIGHT]);
                unpack_eight::<W>(wire, &mut at, eight, groups - first, narrow, &mut v);
            }
            None => {
                if let Some(eight) = eights.get(i) {
                    each!(I, {
                        v[I] = load(&eight[I]);
                    });
                }
            }
        }
        if is_difference {
            each!(I, {
                v[I] = unzigzag::<W>(v[I]);
            });
            if let Some(strip) = form.strip {
                shift_in::<W>(strip, i, &mut v);
            }
            for factor in &mut *factors {
                factor.undo::<W>(&mut v);
            }
        } else {
            let maximum = splat(form.maximum);
            each!(I, {
                v[I] = rotated_right::<W>(sub::<W>(maximum, v[I]), rotation);
            });
        }
        let len = left.min(EIGHT * GROUP);
        left -= len;
        // SAFETY: `out` has room for all words of the block, of which the words not yet appended are left. In the first three cases these fill eight
        // groups, and no term reaches before the message.
        unsafe {
            match count {
                0 if unit.is_none() && len == EIGHT * GROUP => message.eight::<W, 0>(&v, &terms),
                1 if is_inside && len == EIGHT * GROUP => message.eight::<W, 1>(&v, &terms),
                3 if is_inside && len == EIGHT * GROUP => message.eight::<W, 3>(&v, &terms),
                _ => message.any::<W>(&v, len, &terms[..count.min(TERMS)], unit),
            }
        }
    }
    if let Some(unit) = unit {
        message.finish_fixed::<W>(unit);
    }
    // SAFETY: all words of the block have been written after the existing bytes.
    unsafe { out.assume_written(words * W::WIDTH) };
    Ok(())
}

/// Unpacks eight groups, or as many as are left, from byte `at` of the wire.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn unpack_eight<W: Word>(
    wire: &[u8],
    at: &mut usize,
    widths: &[u8; EIGHT],
    groups: usize,
    narrow: bool,
    v: &mut [V; EIGHT],
) {
    let rest = wire.get(*at..).unwrap_or_default();
    // No packed group is longer than a vector.
    let room: Option<&[u8; (EIGHT + 1) * GROUP]> = rest.first_chunk();
    if let (Some(room), true) = (room, groups >= EIGHT) {
        let mut from = 0;
        if narrow {
            each!(I, {
                let layout = Layout::of::<W>(widths[I]);
                // SAFETY: `from` has grown by at most 64 bytes for each of at most seven groups.
                v[I] = layout.apart::<W, true>(unsafe { load_unchecked(room, from) }, widths[I]);
                from += layout.bytes();
            });
        } else {
            each!(I, {
                let layout = Layout::of::<W>(widths[I]);
                // SAFETY: as above.
                v[I] = layout.apart::<W, false>(unsafe { load_unchecked(room, from) }, widths[I]);
                from += layout.bytes();
            });
        }
        *at += from;
        return;
    }
    each!(I, {
        if I < groups {
            let layout = Layout::of::<W>(widths[I]);
            v[I] = layout.apart::<W, false>(load_to_the_end(wire, *at), widths[I]);
            *at += layout.bytes();
        }
    });
}

/// Shifts the trailing zeros of these groups' differences back in.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn shift_in<W: Word>(strip: &Widths, i: usize, v: &mut [V; EIGHT]) {
    let counts: [u8; EIGHT] = strip.as_chunks().0.get(i).copied().unwrap_or([0; EIGHT]);
    each!(I, {
        v[I] = shifted_left::<W>(v[I], splat(W::of(counts[I].into())));
    });
}
