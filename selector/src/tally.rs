//! Counts of decisions, of one process or summed over several.

use crate::decision::Choice;
use crate::guided::Guide;
use crate::size::SizeClass;
use crate::table::{CANDIDATES, Candidates};
use alloc::vec;
use alloc::vec::Vec;
use mpress_codec::Kind;

const _: () = assert!(KINDS * SizeClass::COUNT * CHOICES <= 1 << PLACE_BITS);

/// The bits of a remembered choice that hold the choice itself. The others hold the number of messages that it counts for, as a power of 2.
const PLACE_BITS: u32 = 12;

/// Raw, and the candidates of a kind.
const CHOICES: usize = CANDIDATES + 1;
const KINDS: usize = Kind::ALL.len();

/// How often each choice was made for messages of each kind and size class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    candidates: Candidates,
    words: Vec<u64>,
}

/// The latest decisions. They are counted in batches, because the memory of counts is seldom in the caches.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Latest {
    places: [u16; LATEST],
    len: u8,
}

const LATEST: usize = 24;

impl Latest {
    /// Remembers a choice (a candidate or raw) for 2 to the power of `rarity` messages.
    #[inline]
    pub(crate) fn add(&mut self, kind: Kind, size: SizeClass, candidate: Option<usize>, rarity: u8) {
        let place = place(kind, size) + candidate.map_or(0, |at| at + 1);
        if let Some(free) = self.places.get_mut(usize::from(self.len)) {
            *free = place as u16 | u16::from(rarity) << PLACE_BITS; // fewer than 2^12, and below 2^4
            self.len += 1;
        }
    }

    /// Whether there is no room for another choice.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        usize::from(self.len) == LATEST
    }
}

impl Tally {
    pub(crate) fn new(candidates: Candidates) -> Self {
        Self { candidates, words: vec![0; KINDS * SizeClass::COUNT * CHOICES] }
    }

    /// Counts these choices.
    pub(crate) fn count(&mut self, latest: &Latest) {
        for latest in &latest.places[..usize::from(latest.len)] {
            let place = latest & ((1 << PLACE_BITS) - 1);
            self.words[usize::from(place)] += 1 << (latest >> PLACE_BITS);
        }
    }

    /// The same number of decisions, all counted as raw.
    pub(crate) fn all_raw(&self) -> Self {
        let mut all = self.clone();
        for choices in all.words.chunks_exact_mut(CHOICES) {
            choices[0] = choices.iter().sum();
            choices[1..].fill(0);
        }
        all
    }

    /// The counts as a flat array, to be summed over processes element by element. Selectors created from the same offers give arrays of the
    /// same layout.
    #[must_use]
    pub fn as_words(&self) -> &[u64] {
        &self.words
    }

    /// The same, to receive the sum.
    pub fn as_words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// The most frequent choice for messages of each kind and size class, and how often it was made.
    pub fn most_chosen(&self) -> impl Iterator<Item = (Guide, u64)> + '_ {
        let sizes = Kind::ALL.into_iter().flat_map(|kind| SizeClass::all().map(move |size| (kind, size)));
        sizes.filter_map(|(kind, size)| {
            let at = place(kind, size);
            // Of equally frequent choices, the first.
            let (at, messages) =
                self.words[at..at + CHOICES].iter().enumerate().rev().max_by_key(|(_, count)| **count)?;
            let choice = match at.checked_sub(1) {
                None => Choice::Raw,
                Some(at) => Choice::Encode(self.candidates[kind as usize][at]?),
            };
            (*messages > 0).then_some((Guide { kind, size, choice }, *messages))
        })
    }
}

fn place(kind: Kind, size: SizeClass) -> usize {
    (kind as usize * SizeClass::COUNT + size.index()) * CHOICES
}
