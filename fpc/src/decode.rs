//! The receiving side of the message mode.
#![forbid(unsafe_code)]

use crate::block::{Aligned, BlockBytes, Words};
use crate::classes::Classes;
use crate::format::{BLOCK, ENTRIES_MASK, HEAD, HEADER, PLANES, RAW_LEN_SHIFT, RESERVED, ROW, ROWS, VERSION};
use crate::kernel::{self, Kernel, Work};
use crate::predictor::{Entries, Predictor};
use crate::word::Word;
use mpress_codec::DecodeErrorKind::{Corrupt, Length, Truncated, Unsupported};
use mpress_codec::simd::Level;
use mpress_codec::{Decode, DecodeError, Out};

/// Decodes messages of words `W`. Predictors and buffers are in it: 27 KiB for doubles, half as much for single
/// floats.
#[derive(Clone, Debug)]
pub struct Decoder<W: Word> {
    predictor: Predictor<W>,
    buffers: Buffers<W>,
    level: Level,
}

/// What a block becomes on its way.
#[derive(Clone, Debug)]
struct Buffers<W: Word> {
    /// Residuals, and then values.
    words: Words<W>,
    /// The length of each residual.
    lengths: BlockBytes,
    /// Not 0 where the prediction was that of dfcm.
    picks: BlockBytes,
}

impl<W: Word> Decoder<W> {
    /// A decoder with the best kernel of this machine.
    #[must_use]
    pub fn new() -> Self {
        let buffers = Buffers {
            words: Aligned([[W::ZERO_BYTES; ROW]; ROWS]),
            lengths: Aligned([[0; ROW]; ROWS]),
            picks: Aligned([[0; ROW]; ROWS]),
        };
        Self { predictor: Predictor::new(), buffers, level: Level::detect() }
    }

    /// The same with a kernel of this level. The result is the same at every level.
    #[must_use]
    pub fn with_level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }
}

impl<W: Word> Default for Decoder<W> {
    fn default() -> Self {
        Self::new()
    }
}

impl<W: Word> Decode for Decoder<W> {
    fn decode(&mut self, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
        let start = out.len();
        let result = header(wire, out.remaining())
            .and_then(|entries| kernel::with(self.level, Message { decoder: self, entries, wire, out }));
        if result.is_err() {
            out.truncate(start);
        }
        result
    }

    fn reset(&mut self) {}
}

/// The size of the tables (format, section 2).
fn header(wire: &[u8], raw_len: usize) -> Result<Entries, DecodeError> {
    let byte = |at| wire.get(at).copied().ok_or(DecodeError::new(Truncated, at));
    if byte(0)? != VERSION {
        return Err(DecodeError::new(Unsupported, 0));
    }
    let flags = byte(1)?;
    if flags & RESERVED != 0 {
        return Err(DecodeError::new(Corrupt, 1));
    }
    if usize::from(flags >> RAW_LEN_SHIFT) != raw_len % 8 {
        return Err(DecodeError::new(Length, 1));
    }
    Entries::new(flags & ENTRIES_MASK).ok_or(DecodeError::new(Unsupported, 1))
}

/// A message to decode, behind its header.
struct Message<'a, 'o, W: Word> {
    decoder: &'a mut Decoder<W>,
    entries: Entries,
    wire: &'a [u8],
    out: &'a mut Out<'o>,
}

impl<W: Word> Work for Message<'_, '_, W> {
    type Output = Result<(), DecodeError>;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> Result<(), DecodeError> {
        let Self { decoder: Decoder { predictor, buffers, .. }, entries, wire, out } = self;
        let (mut values, tail) = (out.remaining() / W::WIDTH, out.remaining() % W::WIDTH);
        let mut at = HEADER;
        predictor.start(entries);
        while values > 0 {
            let len = values.min(BLOCK);
            at = decode_block(kernel, predictor, buffers, wire, at, len, out)?;
            values -= len;
        }
        let tail = wire[at..].get(..tail).ok_or(DecodeError::new(Truncated, wire.len()))?;
        let end = DecodeError::new(Length, at + tail.len());
        out.extend_from_slice(tail).map_err(|_| end)?;
        if end.offset == wire.len() { Ok(()) } else { Err(end) }
    }
}

/// Appends the block of `len` values that starts at byte `at` of `wire`, and gives the place behind it (format,
/// section 5).
#[inline(always)]
fn decode_block<W: Word, K: Kernel>(
    kernel: K,
    predictor: &mut Predictor<W>,
    buffers: &mut Buffers<W>,
    wire: &[u8],
    mut at: usize,
    len: usize,
    out: &mut Out<'_>,
) -> Result<usize, DecodeError> {
    let truncated = DecodeError::new(Truncated, wire.len());
    let full = DecodeError::new(Length, wire.len());
    let head = u16::from_le_bytes(*wire[at..].first_chunk().ok_or(truncated)?);
    at += HEAD;
    if head == 0 {
        let raw = wire[at..].get(..len * W::WIDTH).ok_or(truncated)?;
        out.extend_from_slice(raw).map_err(|_| full)?;
        predictor.restart();
        return Ok(at + raw.len());
    }
    let classes = Classes::from_head::<W>(head).ok_or(DecodeError::new(Corrupt, at - HEAD))?;

    let mut planes = [[[0; ROW / 8]; ROWS]; PLANES];
    let plane_len = len.div_ceil(8);
    for plane in &mut planes[..=classes.planes()] {
        let bytes = wire[at..].get(..plane_len).ok_or(truncated)?;
        let unused = plane_len * 8 - len;
        if bytes.last().is_some_and(|last| (last.leading_zeros() as usize) < unused) {
            return Err(DecodeError::new(Corrupt, at + plane_len - 1));
        }
        plane.as_flattened_mut()[..plane_len].copy_from_slice(bytes);
        at += plane_len;
    }
    let [picks, low, middle, high] = planes;

    let rows = len.div_ceil(ROW);
    // More than any length: no sum of true ones can hide it.
    const NO_CLASS: u8 = 0x80;
    let of_class = classes.lengths(NO_CLASS);
    for row in 0..rows {
        let planes = [low, middle, high].map(|plane| u64::from_le_bytes(plane[row]));
        buffers.lengths.0[row] = kernel.lengths(planes, &of_class);
        buffers.picks.0[row] = kernel.spread(u64::from_le_bytes(picks[row]));
    }
    // Values that are not there take no bytes.
    buffers.lengths.0[..rows].as_flattened_mut()[len..].fill(0);
    let lengths = &buffers.lengths.0[..rows];
    if lengths.as_flattened().iter().fold(0, |all, length| all | length) & NO_CLASS != 0 {
        return Err(DecodeError::new(Corrupt, at - 1));
    }
    let body: usize =
        lengths.iter().map(|row| row.iter().map(|length| usize::from(*length)).sum::<usize>()).sum();
    let end = at + body;
    if end > wire.len() {
        return Err(truncated);
    }
    for (residuals, lengths) in buffers.words.0.iter_mut().zip(lengths) {
        at += kernel.unpack::<W>(&wire[at..], lengths, residuals);
    }
    let words = buffers.words.0.as_flattened_mut();
    predictor.values(len, buffers.picks.0.as_flattened(), words);
    out.extend_from_slice(W::bytes(&words[..len])).map_err(|_| full)?;
    Ok(end)
}
