//! Finds the fields of records by sampling a message, and remembers them for later messages.
//!
//! Uses only integer arithmetic, so every tier finds the same fields.
#![forbid(unsafe_code)]

use super::back_off::BackOff;
use crate::format::{Fields, MAX_STRIDE, PIECE};
use crate::kernel::{self, Kernel, SAMPLE, Work};
use crate::word::Word;
use core::ops::Range;
use mpress_codec::simd::Simd;

/// The number of places of a message that are sampled.
const PLACES: usize = 4;
const ALL: Range<usize> = 0..PLACES;
/// If the fields are not known, these places are examined before the others: one place, not at an end.
const FIRST: Range<usize> = 1..2;
/// The number of records sampled in each place: whole groups for every word width.
const RUN: usize = 32;
/// The number of bytes of each place that are compared with the bytes one stride before.
const WINDOW: usize = 128;
/// The minimum number of records.
const FEWEST: usize = 2 * RUN;
/// The minimum message length.
const SHORTEST: usize = 2048;
/// The number of raw bytes to which costs, in bits, refer.
const UNIT: usize = 1 << 16;
/// Fields must seem to save this fraction of the cost without them.
const GAIN: u32 = 16;
/// Fields are kept while their cost changes by no more than this fraction.
const KEEP: u32 = 16;
/// The number of messages after which fields are searched again.
const USES: u32 = 32;
/// The longest run of messages without records that is counted: 3, 15, 63 and finally 255 messages are skipped after them.
const PATIENCE: u8 = 4;

/// The fields of earlier messages' records, as an encoder remembers it.
#[derive(Clone, Debug)]
pub(super) struct Structures {
    /// The guessed fields.
    pub(super) fields: Fields,
    cost: u32,
    uses: u32,
    /// For messages without records.
    back_off: BackOff,
}

/// Whether a message consists of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guess {
    No,
    /// It seems to; to be compared with another coding of the message.
    Perhaps,
    /// It resembles the last one.
    Yes,
}

impl Structures {
    pub(super) fn new() -> Self {
        Self { fields: Fields::EMPTY, cost: 0, uses: 0, back_off: BackOff::default() }
    }

    pub(super) fn forget(&mut self) {
        *self = Self::new();
    }

    /// Records whether the message took fewer bytes as records than otherwise.
    pub(super) fn learn(&mut self, hit: bool) {
        self.uses *= u32::from(hit);
        self.back_off(hit);
    }

    /// Records whether a message had records. After misses some messages are skipped, because a search takes as long as coding a short
    /// message. The fields are kept, because messages of records may follow.
    fn back_off(&mut self, hit: bool) {
        self.back_off.learn(hit, PATIENCE, |misses| u8::MAX >> (8 - 2 * misses));
    }

    /// Determines whether a message consists of records.
    pub(super) fn guess<W: Word>(&mut self, simd: Simd, message: &[u8]) -> Guess {
        if message.len() < SHORTEST {
            return Guess::No;
        }
        let is_known = (1..=USES).contains(&self.uses) && message.len() / self.fields.stride() >= FEWEST;
        let same = is_known && {
            let cost = cost_of(simd, message, &self.fields);
            cost.abs_diff(self.cost) <= self.cost / KEEP
                && gains(cost, words_cost::<W>(simd, message, self.fields.stride(), ALL))
        };
        if same {
            self.uses += 1;
            return Guess::Yes;
        }
        if self.back_off.skips() {
            return Guess::No;
        }
        let stride = stride(simd, message);
        let words_cost = |range| words_cost::<W>(simd, message, stride, range);
        let seems_to_gain = |(_, cost)| {
            let words = words_cost(FIRST);
            // Zeros say nothing about the rest.
            words == 0 || gains(cost, words)
        };
        // The search takes as long as coding some KiB, so most messages without records get only part of it.
        if find(simd, message, stride, FIRST).is_some_and(seems_to_gain)
            && let words @ 1.. = words_cost(ALL)
            && let Some((fields, cost)) = find(simd, message, stride, ALL)
            // Words of one kind need no columns.
            && !(fields.len() == 1 && stride == W::WIDTH)
            && gains(cost, words)
        {
            // The same structures at another offset, as in the parts of a long message.
            let same = (1..=USES).contains(&self.uses)
                && fields.stride() == self.fields.stride()
                && cost.abs_diff(self.cost) <= self.cost / KEEP;
            let uses = if same { self.uses + 1 } else { 1 };
            *self = Self { fields, cost, uses, ..*self };
            return if same { Guess::Yes } else { Guess::Perhaps };
        }
        self.back_off(false);
        Guess::No
    }
}

/// The offsets of samples of `run` bytes.
fn places(message: &[u8], run: usize, step: usize) -> [usize; PLACES] {
    let last = message.len().saturating_sub(run);
    core::array::from_fn(|i| last * i / (PLACES - 1) / step * step)
}

/// Whether bytes recur at some distance far more often than in noise.
pub(super) fn is_regular(simd: Simd, message: &[u8]) -> bool {
    message.len() >= SHORTEST
        && scores(simd, message).into_iter().fold(0, u16::max) >= (PLACES * WINDOW / 16) as u16
}

/// The distance at which most bytes recur; of those with about the same score, the smallest.
fn stride(simd: Simd, message: &[u8]) -> usize {
    let scores = scores(simd, message);
    let most = scores.into_iter().fold(0, u16::max);
    scores.iter().position(|score| *score >= most - most / 8 && *score > 0).unwrap_or(0).max(2)
}

/// For each distance, the number of sampled bytes that recur there; entries 0 and 1 are unused.
fn scores(simd: Simd, message: &[u8]) -> [u16; MAX_STRIDE + 1] {
    kernel::with(simd, Scores { message })
}

struct Scores<'a> {
    message: &'a [u8],
}

impl Work<u64> for Scores<'_> {
    type Output = [u16; MAX_STRIDE + 1];

    #[inline(always)]
    fn run<K: Kernel<u64>>(self, _: K) -> Self::Output {
        let Self { message } = self;
        let mut scores = [0; MAX_STRIDE + 1];
        for at in places(message, MAX_STRIDE + WINDOW, 1) {
            let Some(here) = message.get(at..).and_then(|rest| rest.first_chunk::<WINDOW>()) else {
                continue;
            };
            for (lag, score) in scores.iter_mut().enumerate().skip(2) {
                let Some(there) = message.get(at + lag..).and_then(|rest| rest.first_chunk::<WINDOW>())
                else {
                    continue;
                };
                let equal: u8 = here.iter().zip(there).map(|(a, b)| u8::from(a == b)).sum();
                *score += u16::from(equal);
            }
        }
        scores
    }
}

/// The best fields for records of this stride, and their cost, from some of the places.
fn find(simd: Simd, message: &[u8], stride: usize, range: Range<usize>) -> Option<(Fields, u32)> {
    let records = message.len() / stride;
    if records < FEWEST {
        return None;
    }
    // Fields of structures are aligned to their width, up to 4 at least, unless the structure is packed.
    let aligned = 1 << stride.trailing_zeros().min(2);
    let places = &places(message, (RUN + 1) * stride, stride)[range];
    let best = kernel::with(simd, Best { message, places, stride, aligned });
    let mut fields = Fields::EMPTY;
    let mut widths = [0; MAX_STRIDE];
    let (mut at, mut count) = (stride, 0);
    while at > 0 {
        let width = best.get(at)?.1;
        *widths.get_mut(count)? = width;
        at = at.checked_sub(width).filter(|_| width > 0)?;
        count += 1;
    }
    for width in widths.get(..count)?.iter().rev() {
        fields.push(*width)?;
    }
    Some((fields, by_unit(best.get(stride)?.0, places.len() * RUN * stride)))
}

/// For each end of a field, the least cost of a record up to there, and the width of that field.
struct Best<'a> {
    message: &'a [u8],
    places: &'a [usize],
    stride: usize,
    aligned: usize,
}

impl Work<u64> for Best<'_> {
    type Output = [(u32, usize); MAX_STRIDE + 1];

    #[inline(always)]
    fn run<K: Kernel<u64>>(self, _: K) -> Self::Output {
        let Self { message, places, stride, aligned } = self;
        let mut best = [(u32::MAX, 0); MAX_STRIDE + 1];
        best[0].0 = 0;
        for at in 0..stride {
            let (before, _) = best[at];
            if before == u32::MAX {
                continue;
            }
            for width in [8, 4, 2, 1] {
                if at % aligned.min(width) != 0 || at + width > stride {
                    continue;
                }
                let cost = before + field_cost(message, places, at, stride, width);
                let end = &mut best[at + width];
                // Wider fields come first, so they win ties.
                if cost < end.0 {
                    *end = (cost, width);
                }
            }
        }
        best
    }
}

/// The cost of a message with these fields.
fn cost_of(simd: Simd, message: &[u8], fields: &Fields) -> u32 {
    let stride = fields.stride();
    let places = places(message, (RUN + 1) * stride, stride);
    let bits = kernel::with(simd, Bits { message, places: &places, fields });
    by_unit(bits, PLACES * RUN * stride)
}

struct Bits<'a> {
    message: &'a [u8],
    places: &'a [usize],
    fields: &'a Fields,
}

impl Work<u64> for Bits<'_> {
    type Output = u32;

    #[inline(always)]
    fn run<K: Kernel<u64>>(self, _: K) -> u32 {
        let Self { message, places, fields } = self;
        let mut bits = 0;
        for (at, width) in fields.iter() {
            bits += field_cost(message, places, at, fields.stride(), width);
        }
        bits
    }
}

/// Whether the cost of records is sufficiently below the cost of words.
fn gains(cost: u32, words: u32) -> bool {
    cost < words - words / GAIN
}

/// The cost of a message as words with one of the simplest predictors, from some of the places.
fn words_cost<W: Word>(simd: Simd, message: &[u8], stride: usize, range: Range<usize>) -> u32 {
    kernel::with::<W, _>(simd, Words { message, stride, range })
}

struct Words<'a> {
    message: &'a [u8],
    stride: usize,
    range: Range<usize>,
}

impl<W: Word> Work<W> for Words<'_> {
    type Output = u32;

    #[inline(always)]
    fn run<K: Kernel<W>>(self, kernel: K) -> u32 {
        let Self { message, stride, range } = self;
        let lag = (stride / W::WIDTH).max(1);
        let (lags, reach) = ([lag as u16], lag * W::WIDTH);
        let mut bits = 0;
        let places = &places(message, reach + SAMPLE, W::WIDTH)[range];
        for at in places {
            let difference = kernel.difference_cost(message, *at + reach, &lags);
            let below = kernel.below_cost(message, *at + reach, 1);
            bits += difference.min(below) * W::LANES as u32;
        }
        by_unit(bits, places.len() * SAMPLE)
    }
}

fn by_unit(bits: u32, bytes: usize) -> u32 {
    (u64::from(bits) * UNIT as u64 / bytes as u64) as u32
}

/// Bits of the field's words in all runs, and its share of a column's fixed cost.
#[inline(always)]
fn field_cost(message: &[u8], places: &[usize], at: usize, stride: usize, width: usize) -> u32 {
    let bits = match width {
        8 => column_cost(message, places, at, stride, |field: &[u8; 8]| u64::from_le_bytes(*field)),
        4 => column_cost(message, places, at, stride, |field: &[u8; 4]| u32::from_le_bytes(*field)),
        2 => column_cost(message, places, at, stride, |field: &[u8; 2]| u16::from_le_bytes(*field)),
        _ => column_cost(message, places, at, stride, |field: &[u8; 1]| u16::from(field[0])),
    };
    let head = (4 + width) * 8 * places.len() * RUN / (message.len() / stride).min(PIECE);
    bits + head as u32
}

/// Bits of some runs of words, coded as differences or as distances below the greatest one.
#[inline(always)]
fn column_cost<W: Word, const F: usize>(
    message: &[u8],
    places: &[usize],
    at: usize,
    stride: usize,
    word: impl Fn(&[u8; F]) -> W,
) -> u32 {
    let (mut steps, mut below, mut rotated) = (0, 0, 0);
    for place in places {
        // Loops over arrays, which the compiler vectorises.
        let mut run = [W::ZERO; RUN + 1];
        let mut rest = message.get(place + at..).unwrap_or_default();
        for to in &mut run {
            *to = rest.first_chunk().map_or(W::ZERO, &word);
            rest = rest.get(stride..).unwrap_or_default();
        }
        let (before, [_, words @ ..]) = (&run, &run);
        let mut tops = [W::ZERO; 2];
        for word in words {
            tops = [tops[0].max(*word), tops[1].max(word.rotated_left(1))];
        }
        for (group, before) in words.chunks(W::LANES).zip(before.chunks(W::LANES)) {
            let mut all = [W::ZERO; 3];
            for (word, before) in group.iter().zip(before) {
                all[0] = all[0].or(word.minus(*before).zigzag());
                all[1] = all[1].or(tops[0].minus(*word));
                all[2] = all[2].or(tops[1].minus(word.rotated_left(1)));
            }
            let count = group.len() as u32;
            steps += all[0].width() * count;
            below += all[1].width() * count;
            rotated += all[2].width() * count;
        }
    }
    steps.min(below).min(rotated)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Structures of a 32-bit counter, a small number, and a random word.
    fn structures(from: u64, count: u64) -> impl Iterator<Item = u8> {
        (from..from + count).flat_map(|i| {
            let noise = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let noise = (noise ^ noise >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let integers = (70_000 + i) | (noise >> 60) << 32;
            [integers.to_le_bytes(), (noise ^ noise >> 32).to_le_bytes()].into_iter().flatten()
        })
    }

    fn guess(known: &mut Structures, message: impl Iterator<Item = u8>) -> Guess {
        let mut bytes = [0; 16 * 500];
        let len = bytes.iter_mut().zip(message).map(|(to, from)| *to = from).count();
        known.guess::<u64>(Simd::SCALAR, &bytes[..len])
    }

    #[test]
    fn fields_serve_messages_like_the_one_they_were_found_in() {
        let mut known = Structures::new();
        assert_eq!(guess(&mut known, structures(0, 500)), Guess::Perhaps);
        assert_eq!(known.fields.stride(), 16);
        known.learn(true);
        assert_eq!(guess(&mut known, structures(1000, 300)), Guess::Yes);
        // Starts in the middle of a structure.
        assert_eq!(guess(&mut known, structures(2000, 400).skip(8)), Guess::Yes);
        assert_eq!(guess(&mut known, structures(3000, 400).skip(4)), Guess::Yes);
        // Other messages between them.
        assert_eq!(guess(&mut known, [7; 4000].into_iter()), Guess::No);
        assert_eq!(guess(&mut known, structures(0, 500).skip(4)), Guess::Yes);
        // The fields did not pay off.
        known.learn(false);
        assert_eq!(guess(&mut known, structures(0, 500)), Guess::No);
    }

    #[test]
    fn fields_are_looked_for_again_now_and_then() {
        let mut known = Structures::new();
        let guesses = [(); 70].map(|()| guess(&mut known, structures(0, 500)));
        let again = |guess: &&Guess| **guess == Guess::Perhaps;
        assert_eq!(guesses.iter().filter(again).count(), 3);
        assert!(!guesses.contains(&Guess::No));
    }
}
