//! Reads the sequences of a block of copies of version 2 (format, section 11). Encoders write dense copies instead (`dense.rs`).
#![forbid(unsafe_code)]

use crate::word::Word;
use mpress_codec::Out;

/// Wire bytes of a sequence without its extensions.
const SEQUENCE: usize = 3;
/// The count in a token to which an extension is added.
const EXTENDED: u8 = 15;

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
