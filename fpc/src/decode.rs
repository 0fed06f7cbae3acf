//! The decoder of the message mode.
#![forbid(unsafe_code)]

use crate::block::{Aligned, Lanes, Row, RowBytes};
use crate::classes::Classes;
use crate::entries;
use crate::format::{HEAD, LANES, PACKED, PLANES, ROW, ROWS, STEPS, VERSION};
use crate::kernel::{self, Kernel, Work};
use crate::predictor::Predictor;
use crate::word::Word;
use mpress_codec::DecodeErrorKind::{Corrupt, Length, Truncated, Unsupported};
use mpress_codec::simd::Simd;
use mpress_codec::{Decode, DecodeError, Out, Reset};
use mpress_codec_support::Wire;

/// Decodes messages of words `W`. Contains predictors and buffers: 27 KiB for doubles, half as much for single floats.
#[derive(Clone, Debug)]
pub struct Decoder<W: entries::Word> {
    state: W::Decoding,
    simd: Simd,
}

impl<W: entries::Word> Decoder<W> {
    /// A decoder with the best kernel for this CPU.
    #[must_use]
    pub fn new() -> Self {
        Self { state: W::decoding(), simd: Simd::detect() }
    }

    /// Uses a kernel of this tier. The result is the same at every tier.
    #[must_use]
    pub fn with_simd(mut self, simd: Simd) -> Self {
        self.simd = simd;
        self
    }
}

impl<W: entries::Word> Default for Decoder<W> {
    fn default() -> Self {
        Self::new()
    }
}

impl<W: entries::Word> Reset for Decoder<W> {}

impl<W: entries::Word> Decode for Decoder<W> {
    fn decode(&mut self, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
        out.all_or_nothing(|out| W::decode(&mut self.state, self.simd, wire, out))
    }
}

/// What a decoder works with.
#[derive(Clone, Debug)]
pub struct State<W: Word> {
    predictor: Predictor<W>,
    buffers: Buffers<W>,
}

/// The stages of a block.
#[derive(Clone, Debug)]
struct Buffers<W: Word> {
    /// Residuals of a row.
    residuals: Aligned<Row<W>>,
    /// For each value of a row: nonzero if dfcm's prediction was used.
    picks: Aligned<RowBytes>,
    values: Lanes<W>,
}

impl<W: Word> State<W> {
    pub(crate) fn new() -> Self {
        let buffers = Buffers {
            residuals: Aligned([W::ZERO_BYTES; ROW]),
            picks: Aligned([0; ROW]),
            values: [[W::ZERO_BYTES; 1 + STEPS]; LANES],
        };
        Self { predictor: Predictor::new(), buffers }
    }

    /// Decodes a message.
    pub(crate) fn message(&mut self, simd: Simd, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
        kernel::with(simd, Message { state: self, wire, out })
    }
}

/// Reads the header and returns the offset after it (format, section 2).
fn header(wire: &[u8], raw_len: usize) -> Result<usize, DecodeError> {
    let mut wire = Wire::new(wire);
    if wire.byte()? != VERSION {
        return Err(DecodeError::new(Unsupported, 0));
    }
    wire.message_len(raw_len)?;
    Ok(wire.at)
}

/// A message to be decoded.
struct Message<'a, 'o, W: Word> {
    state: &'a mut State<W>,
    wire: &'a [u8],
    out: &'a mut Out<'o>,
}

impl<W: Word> Work for Message<'_, '_, W> {
    type Output = Result<(), DecodeError>;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> Result<(), DecodeError> {
        let Self { state: State { predictor, buffers }, wire, out } = self;
        let group = LANES * W::WIDTH;
        let (mut steps, tail) = (out.remaining() / group, out.remaining() % group);
        let mut at = header(wire, out.remaining())?;
        predictor.start();
        while steps > 0 {
            let len = steps.min(STEPS);
            at = decode_block(kernel, predictor, buffers, wire, at, len, out)?;
            steps -= len;
        }
        let tail = wire[at..].get(..tail).ok_or(DecodeError::new(Truncated, wire.len()))?;
        let end = DecodeError::new(Length, at + tail.len());
        out.extend_from_slice(tail).map_err(|_| end)?;
        if end.offset == wire.len() { Ok(()) } else { Err(end) }
    }
}

/// Appends the block of `steps` steps that starts at byte `at` of `wire`. Returns the offset after it (format, section 5).
#[inline(always)]
fn decode_block<W: Word, K: Kernel>(
    kernel: K,
    predictor: &mut Predictor<W>,
    buffers: &mut Buffers<W>,
    wire: &[u8],
    mut at: usize,
    steps: usize,
    out: &mut Out<'_>,
) -> Result<usize, DecodeError> {
    let truncated = DecodeError::new(Truncated, wire.len());
    let full = DecodeError::new(Length, wire.len());
    let len = steps * LANES;
    let head = u16::from_le_bytes(*wire[at..].first_chunk().ok_or(truncated)?);
    at += HEAD;
    if head == 0 {
        let raw = wire[at..].get(..len * W::WIDTH).ok_or(truncated)?;
        out.extend_from_slice(raw).map_err(|_| full)?;
        predictor.start();
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
    let [picks, class_planes @ ..] = &planes;

    let body = at;
    let of_class = classes.lengths();
    let mut absent = 0;
    predictor.begin(&mut buffers.values);
    // Each row is turned into values at once: the CPU unpacks the next row while the predictors wait. The last row may have extra steps; nothing
    // follows them.
    for row in 0..len.div_ceil(ROW) {
        let planes = class_planes.each_ref().map(|plane| u64::from_le_bytes(plane[row]));
        absent |= classes.absent(planes);
        let mut lengths = kernel.lengths(planes, &of_class);
        if let Some(lengths) = lengths.get_mut(len - row * ROW..) {
            // Missing values take no bytes.
            lengths.fill(0);
        }
        let rest = wire.get(at..).unwrap_or_default();
        let last;
        let packed = match rest.first_chunk() {
            Some(packed) => packed,
            None => {
                last = padded(rest);
                &last
            }
        };
        at += kernel.unpack::<W>(packed, &lengths, &mut buffers.residuals.0);
        buffers.picks.0 = kernel.spread(u64::from_le_bytes(picks[row]));
        predictor.values(row, &buffers.picks.0, &buffers.residuals.0, &mut buffers.values);
    }
    predictor.end(steps, &buffers.values);
    if absent != 0 {
        return Err(DecodeError::new(Corrupt, body - 1));
    }
    if at > wire.len() {
        return Err(truncated);
    }
    for lane in &buffers.values {
        out.extend_from_slice(W::flat(&lane[1..=steps])).map_err(|_| full)?;
    }
    Ok(at)
}

/// The end of a wire, padded with zeros.
#[cold]
fn padded(rest: &[u8]) -> [u8; PACKED] {
    let mut packed = [0; PACKED];
    packed[..rest.len()].copy_from_slice(rest);
    packed
}
