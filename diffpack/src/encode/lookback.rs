//! Finds words that equal earlier ones, or nearly (format, section 6).
#![forbid(unsafe_code)]

use super::back_off::BackOff;
use crate::format::BLOCK;
use crate::kernel::block::Block;
use crate::word::Word;

/// Entries of the table of places.
const PLACES: usize = 1 << 11;
/// The number of bytes compared to find a word again: shorter matches occur by chance.
const KEY: usize = 8;
/// The low bits in which nearly equal words may differ.
const NEAR: u32 = 8;
/// The approximate number of bits that a new distance takes.
const COST: u32 = 8;
/// A block is coded by distances if at least one word in this many is found again.
const ENOUGH: usize = 8;
/// The longest run of blocks without gain that is counted. As many blocks are skipped as are in the run, minus four.
const PATIENCE: u8 = 32;
/// One in this many words of skipped blocks is entered in the table.
const STRIDE: usize = 64;

/// The places of earlier words of a message, and the distances of a block.
#[derive(Clone, Debug)]
pub(super) struct Lookback {
    /// For each hash, the position of the last word with it, modulo 2^16. Each match is verified, so stale entries do no harm.
    places: [u16; PLACES],
    pub(super) distances: Block,
    /// For blocks for which it did not pay off.
    back_off: BackOff,
}

impl Lookback {
    pub(super) fn new() -> Self {
        Self { places: [0; PLACES], distances: Block::ZERO, back_off: BackOff::default() }
    }

    /// Begins a message. Keeps the misses of the previous message if the encoder may `remember`.
    pub(super) fn begin(&mut self, remember: bool) {
        self.places.fill(0);
        if !remember {
            self.forget();
        }
    }

    pub(super) fn forget(&mut self) {
        self.back_off = BackOff::default();
    }

    /// Records whether distances took fewer bytes. The number of blocks skipped grows with each consecutive miss.
    pub(super) fn learn(&mut self, hit: bool) {
        self.back_off.learn(hit, PATIENCE, |misses| misses.saturating_sub(4));
    }

    /// Finds distances and residuals of the block at `at` of a message. Returns whether enough words were found.
    #[inline(always)]
    pub(super) fn find<W: Word>(&mut self, message: &[u8], at: usize, residuals: &mut Block) -> bool {
        let end = message.len().min(at + BLOCK);
        if self.back_off.skips() {
            for at in (at..end).step_by(STRIDE * W::WIDTH) {
                if let Some(key) = key(message, at) {
                    enter::<W>(&mut self.places, key, at);
                }
            }
            return false;
        }
        let (mut last, mut found) = (1, 0);
        let distances = W::split_mut(&mut self.distances.0).0.iter_mut();
        let places = &mut self.places;
        let residuals = W::split_mut(&mut residuals.0).0.iter_mut();
        for ((at, to_distance), to_residual) in (at..end).step_by(W::WIDTH).zip(distances).zip(residuals) {
            let word = W::load(message, at);
            let residual = |distance: usize| {
                let from = at.checked_sub(distance * W::WIDTH);
                word.minus(from.map_or(W::ZERO, |from| W::load(message, from))).zigzag()
            };
            let mut best = (residual(last), last);
            if let Some(key) = key(message, at) {
                let there = enter::<W>(places, key, at);
                let is_there = || {
                    at.checked_sub(there * W::WIDTH).is_some_and(|from| self::key(message, from) == Some(key))
                };
                if best.0 != W::ZERO && is_there() {
                    best = (W::ZERO, there);
                }
                if W::BITS == u64::BITS && best.0 > W::mask(NEAR) {
                    let there = enter::<W>(places, !key >> NEAR, at);
                    let near = residual(there);
                    if near <= W::mask(NEAR) {
                        best = (near, there);
                    }
                }
            }
            // A new distance takes bits, too.
            if last != 1 && best.0.width() > residual(1).width() + COST {
                best = (residual(1), 1);
            }
            found += usize::from(best.0 <= W::mask(NEAR));
            let same = best.1 == last;
            *to_distance = W::of(if same { 0 } else { best.1 }).to_bytes();
            *to_residual = best.0.to_bytes();
            last = best.1;
        }
        let is_enough = found * ENOUGH * W::WIDTH >= end - at;
        if !is_enough {
            self.learn(false);
        }
        is_enough
    }
}

/// The bytes at `at` to search for; `None` near the end.
#[inline(always)]
fn key(message: &[u8], at: usize) -> Option<u64> {
    message.get(at..).and_then(|rest| rest.first_chunk::<KEY>()).map(|key| u64::from_le_bytes(*key))
}

/// Enters the word at `at` with this key. Returns the distance to the word that its entry held.
#[inline(always)]
fn enter<W: Word>(places: &mut [u16; PLACES], key: u64, at: usize) -> usize {
    let number = (at / W::WIDTH) as u16;
    let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - PLACES.trailing_zeros());
    let before = core::mem::replace(&mut places[hash as usize % PLACES], number);
    usize::from(number.wrapping_sub(before)).max(1)
}
