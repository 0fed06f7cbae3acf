//! Parsing: which copies and literals stand for a message.

mod greedy;
mod lazy;

use crate::bytes::common_before;
use crate::effort::Effort;
use crate::format::{Format, Sequence};
use crate::positions::Positions;
use core::marker::PhantomData;
use mpress_codec::{Full, Out};

/// Writes `raw` in sequences.
#[inline(always)]
pub(crate) fn message<F: Format>(
    raw: &[u8],
    effort: Effort,
    positions: &mut Positions,
    out: &mut Out<'_>,
) -> Result<(), Full> {
    F::begin(raw.len(), out)?;
    positions.begin(raw.len());
    let mut sequences = Sequences::<F> { raw, done: 0, out, format: PhantomData };
    match effort {
        Effort::Fast => greedy::parse(&mut sequences, positions)?,
        Effort::Normal => lazy::parse(&mut sequences, positions)?,
    }
    let done = sequences.done;
    F::finish(&raw[done..], done == 0, out)
}

/// A copy that a parser has found.
#[derive(Clone, Copy, Debug)]
struct Match {
    /// Where it begins in the message.
    at: usize,
    distance: usize,
    len: usize,
}

/// A message, and how much of it has been written.
struct Sequences<'a, 'b, F> {
    raw: &'a [u8],
    done: usize,
    out: &'a mut Out<'b>,
    format: PhantomData<F>,
}

impl<F: Format> Sequences<'_, '_, F> {
    /// Writes the copy, lengthened to the front as far as it goes, and the literals before it, if that pays.
    #[inline(always)]
    fn offer(&mut self, found: Match) -> Result<bool, Full> {
        let (raw, done) = (self.raw, self.done);
        let before = common_before(raw, found.at - found.distance, found.at, found.at - done);
        let sequence = Sequence {
            rest: &raw[done..],
            literals: found.at - before - done,
            distance: found.distance,
            len: before + found.len,
        };
        let pays = F::pays(&sequence);
        if pays {
            F::sequence(&sequence, done == 0, self.out)?;
            self.done = found.at + found.len;
        }
        Ok(pays)
    }
}
