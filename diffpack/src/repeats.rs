//! Finds words that occurred before and writes a block as copies and literals (format, section 11).
#![forbid(unsafe_code)]

use crate::block::Block;
use crate::format::{BLOCK, Head};
use crate::word::Word;
use mpress_codec::{Full, Out};

/// Wire bytes of a sequence without its extensions.
const SEQUENCE: usize = 3;
/// The count in a token to which an extension is added.
const EXTENDED: u8 = 15;
/// Entries in the table of positions.
const PLACES: usize = 1 << 12;
/// Bytes that are hashed together.
const KEY: usize = 8;
/// The minimum copy length in bytes: a sequence takes 3.
const LEAST: usize = 16;
/// The maximum count of literals or copies in a sequence.
const COUNT: usize = u8::MAX as usize + EXTENDED as usize;
/// The maximum number of sequences in a block: one for each copy, and some to split long ones.
const SEQUENCES: usize = BLOCK / LEAST + 10;
/// The maximum distance, in words.
const REACH: usize = u16::MAX as usize;
/// The number of bytes of a block that must be copies for it to be written as copies.
const ENOUGH: usize = BLOCK / 16;
/// The maximum number of blocks that are skipped after blocks without copies.
const PATIENCE: u32 = 64;
/// In skipped blocks, one of every `STRIDE` words is entered in the table.
const STRIDE: usize = 64;

/// The counts of literals and of copies, and the distance.
#[derive(Clone, Copy, Debug, Default)]
struct Sequence {
    literals: u16,
    copies: u16,
    distance: u16,
}

/// The encoder's table of earlier words, and the sequences of a block.
#[derive(Clone, Debug)]
pub(crate) struct Repeats {
    /// For each hash, the last word with it, by a number that keeps growing from message to message, so that old entries need no clearing.
    places: [u32; PLACES],
    /// The number of the first word of the stretch, and the number of words in it.
    base: u32,
    words: u32,
    /// The number of consecutive blocks without copies, and of blocks still to be skipped.
    misses: u32,
    rest: u32,
    sequences: [Sequence; SEQUENCES],
    count: usize,
    pub(crate) literals: Block,
    pub(crate) literal_len: usize,
}

impl Repeats {
    pub(crate) fn new() -> Self {
        Self {
            places: [0; PLACES],
            base: 1,
            words: 0,
            misses: 0,
            rest: 0,
            sequences: [Sequence::default(); SEQUENCES],
            count: 0,
            literals: Block::ZERO,
            literal_len: 0,
        }
    }

    /// Begins a stretch of `words` words. Copies do not reach into earlier stretches.
    pub(crate) fn begin(&mut self, words: usize) {
        let before = core::mem::replace(&mut self.words, words as u32);
        self.base = match self.base.checked_add(before) {
            Some(base) if base < u32::MAX / 2 => base,
            _ => {
                self.places.fill(0);
                1
            }
        };
    }

    /// Forgets the misses.
    pub(crate) fn forget(&mut self) {
        (self.misses, self.rest) = (0, 0);
    }

    /// Looks for copies in the `len` bytes at `at` of a stretch. Returns whether there are enough to write the block as copies.
    pub(crate) fn find<W: Word>(&mut self, stretch: &[u8], at: usize, len: usize) -> bool {
        let block = at..at + len;
        if self.rest > 0 {
            self.rest -= 1;
            for place in block.step_by(STRIDE * W::WIDTH) {
                if let Some(key) = key(stretch, place) {
                    self.places[slot(key)] = self.base + (place / W::WIDTH) as u32;
                }
            }
            return false;
        }
        let copied = self.look::<W>(&stretch[..block.end], at);
        if copied < ENOUGH {
            self.missed();
            return false;
        }
        true
    }

    /// Records that copies paid off.
    pub(crate) fn hit(&mut self) {
        self.misses = 0;
    }

    /// Records that copies did not pay off. The number of blocks skipped grows with each consecutive miss.
    pub(crate) fn missed(&mut self) {
        self.misses = (self.misses + 1).min(PATIENCE);
        self.rest = self.misses;
    }

    /// Finds the sequences and the literals of the block from `at` on. Returns the number of bytes that are copies.
    fn look<W: Word>(&mut self, stretch: &[u8], at: usize) -> usize {
        (self.count, self.literal_len) = (0, 0);
        let (mut anchor, mut i, mut copied) = (at, at, 0);
        while let Some(here) = key(stretch, i) {
            let entry = &mut self.places[slot(here)];
            let last = entry.checked_sub(self.base).map(|word| word as usize * W::WIDTH);
            *entry = self.base + (i / W::WIDTH) as u32;
            if let Some(last) = last.filter(|last| *last < i && i - last <= REACH * W::WIDTH)
                && key(stretch, last) == Some(here)
            {
                let back = i - last;
                let mut start = i;
                let same = |at: usize| W::load(stretch, at) == W::load(stretch, at - back);
                while start > anchor && start - W::WIDTH >= back && same(start - W::WIDTH) {
                    start -= W::WIDTH;
                }
                let mut end = i + KEY;
                while key(stretch, end).is_some_and(|key_here| key(stretch, end - back) == Some(key_here)) {
                    end += KEY;
                }
                while end < stretch.len() && same(end) {
                    end += W::WIDTH;
                }
                if end - start >= LEAST && self.push::<W>(start - anchor, end - start, back) {
                    self.put_literals(&stretch[anchor..start]);
                    copied += end - start;
                    // Words after a copy may follow it again.
                    for place in (i + W::WIDTH..end).step_by(W::WIDTH).take(KEY) {
                        if let Some(key) = key(stretch, place) {
                            self.places[slot(key)] = self.base + (place / W::WIDTH) as u32;
                        }
                    }
                    (anchor, i) = (end, end);
                    continue;
                }
            }
            i += W::WIDTH;
        }
        self.put_literals(&stretch[anchor..]);
        copied
    }

    /// Adds a sequence, with lengths in bytes. Returns `false` if there are too many.
    fn push<W: Word>(&mut self, literals: usize, copies: usize, back: usize) -> bool {
        let (mut literals, mut copies) = (literals / W::WIDTH, copies / W::WIDTH);
        let needed = literals / COUNT + copies.div_ceil(COUNT);
        if self.count + needed >= SEQUENCES {
            return false;
        }
        while literals > COUNT {
            self.add(COUNT, 0, 0);
            literals -= COUNT;
        }
        while copies > 0 {
            let some = copies.min(COUNT);
            self.add(core::mem::take(&mut literals), some, back / W::WIDTH);
            copies -= some;
        }
        true
    }

    fn add(&mut self, literals: usize, copies: usize, distance: usize) {
        if let Some(to) = self.sequences.get_mut(self.count) {
            *to = Sequence { literals: literals as u16, copies: copies as u16, distance: distance as u16 };
            self.count += 1;
        }
    }

    fn put_literals(&mut self, literals: &[u8]) {
        let end = self.literal_len + literals.len();
        if let Some(to) = self.literals.0.get_mut(self.literal_len..end) {
            to.copy_from_slice(literals);
            self.literal_len = end;
        }
    }

    /// Writes the head of the block and the sequences.
    pub(crate) fn write(&self, out: &mut Out<'_>) -> Result<(), Full> {
        out.extend_from_slice(&Head::repeats().0.to_le_bytes())?;
        out.extend_from_slice(&(self.count as u16).to_le_bytes())?;
        let sequences = &self.sequences[..self.count];
        let short = |count: u16| count.min(EXTENDED.into()) as u8;
        for sequence in sequences {
            out.extend_from_slice(&[short(sequence.literals) | short(sequence.copies) << 4])?;
        }
        for sequence in sequences {
            out.extend_from_slice(&sequence.distance.to_le_bytes())?;
        }
        for count in sequences.iter().flat_map(|sequence| [sequence.literals, sequence.copies]) {
            if let Some(more) = count.checked_sub(EXTENDED.into()) {
                out.extend_from_slice(&[more as u8])?;
            }
        }
        Ok(())
    }
}

/// The sequences of a block, as on the wire.
#[derive(Clone, Copy)]
pub(crate) struct Sequences<'a> {
    tokens: &'a [u8],
    distances: &'a [[u8; 2]],
    extensions: &'a [u8],
}

impl<'a> Sequences<'a> {
    /// Reads `count` sequences from the front of `wire` and returns them with their length in bytes; `None` if `wire` is too short.
    pub(crate) fn read(wire: &'a [u8], count: usize) -> Option<(Self, usize)> {
        let (tokens, rest) = wire.split_at_checked(count)?;
        let (distances, rest) = rest.split_at_checked(2 * count)?;
        let extended = |token: &u8| usize::from(token & 15 == EXTENDED) + usize::from(token >> 4 == EXTENDED);
        let more: usize = tokens.iter().map(extended).sum();
        let extensions = rest.get(..more)?;
        let sequences = Self { tokens, distances: distances.as_chunks().0, extensions };
        Some((sequences, count * SEQUENCE + more))
    }

    /// Literals, copies and distance of each sequence, in words.
    fn each(self) -> impl Iterator<Item = (usize, usize, usize)> {
        let mut extensions = self.extensions.iter();
        let mut count = move |count: u8| {
            let more = if count == EXTENDED { extensions.next().copied().unwrap_or(0) } else { 0 };
            usize::from(count) + usize::from(more)
        };
        self.tokens.iter().zip(self.distances).map(move |(token, distance)| {
            let literals = count(token & 15);
            (literals, count(token >> 4), u16::from_le_bytes(*distance).into())
        })
    }

    /// The total number of copied words.
    pub(crate) fn copies(self) -> usize {
        self.each().map(|(_, copies, _)| copies).sum()
    }

    /// Appends the words of the block to the message that begins at `start` of `out`. Returns `None` if the sequences are invalid or do not give
    /// `len` bytes.
    pub(crate) fn expand<W: Word>(
        self,
        mut literals: &[u8],
        len: usize,
        start: usize,
        out: &mut Out<'_>,
    ) -> Option<()> {
        let mut left = len;
        for (some, copies, back) in self.each() {
            let (some, copies, back) = (some * W::WIDTH, copies * W::WIDTH, back * W::WIDTH);
            left = left.checked_sub(some + copies)?;
            let these;
            (these, literals) = literals.split_at_checked(some)?;
            out.extend_from_slice(these).ok()?;
            // A distance without copies; or copies without a distance or from before the message.
            if (copies == 0) != (back == 0) || some + copies == 0 || back > out.len() - start {
                return None;
            }
            if copies > 0 {
                out.extend_from_within(back, copies).ok()?;
            }
        }
        if literals.len() != left {
            return None;
        }
        out.extend_from_slice(literals).ok()
    }
}

/// The bytes to hash, or `None` past the end.
#[inline(always)]
fn key(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map(|key| u64::from_le_bytes(*key))
}

#[inline(always)]
fn slot(key: u64) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - PLACES.trailing_zeros())) as usize
}
