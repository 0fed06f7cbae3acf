//! Finds words that occurred before: the sequences and literals of a block of copies (format, section 9).
#![forbid(unsafe_code)]

use crate::copies::{REACH, Units};
use crate::format::BLOCK;
use crate::kernel::{Chore, compiled};
use crate::sequences::{KEY, Sequence, Sequences, UNITS};
use crate::word::Word;
use core::marker::PhantomData;
use mpress_codec::simd::Simd;
use mpress_codec::support::Word as _;

/// Entries in the table of positions.
const PLACES: usize = 1 << 12;
/// Room for the literals of a block, the last of which may be part of a unit.
const LITERALS: usize = BLOCK + MAX_UNIT * 8;
/// The number of bytes of a block that must be copies for it to be written as copies.
const ENOUGH: usize = BLOCK / 16;
/// The maximum number of blocks that are skipped after blocks without copies.
const PATIENCE: u32 = 64;
/// In skipped blocks, one of every `STRIDE` words is entered in the table.
const STRIDE: usize = 64;
/// The maximum number of words of a unit.
const MAX_UNIT: usize = 16;
/// The number of sequences whose counts must be multiples of a unit before it is used.
const WITNESSES: usize = 8;
/// The maximum number of blocks for which copies are trusted to be shorter.
const TRUST: u32 = 4;
/// The low bits in which the words of near copies may differ.
const NEAR: u32 = 8;
/// The number of blocks without near copies after blocks with few.
const FAR: u32 = 8;
/// The bits of a sequence, about.
const SEQUENCE_BITS: usize = 20;

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
    /// The number of consecutive blocks of copies that were shorter than without, at most [`TRUST`], and of blocks for which that is not tried.
    wins: u32,
    trusted: u32,
    /// The number of blocks in which near copies are not looked for, because there were few.
    far: u32,
    /// The words of a unit, 1 if none is known; a word of the stretch, less than this, at which a unit begins; and the number of bytes in a block
    /// that were copies when it was found.
    unit: usize,
    phase: usize,
    expected: usize,
    /// The offset of the last unit of the last block, and its distance: a part of it may be in the next block.
    cut: (usize, u16),
    /// The shortest copy worth a sequence, in bytes.
    least: usize,
    pub(crate) sequences: Sequences,
    pub(crate) units: Units,
    literals: [u8; LITERALS],
    literal_len: usize,
}

impl Repeats {
    pub(crate) fn new() -> Self {
        Self {
            places: [0; PLACES],
            base: 1,
            words: 0,
            misses: 0,
            rest: 0,
            wins: 0,
            trusted: 0,
            far: 0,
            unit: 1,
            phase: 0,
            expected: 0,
            cut: (0, 0),
            least: KEY,
            sequences: Sequences::new(),
            units: Units { words: 1, first: 0 },
            literals: [0; LITERALS],
            literal_len: 0,
        }
    }

    /// Begins a stretch of `words` words. Copies do not reach into earlier stretches.
    pub(crate) fn begin<W: Word>(&mut self, words: usize) {
        // The unit may be one of other words, of a column.
        if self.unit * W::WIDTH < KEY {
            self.unit = 1;
        }
        self.cut = (usize::MAX / 2, 0);
        let before = core::mem::replace(&mut self.words, words as u32);
        self.base = match self.base.checked_add(before) {
            Some(base) if base < u32::MAX / 2 => base,
            _ => {
                self.places.fill(0);
                1
            }
        };
    }

    /// Forgets the misses, the unit and the cost of literals.
    pub(crate) fn forget(&mut self) {
        (self.misses, self.rest, self.wins, self.trusted, self.far) = (0, 0, 0, 0, 0);
        (self.unit, self.least) = (1, KEY);
    }

    /// The literals of the block.
    pub(crate) fn literals(&self) -> &[u8] {
        &self.literals[..self.literal_len]
    }

    /// Looks for copies in the `len` bytes at `at` of a stretch. Returns whether there are enough to write the block as copies.
    #[inline]
    pub(crate) fn find<W: Word>(&mut self, simd: Simd, stretch: &[u8], at: usize, len: usize) -> bool {
        if self.rest > 0 {
            self.rest -= 1;
            for place in (at..at + len).step_by(STRIDE * W::WIDTH) {
                if let Some(key) = key(stretch, place) {
                    self.enter::<W>(key, place);
                }
            }
            return false;
        }
        // One value, and again in the next block: a difference takes fewer bytes than a copy.
        if len == BLOCK && is_run::<W>(&stretch[at..at + len]) {
            return false;
        }
        let copied = compiled(simd, Look { repeats: self, stretch, at, len, word: PhantomData::<W> });
        if copied < ENOUGH {
            self.missed();
            return false;
        }
        true
    }

    /// Whether copies need not be compared with the block without.
    pub(crate) fn are_trusted(&self) -> bool {
        self.trusted > 0
    }

    /// Records that copies paid off, and how many bytes the literals took.
    pub(crate) fn hit(&mut self, literal_bytes: usize) {
        self.misses = 0;
        if self.trusted > 0 {
            self.trusted -= 1;
        } else {
            self.wins = (self.wins + 1).min(TRUST);
            self.trusted = self.wins;
        }
        if self.literal_len >= 8 * KEY {
            // Where literals take few bits, short copies do not pay.
            let each = 8 * literal_bytes * KEY / self.literal_len;
            self.least = KEY * (SEQUENCE_BITS / each.max(1) + 1).min(4);
        }
    }

    /// Records that copies did not pay off. The number of blocks skipped grows with each consecutive miss.
    pub(crate) fn missed(&mut self) {
        (self.wins, self.trusted) = (0, 0);
        self.misses = (self.misses + 1).min(PATIENCE);
        self.rest = self.misses;
    }

    /// Enters the word at `place` of the stretch with this key. Returns the place of the one that had its entry, if that is in this stretch.
    #[inline(always)]
    fn enter<W: Word>(&mut self, key: u64, place: usize) -> Option<usize> {
        let entry = &mut self.places[slot(key)];
        let last = entry.checked_sub(self.base).map(|word| word as usize * W::WIDTH);
        *entry = self.base + (place / W::WIDTH) as u32;
        last
    }

    /// Finds the sequences and the literals of the block from `at` on. Returns the number of bytes that are copies.
    #[inline(always)]
    fn look<W: Word>(&mut self, stretch: &[u8], at: usize) -> usize {
        self.sequences.clear();
        self.literal_len = 0;
        self.units = Units { words: 1, first: 0 };
        let (mut anchor, mut i, mut copied, mut last_back) = (at, at, 0, usize::MAX);
        // In shorter words a sequence takes as many bits as near copies save. Without copies in the block before there are hardly near ones.
        let look_near = W::BITS == u64::BITS && self.wins > 0 && self.far == 0;
        let (mut near, mut tried) = (0, 0);
        // Shorter words are integers more often, and take fewer bits as literals.
        let least = if W::BITS == u64::BITS { self.least } else { self.least.max(2 * KEY) };
        while let Some(here) = key(stretch, i) {
            let last = self.enter::<W>(here, i);
            let is_here = |from: &usize| key(stretch, *from) == Some(here);
            let is_near = |from: &usize| *from < i && i - from <= REACH * W::WIDTH;
            // The distance of the last copy needs no bits.
            let mut from =
                i.checked_sub(last_back).filter(is_here).or_else(|| last.filter(is_near).filter(is_here));
            let mut almost = None;
            if from.is_none() && look_near {
                tried += 1;
                let last = self.enter::<W>(!here >> NEAR, i);
                let there = last.filter(is_near).and_then(|last| Some((last, key(stretch, last)?)));
                match there.filter(|(_, there)| there >> NEAR == here >> NEAR) {
                    // The entry of its own hash was overwritten.
                    Some((last, there)) if there == here => from = Some(last),
                    other => almost = other,
                }
            }
            if let Some(from) = from {
                let back = i - from;
                let mut start = i;
                while start > anchor
                    && start - W::WIDTH >= back
                    && W::load(stretch, start - W::WIDTH) == W::load(stretch, start - W::WIDTH - back)
                {
                    start -= W::WIDTH;
                }
                let end = end_of_copy::<W>(stretch, i + KEY, back);
                if end - start >= least {
                    self.sequences.push(Sequence {
                        literals: ((start - anchor) / W::WIDTH) as u16,
                        copies: ((end - start) / W::WIDTH) as u16,
                        distance: (back / W::WIDTH) as u16,
                        residual: 0,
                    });
                    self.put_literals(&stretch[anchor..start]);
                    copied += end - start;
                    // Words after a copy may follow it again.
                    for place in (i + W::WIDTH..end).step_by(W::WIDTH).take(KEY) {
                        if let Some(key) = key(stretch, place) {
                            self.enter::<W>(key, place);
                        }
                    }
                    (anchor, i, last_back) = (end, end, back);
                    continue;
                }
            } else if let Some((from, there)) = almost {
                near += 1;
                self.sequences.push(Sequence {
                    literals: ((i - anchor) / W::WIDTH) as u16,
                    copies: 1,
                    distance: ((i - from) / W::WIDTH) as u16,
                    residual: here.minus(there).zigzag() as u16 + 1,
                });
                self.put_literals(&stretch[anchor..i]);
                copied += W::WIDTH;
                last_back = i - from;
                anchor = i + W::WIDTH;
            }
            i += W::WIDTH;
        }
        if look_near {
            self.far = if near * 16 < tried { FAR } else { 0 };
        } else {
            self.far = self.far.saturating_sub(1);
        }
        self.put_literals(&stretch[anchor..]);
        copied
    }

    /// Finds the unit of which the counts and distances of the block's sequences are multiples. The block begins at word `at` and has `copied`
    /// bytes of copies.
    fn learn<W: Word>(&mut self, at: usize, copied: usize) {
        let mut unit = 0;
        // The first sequence may begin, and the last one may end, inside a unit.
        for i in 1..=WITNESSES {
            let Sequence { literals, copies, distance, .. } = self.sequences.get(i);
            for number in [literals, copies, distance] {
                unit = greatest_common_divisor(unit, number.into());
            }
        }
        while unit > MAX_UNIT {
            unit = (2..=MAX_UNIT).rev().find(|part| unit.is_multiple_of(*part)).unwrap_or(1);
        }
        if unit > 1 && unit * W::WIDTH >= KEY {
            let first = self.sequences.get(0);
            let start = at + usize::from(first.literals) + usize::from(first.copies);
            (self.unit, self.phase, self.expected) = (unit, start % unit, copied - copied / 4);
        }
    }

    /// Like `look`, at whole units only, each of which is a copy or literals. Without branches on that, because it is uncertain.
    #[inline(always)]
    fn look_at_units<W: Word>(&mut self, stretch: &[u8], at: usize, len: usize) -> usize {
        let (unit, end) = (self.unit, at + len);
        let bytes = unit * W::WIDTH;
        let first = (self.phase + unit - at / W::WIDTH % unit) % unit;
        self.units = Units { words: unit, first };
        self.literal_len = 0;
        let start = at + first * W::WIDTH;
        let mut distances = [0; UNITS];
        let (cut, others) = distances.split_at_mut(usize::from(first > 0));
        // A first unit that began before the block was looked for when that part of it was.
        if let Some(distance) = cut.first_mut() {
            *distance = if self.cut.0 + bytes == start { self.cut.1 } else { 0 };
        }
        if cut.iter().all(|distance| *distance == 0) {
            self.put_literals(&stretch[at..start.min(end)]);
        }
        let count = end.saturating_sub(start).div_ceil(bytes);
        let (others, units) = (&mut others[..count], stretch.get(start..).unwrap_or_default());
        let whole = (units.len() / bytes).min(count);
        let places = Places { places: &mut self.places, base: self.base, stretch };
        let literals = (&mut self.literals, &mut self.literal_len);
        match unit {
            2 => places.distances::<W, 2>(unit, start, &mut others[..whole], literals),
            3 => places.distances::<W, 3>(unit, start, &mut others[..whole], literals),
            4 => places.distances::<W, 4>(unit, start, &mut others[..whole], literals),
            _ => places.distances::<W, 0>(unit, start, &mut others[..whole], literals),
        }
        if let Some(distance) = others.last() {
            self.cut = (start + (count - 1) * bytes, *distance);
            // The last unit may end after the block, and even after the stretch.
            if whole < count {
                self.put_literals(&stretch[start + whole * bytes..end]);
            } else if *distance == 0 {
                self.literal_len -= start + count * bytes - end;
            }
        }
        let count = count + cut.len();
        self.sequences.merge(&distances[..count]);
        len - self.literal_len
    }

    #[inline(always)]
    fn put_literals(&mut self, literals: &[u8]) {
        let end = self.literal_len + literals.len();
        if let Some(to) = self.literals.get_mut(self.literal_len..end) {
            to.copy_from_slice(literals);
            self.literal_len = end;
        }
    }
}

/// The positions of earlier words of a stretch.
struct Places<'a> {
    places: &'a mut [u32; PLACES],
    base: u32,
    stretch: &'a [u8],
}

impl Places<'_> {
    /// Finds the distances of units of `unit` words from `start` on to the same unit before, 0 where there is none, and enters the units. Appends the
    /// units without one to the literals, whose length is given. `UNIT` is `unit`, or 0 for any.
    #[inline(always)]
    fn distances<W: Word, const UNIT: usize>(
        self,
        unit: usize,
        start: usize,
        distances: &mut [u16],
        (literals, literal_len): (&mut [u8; LITERALS], &mut usize),
    ) {
        let Self { places, base, stretch } = self;
        let unit = if UNIT == 0 { unit } else { UNIT };
        let bytes = unit * W::WIDTH;
        let reciprocal = (1_u64 << 32) / unit as u64 + 1;
        let first = base + (start / W::WIDTH) as u32;
        let (mut at, mut number, mut len) = (start, first, *literal_len);
        for distance in distances {
            let words = &stretch[at..at + bytes];
            let entry = &mut places[slot(load(words, 0).wrapping_mul(3) ^ load(words, bytes - KEY))];
            let before = core::mem::replace(entry, number);
            // Exact for entries of this stretch, which has fewer than 2^20 words.
            let back = number.wrapping_sub(before);
            let units = ((u64::from(back) * reciprocal) >> 32) as u32;
            // Entries of earlier stretches reach back past the base.
            let is_near =
                (units <= REACH as u32) & (units.wrapping_mul(unit as u32) == back) & (before >= base);
            // Where there is none, the unit is compared with itself.
            let from = at - if is_near { back as usize * W::WIDTH } else { 0 };
            let is_copy = is_near & is_same(&stretch[from..from + bytes], words);
            *distance = units as u16 & u16::from(is_copy).wrapping_neg();
            literals[len..len + bytes].copy_from_slice(words);
            // By what is stored: a unit without a distance is a literal, whatever the reason.
            len += bytes & usize::from(*distance != 0).wrapping_sub(1);
            at += bytes;
            number += unit as u32;
        }
        *literal_len = len;
    }
}

/// Looks for copies in the block of `len` bytes at `at` of a stretch. The result is the number of bytes that are copies.
struct Look<'a, W> {
    repeats: &'a mut Repeats,
    stretch: &'a [u8],
    at: usize,
    len: usize,
    word: PhantomData<W>,
}

impl<W: Word> Chore for Look<'_, W> {
    type Output = usize;

    #[inline(always)]
    fn run(self) -> usize {
        let Self { repeats, stretch, at, len, .. } = self;
        if repeats.unit > 1 {
            let copied = repeats.look_at_units::<W>(stretch, at, len);
            // The first block has little to copy.
            if copied < repeats.expected && at > 0 {
                repeats.unit = 1;
            }
            return copied;
        }
        let copied = repeats.look::<W>(&stretch[..at + len], at);
        if repeats.sequences.len() > WITNESSES + 1 {
            repeats.learn::<W>(at / W::WIDTH, copied);
        }
        copied
    }
}

/// Whether two units, of at least [`KEY`] bytes, are the same. All bytes are compared, as it is uncertain.
#[inline(always)]
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let last = one.len() - KEY;
    let mut difference = load(one, last) ^ load(other, last);
    for (one, other) in one.as_chunks::<KEY>().0.iter().zip(other.as_chunks().0) {
        difference |= u64::from_le_bytes(*one) ^ u64::from_le_bytes(*other);
    }
    difference == 0
}

/// The key at `at`; 0 past the end.
#[inline(always)]
fn load(bytes: &[u8], at: usize) -> u64 {
    key(bytes, at).unwrap_or(0)
}

/// Whether all words are the same.
#[inline(always)]
fn is_run<W: Word>(words: &[u8]) -> bool {
    words[W::WIDTH..] == words[..words.len() - W::WIDTH]
}

/// The end of the copy from `back` bytes before, which goes to `at` at least.
#[inline(always)]
fn end_of_copy<W: Word>(stretch: &[u8], mut at: usize, back: usize) -> usize {
    const STEP: usize = 4;
    while let (Some(here), Some(there)) = (
        stretch.get(at..).and_then(|rest| rest.first_chunk::<{ STEP * KEY }>()),
        stretch.get(at - back..).and_then(|rest| rest.first_chunk::<{ STEP * KEY }>()),
    ) {
        // How many keys are equal, without branches: lengths are hard to predict.
        let (mut equal, mut difference) = (0, 0);
        for (here, there) in here.as_chunks().0.iter().zip(there.as_chunks().0) {
            difference |= u64::from_le_bytes(*here) ^ u64::from_le_bytes(*there);
            equal += usize::from(difference == 0);
        }
        at += equal * KEY;
        if equal < STEP {
            break;
        }
    }
    while at < stretch.len() && W::load(stretch, at) == W::load(stretch, at - back) {
        at += W::WIDTH;
    }
    at
}

fn greatest_common_divisor(mut a: usize, mut b: usize) -> usize {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
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
