//! Parsing: finds the copies and literals that represent a message.

mod greedy;
mod lazy;

use crate::bytes::common_before;
use crate::effort::Effort;
use crate::format::{Format, Sequence};
use crate::positions::Positions;
use core::marker::PhantomData;
use core::mem;
use mpress_codec::{Full, Out};

/// Writes `raw` as sequences.
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

/// A copy found by a parser.
#[derive(Clone, Copy, Debug)]
struct Match {
    /// The offset in the message.
    at: usize,
    distance: usize,
    len: usize,
}

/// A message and the number of bytes written so far.
struct Sequences<'a, 'b, F> {
    raw: &'a [u8],
    done: usize,
    out: Out<'b>,
    format: PhantomData<F>,
}

impl<'a, 'b, F: Format> Sequences<'a, 'b, F> {
    /// Runs `parse`, which writes sequences of `raw` to `out`, and returns the number of bytes they cover. There is one such function for each
    /// parser, into which the parser is inlined, so that the output, moved to a local, can be kept in registers.
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

    /// If it pays, writes the copy, extended to the front as far as possible, and the literals before it.
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

    /// Writes a copy that begins where the last one ends: without literals, every copy pays.
    #[inline(always)]
    fn append(&mut self, found: Match) -> Result<(), Full> {
        let Match { distance, len, .. } = found;
        F::sequence(&Sequence { rest: &[], literals: 0, distance, len }, false, &mut self.out)?;
        self.done = found.at + len;
        Ok(())
    }
}
