//! Counts of decisions, of one process or summed over several.

use crate::decision::Choice;
use crate::guided::Guide;
use crate::size::SizeClass;
use crate::table::{CANDIDATES, Candidates};
use alloc::{vec, vec::Vec};
use mpress_codec::Kind;

/// Raw, and the candidates of a kind.
const CHOICES: usize = CANDIDATES + 1;
const KINDS: usize = Kind::ALL.len();

/// How often each choice was made for messages of each kind and size class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    candidates: Candidates,
    words: Vec<u64>,
}

impl Tally {
    pub(crate) fn new(candidates: Candidates) -> Self {
        Self { candidates, words: vec![0; KINDS * SizeClass::COUNT * CHOICES] }
    }

    /// Counts a choice (a candidate or raw) for 2 to the power of `rarity` messages.
    #[inline]
    pub(crate) fn count(&mut self, (kind, size): (Kind, SizeClass), candidate: Option<usize>, rarity: u8) {
        self.words[place(kind, size) + candidate.map_or(0, |at| at + 1)] += 1 << rarity;
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
