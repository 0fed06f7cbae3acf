//! The decoder.
#![forbid(unsafe_code)]

use crate::entries::Word;
use crate::format::{BLOCK, CONTINUING, COUNT_BITS, HEADER, LINES_MASK, PLACE, RAW_LEN_SHIFT, VERSION};
use crate::history::History;
use crate::lines::Lines;
use crate::predictor::Context;
use crate::table::Table;
use mpress_codec::DecodeErrorKind::{Length, State, Truncated, Unsupported};
use mpress_codec::simd::Simd;
use mpress_codec::{Decode, DecodeError, MemoryError, Out, Reset};

/// The continuing messages that a decoder can decode (format, section 8).
#[derive(Clone, Copy, Debug)]
enum Sequence<W> {
    /// The first one of a sequence.
    Fresh,
    /// The one after those decoded so far.
    Following(Lines, Context<W>, History),
    /// None until a reset: there was an error, or a self-contained message overwrote the table.
    Lost,
}

/// Decodes messages of words `W`, both self-contained and continuing; the wire says which. The predictor's table is in `M`: `Vec<u64>`, `[u64; N]`,
/// `&mut [u64]`...
///
/// The initial contents of the memory do not matter.
#[derive(Clone, Debug)]
pub struct Decoder<W, M> {
    table: Table<M>,
    most: Lines,
    sequence: Sequence<W>,
    simd: Simd,
}

impl<W: Word, M: AsMut<[u64]>> Decoder<W, M> {
    /// A decoder for every valid message.
    ///
    /// # Errors
    /// If `memory` has less than [`Lines::MAX`]`.words::<W>()` words.
    pub fn new(memory: M) -> Result<Self, MemoryError> {
        Self::with_lines(memory, Lines::MAX)
    }

    /// A decoder for tables of at most `most` lines. Messages with a larger table are [`Unsupported`](mpress_codec::DecodeErrorKind::Unsupported).
    /// [`Lines::MAX_SIZED`] suffices for [`Encoder::new`](crate::Encoder::new).
    ///
    /// # Errors
    /// If `memory` has less than `most.words::<W>()` words.
    pub fn with_lines(mut memory: M, most: Lines) -> Result<Self, MemoryError> {
        most.check::<W>(memory.as_mut())?;
        Ok(Self::unchecked(memory, most))
    }

    pub(crate) fn unchecked(memory: M, most: Lines) -> Self {
        Self { table: Table::new(memory), most, sequence: Sequence::Fresh, simd: Simd::detect() }
    }

    /// Uses a kernel of this tier. The result is the same at every tier.
    #[must_use]
    pub fn with_simd(mut self, simd: Simd) -> Self {
        self.simd = simd;
        self
    }

    /// Reads the table's size and whether the message continues a sequence (format, section 2).
    fn header(&self, wire: &[u8], raw_len: usize) -> Result<(Lines, bool), DecodeError> {
        let byte = |at| wire.get(at).copied().ok_or(DecodeError::new(Truncated, at));
        if byte(0)? != VERSION {
            return Err(DecodeError::new(Unsupported, 0));
        }
        let flags = byte(1)?;
        let unsupported = DecodeError::new(Unsupported, 1);
        let lines = Lines::new(flags & LINES_MASK).filter(|lines| *lines <= self.most).ok_or(unsupported)?;
        if usize::from(flags >> RAW_LEN_SHIFT) != raw_len % 8 {
            return Err(DecodeError::new(Length, 1));
        }
        Ok((lines, flags & CONTINUING != 0))
    }

    fn self_contained(&mut self, wire: &[u8], lines: Lines, out: &mut Out<'_>) -> Result<(), DecodeError> {
        if let Sequence::Following(..) = self.sequence {
            // This message overwrites the sequence's table.
            self.sequence = Sequence::Lost;
        }
        self.payload(wire, HEADER, lines, None, out).map(|_| ())
    }

    fn continuing(&mut self, wire: &[u8], lines: Lines, out: &mut Out<'_>) -> Result<(), DecodeError> {
        let unexpected = DecodeError::new(State, HEADER);
        let (context, history) = match self.sequence {
            Sequence::Fresh => (None, History::START),
            Sequence::Following(same, context, history) if same == lines => (Some(context), history),
            _ => return Err(unexpected),
        };
        let place = wire[HEADER..].first_chunk().ok_or(DecodeError::new(Truncated, wire.len()))?;
        if History::from_bytes(*place) != history {
            return Err(unexpected);
        }
        let raw_len = out.remaining();
        let context = self.payload(wire, HEADER + PLACE, lines, context, out)?;
        let history = history.after(raw_len, wire.len(), context.sum);
        self.sequence = Sequence::Following(lines, context, history);
        Ok(())
    }

    /// Decodes the blocks and the tail, which start at byte `at` of `wire` and end with it, starting from `context` or from the start state. Returns
    /// the context after them.
    fn payload(
        &mut self,
        wire: &[u8],
        at: usize,
        lines: Lines,
        context: Option<Context<W>>,
        out: &mut Out<'_>,
    ) -> Result<Context<W>, DecodeError> {
        let (elements, tail) = (out.remaining() / size_of::<W>(), out.remaining() % size_of::<W>());
        if wire.len() - at < least_len::<W>(elements) + tail {
            return Err(DecodeError::new(Truncated, wire.len()));
        }
        let words = lines.words::<W>();
        if context.is_none() {
            self.table.clear(words);
        }
        let context = context.unwrap_or(W::START);
        let (table, before) = self.table.words(words);
        let start = out.len();
        let blocks = W::decode(self.simd, table, context, (wire, at), elements, out);
        // Even after an error, `out` has every element from which the predictor has learned.
        self.table.wrote(before, W::pages(words, context, &out.written()[start..]));
        let (context, at) = blocks?;
        let tail = wire[at..].get(..tail).ok_or(DecodeError::new(Truncated, wire.len()))?;
        let end = DecodeError::new(Length, at + tail.len());
        out.extend_from_slice(tail).map_err(|_| end)?;
        if end.offset == wire.len() { Ok(context) } else { Err(end) }
    }
}

/// The minimum length of the blocks of this number of elements: that of residuals that are all zero (format, section 7).
fn least_len<W: Word>(elements: usize) -> usize {
    let unit = (size_of::<W>() * 8) >> COUNT_BITS;
    let block = |elements: usize| elements.div_ceil(2) + (elements * unit).div_ceil(8);
    let full = BLOCK / size_of::<W>();
    elements / full * block(full) + block(elements % full)
}

impl<W: Word, M: AsMut<[u64]>> Decode for Decoder<W, M> {
    fn decode(&mut self, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
        let result = out.all_or_nothing(|out| match self.header(wire, out.remaining())? {
            (lines, false) => self.self_contained(wire, lines, out),
            (lines, true) => self.continuing(wire, lines, out),
        });
        if result.is_err() {
            // After any error, a message is missing.
            self.sequence = Sequence::Lost;
        }
        result
    }
}

impl<W: Word, M: AsMut<[u64]>> Reset for Decoder<W, M> {
    fn reset(&mut self) {
        self.sequence = Sequence::Fresh;
    }
}
