//! The reference kernel: plain code that defines what all kernels do.
//!
//! Its functions are always inlined, so that the other kernels compile them again for their instructions where that
//! is all it takes.
#![forbid(unsafe_code)]

mod fixed;

use super::{Kernel, LAGS, SAMPLE, Span, Words, Work};
use crate::block::{Block, Bytes, Group, Mask, Widths, ZEROS, window};
use crate::format::{GROUP, MAX_ORDER};
use crate::word::Word;
pub(super) use fixed::{span, strip, to_fixed, to_float, trailing_zeros, unstrip};
use mpress_codec::simd::Level;
use mpress_codec::{Full, Out};

/// Portable code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scalar;

/// The blocks that a difference is made of: the block at `at` shifted back by each sum of lags. Bit `j` of a
/// term's index says whether lag `j` is in the sum; so terms with an odd number of bits are subtracted.
#[inline(always)]
pub(super) fn terms<'a, W: Word>(bytes: &'a [u8], at: usize, lags: &[u16]) -> [&'a Bytes; 8] {
    let mut terms = [&ZEROS; 8];
    for (to, shift) in terms.iter_mut().zip(shifts::<W>(lags)).take(1 << lags.len().min(MAX_ORDER)) {
        *to = term(bytes, at, shift).unwrap_or(&ZEROS);
    }
    terms
}

/// Bytes by which each term is shifted back. Lags that are not there count as 0.
#[inline(always)]
pub(super) fn shifts<W: Word>(lags: &[u16]) -> [usize; 8] {
    let lag = |i: usize| lags.get(i).map_or(0, |lag| usize::from(*lag)) * W::WIDTH;
    let (a, b, c) = (lag(0), lag(1), lag(2));
    [0, a, b, a + b, c, a + c, b + c, a + b + c]
}

#[inline(always)]
pub(super) fn term<const N: usize>(bytes: &[u8], at: usize, shift: usize) -> Option<&[u8; N]> {
    bytes.get(at.checked_sub(shift)?..)?.first_chunk()
}

#[inline(always)]
pub(super) fn difference<W: Word>(bytes: &[u8], at: usize, lags: &[u16], residuals: &mut Block) {
    let [a, b, c, d, e, f, g, h] = terms::<W>(bytes, at, lags).map(W::words);
    let at = |words: &[W::Bytes], i: usize| W::from_bytes(words[i]);
    let residuals = W::words_mut(&mut residuals.0);
    match lags.len() {
        0 => (0..W::BLOCK).for_each(|i| residuals[i] = at(a, i).zigzag().to_bytes()),
        1 => (0..W::BLOCK).for_each(|i| residuals[i] = at(a, i).minus(at(b, i)).zigzag().to_bytes()),
        2 => (0..W::BLOCK).for_each(|i| {
            let difference = at(a, i).minus(at(b, i)).minus(at(c, i).minus(at(d, i)));
            residuals[i] = difference.zigzag().to_bytes();
        }),
        _ => (0..W::BLOCK).for_each(|i| {
            let first = at(a, i).minus(at(b, i)).minus(at(c, i).minus(at(d, i)));
            let second = at(e, i).minus(at(f, i)).minus(at(g, i).minus(at(h, i)));
            residuals[i] = first.minus(second).zigzag().to_bytes();
        }),
    }
}

#[inline(always)]
pub(super) fn below<W: Word>(words: &Bytes, rotation: u32, residuals: &mut Block) -> W {
    let words = W::words(words);
    let maximum =
        words.iter().fold(W::ZERO, |maximum, word| maximum.max(W::from_bytes(*word).rotated_left(rotation)));
    for (residual, word) in W::words_mut(&mut residuals.0).iter_mut().zip(words) {
        *residual = maximum.minus(W::from_bytes(*word).rotated_left(rotation)).to_bytes();
    }
    maximum
}

/// The width of a group whose residuals, as 64-bit lanes, have this union.
#[inline(always)]
fn width<W: Word>(mut union: u64) -> u32 {
    if W::BITS <= 32 {
        union |= union >> 32;
    }
    if W::BITS <= 16 {
        union |= union >> 16;
    }
    let unused = 64 - W::BITS;
    64 - (union << unused >> unused).leading_zeros()
}

#[inline(always)]
fn lanes(group: &Group) -> [u64; 8] {
    let mut lanes = [0; 8];
    for (lane, bytes) in lanes.iter_mut().zip(group.as_chunks().0) {
        *lane = u64::from_le_bytes(*bytes);
    }
    lanes
}

#[inline(always)]
pub(super) fn spread(packed: u64, bits: u32) -> u64 {
    (0..8).fold(0, |spread, i| spread | (packed >> (i * bits) & ((1 << bits) - 1)) << (8 * i))
}

#[inline(always)]
pub(super) fn widths<W: Word>(residuals: &Block) -> Widths {
    let mut widths = [0; _];
    for (to, group) in widths.iter_mut().zip(residuals.groups()) {
        *to = width::<W>(lanes(group).iter().fold(0, |union, lane| union | lane)) as u8;
    }
    widths
}

/// The sum of the widths of eight groups, given their words one by one.
#[inline(always)]
fn cost<W: Word>(word: impl Fn(usize) -> W) -> u32 {
    let mut sum = 0;
    for group in 0..SAMPLE / GROUP {
        let mut union = W::ZERO;
        for i in 0..W::LANES {
            union = union.or(word(group * W::LANES + i));
        }
        sum += union.width();
    }
    sum
}

#[inline(always)]
pub(super) fn difference_cost<W: Word>(bytes: &[u8], at: usize, lags: &[u16]) -> u32 {
    let mut terms: [&[u8; SAMPLE]; 8] = [&[0; SAMPLE]; 8];
    for (to, shift) in terms.iter_mut().zip(shifts::<W>(lags)).take(1 << lags.len().min(MAX_ORDER)) {
        *to = term(bytes, at, shift).unwrap_or(&[0; SAMPLE]);
    }
    let [a, b, c, d, e, f, g, h] = terms;
    let at = |words: &[u8; SAMPLE], i: usize| W::load(words, i * W::WIDTH);
    match lags.len() {
        0 => cost::<W>(|i| at(a, i).zigzag()),
        1 => cost::<W>(|i| at(a, i).minus(at(b, i)).zigzag()),
        2 => cost::<W>(|i| at(a, i).minus(at(b, i)).minus(at(c, i).minus(at(d, i))).zigzag()),
        _ => cost::<W>(|i| {
            let first = at(a, i).minus(at(b, i)).minus(at(c, i).minus(at(d, i)));
            let second = at(e, i).minus(at(f, i)).minus(at(g, i).minus(at(h, i)));
            first.minus(second).zigzag()
        }),
    }
}

#[inline(always)]
pub(super) fn below_cost<W: Word>(bytes: &[u8], at: usize, rotation: u32) -> u32 {
    let sample: &[u8; SAMPLE] = term(bytes, at, 0).unwrap_or(&[0; SAMPLE]);
    let word = |i: usize| W::load(sample, i * W::WIDTH).rotated_left(rotation);
    let mut maximum = W::ZERO;
    for i in 0..SAMPLE / W::WIDTH {
        maximum = maximum.max(word(i));
    }
    cost::<W>(|i| maximum.minus(word(i)))
}

#[inline(always)]
pub(super) fn lag_scores<W: Word>(
    bytes: &[u8],
    places: &[usize],
    base: usize,
    first: usize,
    scores: &mut [u32; LAGS],
) {
    *scores = [0; LAGS];
    let base = base * W::WIDTH;
    // One read more where there is no base, but then of a difference that is 0 all over.
    let value = |at: usize| {
        let word = W::load(bytes, at);
        if base == 0 { word } else { word.minus(W::load(bytes, at.wrapping_sub(base))) }
    };
    for place in places {
        let here = value(*place);
        for (lag, score) in (first..).zip(scores.iter_mut()) {
            *score += here.minus(value(place.wrapping_sub(lag * W::WIDTH))).zigzag().width();
        }
    }
}

#[inline(always)]
pub(super) fn above<W: Word>(residuals: &Block, width: u32) -> Mask {
    let mut mask = [0; _];
    for (eight, bits) in W::words(&residuals.0).chunks(8).zip(&mut mask) {
        for (residual, i) in eight.iter().zip(0..) {
            *bits |= u8::from(W::from_bytes(*residual).width() > width) << i;
        }
    }
    mask
}

#[inline(always)]
pub(super) fn deal<W: Word>(
    residuals: &Block,
    mask: &Mask,
    words: usize,
    wide: &mut Block,
    narrow: &mut Block,
) {
    let (wide, narrow) = (W::words_mut(&mut wide.0), W::words_mut(&mut narrow.0));
    let (mut wides, mut narrows) = (0, 0);
    for (i, residual) in W::words(&residuals.0).iter().enumerate().take(words) {
        if mask[i / 8] >> (i % 8) & 1 == 1 {
            wide[wides] = *residual;
            wides += 1;
        } else {
            narrow[narrows] = *residual;
            narrows += 1;
        }
    }
    for (words, used) in [(wide, wides), (narrow, narrows)] {
        words[used..used.next_multiple_of(W::LANES)].fill(W::ZERO.to_bytes());
    }
}

#[inline(always)]
pub(super) fn collect<W: Word>(wide: &Block, narrow: &Block, mask: &Mask, residuals: &mut Block) {
    let (mut wide, mut narrow) = (W::words(&wide.0).iter(), W::words(&narrow.0).iter());
    for (i, residual) in W::words_mut(&mut residuals.0).iter_mut().enumerate() {
        let from = if mask[i / 8] >> (i % 8) & 1 == 1 { &mut wide } else { &mut narrow };
        if let Some(word) = from.next() {
            *residual = *word;
        }
    }
}

/// Moves the words of a 64-bit lane, of `width` bits each, together at its lower end.
#[inline(always)]
fn together<W: Word>(lane: u64, width: u32) -> u64 {
    match W::PER_LANE {
        1 => lane,
        2 => lane & 0xffff_ffff | lane >> 32 << width,
        _ => {
            let pairs = lane & 0x0000_ffff_0000_ffff | (lane >> 16 & 0x0000_ffff_0000_ffff) << width;
            pairs & 0xffff_ffff | pairs >> 32 << (2 * width)
        }
    }
}

/// The inverse of [`together`].
#[inline(always)]
fn apart<W: Word>(lane: u64, width: u32) -> u64 {
    let low = |bits: u32| 1_u64.checked_shl(bits).unwrap_or(0).wrapping_sub(1);
    match W::PER_LANE {
        1 => lane,
        2 => lane & low(width) | (lane >> width) << 32,
        _ => {
            let pairs = lane & low(2 * width) | (lane >> (2 * width)) << 32;
            let low = low(width) | low(width) << 32;
            pairs & low | (pairs >> width & low) << 16
        }
    }
}

/// Bytes of a group of `width` bits of which only the first `words` words are there.
#[inline(always)]
pub(crate) fn group_bytes<W: Word>(width: u8, words: usize) -> usize {
    (usize::from(width) * words.min(W::LANES)).div_ceil(8)
}

#[inline(always)]
pub(super) fn pack<W: Word>(
    residuals: &Block,
    widths: &Widths,
    words: usize,
    out: &mut Out<'_>,
) -> Result<(), Full> {
    for ((group, width), start) in residuals.groups().iter().zip(widths).zip((0..words).step_by(W::LANES)) {
        pack_group::<W>(group, *width, words - start, out)?;
    }
    Ok(())
}

/// Appends the first `words` words of a group.
#[inline(always)]
pub(super) fn pack_group<W: Word>(
    group: &Group,
    width: u8,
    words: usize,
    out: &mut Out<'_>,
) -> Result<(), Full> {
    let bits = u32::from(width) * W::PER_LANE;
    // The lanes so far, in whole words; `held` bits of the next one are in `carry`.
    let mut packed = [0; 9];
    let (mut at, mut held, mut carry) = (0, 0, 0);
    for lane in lanes(group) {
        let lane = together::<W>(lane, u32::from(width));
        carry |= lane << held;
        if let Some(to) = packed.get_mut(at) {
            *to = carry;
        }
        let is_full = held + bits >= 64;
        at += usize::from(is_full);
        // What was shifted out, if anything was.
        carry = if is_full { lane >> 1 >> (63 - held) } else { carry };
        held = (held + bits) % 64;
    }
    if let Some(to) = packed.get_mut(at) {
        *to = carry;
    }
    let mut bytes = [0; GROUP];
    for (to, word) in bytes.as_chunks_mut().0.iter_mut().zip(packed) {
        *to = word.to_le_bytes();
    }
    out.store(&bytes, group_bytes::<W>(width, words))
}

#[inline(always)]
pub(super) fn unpack<W: Word>(wire: &[u8], widths: &Widths, words: usize, residuals: &mut Block) {
    let mut at = 0;
    for ((group, width), _) in residuals.groups_mut().iter_mut().zip(widths).zip((0..words).step_by(W::LANES))
    {
        let bits = u32::from(*width) * W::PER_LANE;
        let mut spare = [0; GROUP + 8];
        let packed = window(wire, at, &mut spare);
        let low = 1_u64.checked_shl(bits).unwrap_or(0).wrapping_sub(1);
        for (lane, i) in group.as_chunks_mut().0.iter_mut().zip(0..) {
            let (byte, bit) = ((i * bits / 8) as usize, i * bits % 8);
            let first =
                packed.get(byte..).and_then(|rest| rest.first_chunk()).map_or(0, |b| u64::from_le_bytes(*b));
            let behind = packed.get(byte + 8).map_or(0, |b| u64::from(*b));
            let value = (first >> bit | behind << 1 << (63 - bit)) & low;
            *lane = apart::<W>(value, u32::from(*width)).to_le_bytes();
        }
        at += bits as usize;
    }
}

#[inline(always)]
pub(super) fn undo_difference<W: Word>(residuals: &Block, lags: &[u16], before: &[u8], words: &mut Words) {
    for (to, residual) in W::split_mut(words.block_mut()).0.iter_mut().zip(W::words(&residuals.0)) {
        *to = W::from_bytes(*residual).unzigzag().to_bytes();
    }
    // One factor after the other; each makes the difference by the lags behind it.
    for (i, lag) in lags.iter().enumerate() {
        let (lag, rest) = (usize::from(*lag), lags.get(i + 1..).unwrap_or(&[]));
        let near = lag.min(W::BLOCK);
        let earlier = W::split_mut(words.before_mut()).0;
        for (to, back) in earlier.iter_mut().rev().zip(lag - near + 1..=lag) {
            *to = difference_before::<W>(before, back, rest).to_bytes();
        }
        undo_factor::<W>(W::split_mut(words.bytes_mut()).0, near);
    }
}

/// y(i) = d(i) + y(i - lag) in the second half of `words`, with the values before it in the first.
#[inline(always)]
fn undo_factor<W: Word>(words: &mut [W::Bytes], lag: usize) {
    if lag == 1 {
        let mut last = words.get(W::BLOCK - 1).map_or(W::ZERO, |word| W::from_bytes(*word));
        for word in words.iter_mut().skip(W::BLOCK) {
            last = last.plus(W::from_bytes(*word));
            *word = last.to_bytes();
        }
        return;
    }
    // So many words at a time do not depend on each other.
    let mut done = W::BLOCK;
    while done < words.len() {
        let (before, rest) = words.split_at_mut(done);
        for (word, earlier) in rest.iter_mut().zip(&before[done - lag..]) {
            *word = W::from_bytes(*word).plus(W::from_bytes(*earlier)).to_bytes();
        }
        done += lag;
    }
}

/// The difference by up to two lags of the word `back` words before the end of `before`.
#[inline(always)]
fn difference_before<W: Word>(before: &[u8], back: usize, lags: &[u16]) -> W {
    let word = |shift: usize| W::load(before, before.len().wrapping_sub((back + shift) * W::WIDTH));
    match lags {
        [] => word(0),
        [a] => word(0).minus(word(usize::from(*a))),
        [a, b, ..] => {
            let (a, b) = (usize::from(*a), usize::from(*b));
            word(0).minus(word(a)).minus(word(b).minus(word(a + b)))
        }
    }
}

#[inline(always)]
pub(super) fn undo_below<W: Word>(residuals: &Block, maximum: W, rotation: u32, words: &mut Bytes) {
    for (word, residual) in W::words_mut(words).iter_mut().zip(W::words(&residuals.0)) {
        *word = maximum.minus(W::from_bytes(*residual)).rotated_right(rotation).to_bytes();
    }
}

impl<W: Word> Kernel<W> for Scalar {
    fn new(_: Level) -> Option<Self> {
        Some(Self)
    }
    fn enter<T: Work<W>>(self, work: T) -> T::Output {
        work.run(self)
    }
    fn difference(self, bytes: &[u8], at: usize, lags: &[u16], residuals: &mut Block) {
        difference::<W>(bytes, at, lags, residuals);
    }
    fn below(self, words: &Bytes, rotation: u32, residuals: &mut Block) -> W {
        below(words, rotation, residuals)
    }
    fn spread(self, packed: u64, bits: u32) -> u64 {
        spread(packed, bits)
    }
    fn widths(self, residuals: &Block) -> Widths {
        widths::<W>(residuals)
    }
    fn difference_cost(self, bytes: &[u8], at: usize, lags: &[u16]) -> u32 {
        difference_cost::<W>(bytes, at, lags)
    }
    fn below_cost(self, bytes: &[u8], at: usize, rotation: u32) -> u32 {
        below_cost::<W>(bytes, at, rotation)
    }
    fn lag_scores(self, bytes: &[u8], places: &[usize], base: usize, first: usize, scores: &mut [u32; LAGS]) {
        lag_scores::<W>(bytes, places, base, first, scores);
    }
    fn above(self, residuals: &Block, width: u32) -> Mask {
        above::<W>(residuals, width)
    }
    fn deal(self, residuals: &Block, mask: &Mask, words: usize, wide: &mut Block, narrow: &mut Block) {
        deal::<W>(residuals, mask, words, wide, narrow);
    }
    fn collect(self, wide: &Block, narrow: &Block, mask: &Mask, residuals: &mut Block) {
        collect::<W>(wide, narrow, mask, residuals);
    }
    fn pack(self, residuals: &Block, widths: &Widths, words: usize, out: &mut Out<'_>) -> Result<(), Full> {
        pack::<W>(residuals, widths, words, out)
    }
    fn unpack(self, wire: &[u8], widths: &Widths, words: usize, residuals: &mut Block) {
        unpack::<W>(wire, widths, words, residuals);
    }
    fn undo_difference(self, residuals: &Block, lags: &[u16], before: &[u8], words: &mut Words) {
        undo_difference::<W>(residuals, lags, before, words);
    }
    fn undo_below(self, residuals: &Block, maximum: W, rotation: u32, words: &mut Bytes) {
        undo_below(residuals, maximum, rotation, words);
    }
    fn to_fixed(self, words: &[u8], unit: u32, fixed: &mut [u8]) {
        to_fixed::<W>(words, unit, fixed);
    }
    fn to_float(self, fixed: &[u8], unit: u32, words: &mut [u8]) {
        to_float::<W>(fixed, unit, words);
    }
    fn span(self, words: &[u8], span: &mut Span) {
        fixed::span::<W>(words, span);
    }
    fn trailing_zeros(self, residuals: &Block) -> Widths {
        trailing_zeros::<W>(residuals)
    }
    fn strip(self, residuals: &mut Block, counts: &Widths) {
        strip::<W>(residuals, counts);
    }
    fn unstrip(self, residuals: &mut Block, counts: &Widths) {
        unstrip::<W>(residuals, counts);
    }
}
