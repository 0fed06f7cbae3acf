//! Parsing: which copies and literals stand for a message.

mod greedy;
mod lazy;

use crate::bytes::common_before;
use crate::effort::Effort;
use crate::format::{Format, Sequence};
use crate::positions::Positions;
use core::marker::PhantomData;
use core::mem;
use mpress_codec::{Full, Out};

/// Writes `raw` in sequences.
pub(crate) fn message<F: Format>(
    raw: &[u8],
    effort: Effort,
    positions: &mut Positions,
    out: &mut Out<'_>,
) -> Result<(), Full> {
    F::begin(raw.len(), out)?;
    positions.begin(raw.len());
    let done = match effort {
        Effort::Fast => Sequences::<F>::write(raw, out, |sequences| greedy::parse(sequences, positions)),
        Effort::Normal => Sequences::<F>::write(raw, out, |sequences| lazy::parse(sequences, positions)),
    }?;
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
    out: Out<'b>,
    format: PhantomData<F>,
}

impl<'a, 'b, F: Format> Sequences<'a, 'b, F> {
    /// Lets `parse` write sequences of `raw` to `out`, and gives how many of its bytes they stand for. A function of its own
    /// for each parser, into which the parser is inlined: its output, which moves there, can live in registers.
    #[inline(never)]
    fn write(
        raw: &'a [u8],
        out: &mut Out<'b>,
        parse: impl FnOnce(&mut Self) -> Result<(), Full>,
    ) -> Result<usize, Full> {
        let mut sequences =
            Self { raw, done: 0, out: mem::replace(out, Out::new(&mut [])), format: PhantomData };
        let result = parse(&mut sequences);
        *out = sequences.out;
        result.map(|()| sequences.done)
    }

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
            F::sequence(&sequence, done == 0, &mut self.out)?;
            self.done = found.at + found.len;
        }
        Ok(pays)
    }

    /// Writes a copy that begins where the last one ends: without literals every copy pays.
    #[inline(always)]
    fn append(&mut self, found: Match) -> Result<(), Full> {
        let Match { distance, len, .. } = found;
        F::sequence(&Sequence { rest: &[], literals: 0, distance, len }, false, &mut self.out)?;
        self.done = found.at + len;
        Ok(())
    }
}
