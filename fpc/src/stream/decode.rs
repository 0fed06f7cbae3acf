//! The decoder of the reference mode.
#![forbid(unsafe_code)]

use super::predictor::Predictor;
use super::tables::Tables;
use super::{
    BLOCK, BLOCK_HEAD, CHUNK, DFCM, HEAD, LENGTH_MASK, LENGTHS, TAIL_HEAD, TableLevel, WIDTH, tail_len,
};
use crate::kernel::{self, Kernel, Work};
use core::hint::select_unpredictable;
use mpress_codec::DecodeErrorKind::{Corrupt, Length, Truncated, Unsupported};
use mpress_codec::simd::Simd;
use mpress_codec::{Decode, DecodeError, MemoryError, Out, Reset};

/// Decodes streams of FPC 1.1 with the predictors' tables in `M`: `Vec<u64>`, `[u64; N]`, `&mut [u64]`...
///
/// The initial contents of the memory do not matter.
#[derive(Clone, Debug)]
pub struct Decoder<M> {
    tables: Tables<M>,
    most: TableLevel,
    simd: Simd,
}

impl<M: AsMut<[u64]>> Decoder<M> {
    /// A decoder of streams with tables up to this level. Streams with larger ones are [`Unsupported`](mpress_codec::DecodeErrorKind::Unsupported).
    ///
    /// # Errors
    /// If `memory` has less than `most.words()` words.
    pub fn new(mut memory: M, most: TableLevel) -> Result<Self, MemoryError> {
        most.check(memory.as_mut())?;
        Ok(Self::unchecked(memory, most))
    }

    pub(super) fn unchecked(memory: M, most: TableLevel) -> Self {
        Self { tables: Tables::new(memory), most, simd: Simd::detect() }
    }

    /// Uses code compiled for this tier. The result is the same at every tier.
    #[must_use]
    pub fn with_simd(mut self, simd: Simd) -> Self {
        self.simd = simd;
        self
    }
}

impl<M: AsMut<[u64]>> Reset for Decoder<M> {}

impl<M: AsMut<[u64]>> Decode for Decoder<M> {
    fn decode(&mut self, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
        let head = *wire.first().ok_or(DecodeError::new(Truncated, 0))?;
        let level = TableLevel::new(head).filter(|level| *level <= self.most);
        let level = level.ok_or(DecodeError::new(Unsupported, 0))?;
        if wire.len() < least_len(out.remaining()) {
            return Err(DecodeError::new(Truncated, wire.len()));
        }
        out.all_or_nothing(|out| {
            let start = out.len();
            let predictor = self.tables.start(level);
            let result = decode(self.simd, predictor, wire, out);
            // Even after an error, `out` has every value that the predictors have learned.
            self.tables.learned(level, out.written()[start..].as_chunks().0);
            result
        })
    }
}

/// The minimum length of the stream of a message of this length: only codes, in the longest blocks.
fn least_len(raw_len: usize) -> usize {
    let values = raw_len / WIDTH;
    HEAD + values.div_ceil(BLOCK) * BLOCK_HEAD + values.div_ceil(2) + tail_len(raw_len)
}

/// Not generic, so it is compiled in this crate, and not again in each crate that uses it.
fn decode(simd: Simd, predictor: Predictor<'_>, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
    kernel::with(simd, Stream { predictor, wire, out })
}

/// A stream to be decoded, after its head.
struct Stream<'a, 'o> {
    predictor: Predictor<'a>,
    wire: &'a [u8],
    out: &'a mut Out<'o>,
}

impl Work for Stream<'_, '_> {
    type Output = Result<(), DecodeError>;

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) -> Result<(), DecodeError> {
        let Self { mut predictor, wire, out } = self;
        let mut at = HEAD;
        while out.remaining() >= WIDTH {
            at = decode_block(&mut predictor, wire, at, out)?;
        }
        let tail =
            wire[at..].get(..tail_len(out.remaining())).ok_or(DecodeError::new(Truncated, wire.len()))?;
        let end = DecodeError::new(Length, at + tail.len());
        if let Some((head, tail)) = tail.split_first_chunk() {
            if *head != TAIL_HEAD {
                // Reads another block.
                return Err(DecodeError::new(Length, at));
            }
            out.extend_from_slice(tail).map_err(|_| end)?;
        }
        if end.offset == wire.len() { Ok(()) } else { Err(end) }
    }
}

/// Appends the block that starts at byte `at` of `wire`. Returns the offset after it.
#[inline(always)]
fn decode_block(
    predictor: &mut Predictor<'_>,
    wire: &[u8],
    at: usize,
    out: &mut Out<'_>,
) -> Result<usize, DecodeError> {
    let truncated = DecodeError::new(Truncated, wire.len());
    let [a, b, c, d, e, f] = *wire[at..].first_chunk::<BLOCK_HEAD>().ok_or(truncated)?;
    let values = u32::from_le_bytes([a, b, c, 0]) as usize;
    let block_len = u32::from_le_bytes([d, e, f, 0]) as usize;
    if !(1..=BLOCK).contains(&values) {
        return Err(DecodeError::new(Corrupt, at));
    }
    let too_long = DecodeError::new(Length, at);
    if values > out.remaining() / WIDTH {
        return Err(too_long);
    }
    let codes_at = at + BLOCK_HEAD;
    let codes = wire[codes_at..].get(..values.div_ceil(2)).ok_or(truncated)?;
    let (pairs, single) = codes.split_at(values / 2);
    let body_len: usize = pairs.iter().map(|code| length(code >> 4) + length(*code)).sum();
    let body_len = body_len + single.iter().map(|code| length(code >> 4)).sum::<usize>();
    let end = codes_at + codes.len() + body_len;
    if end != at + block_len {
        return Err(DecodeError::new(Corrupt, at + 3));
    }
    if end > wire.len() {
        return Err(truncated);
    }
    let mut body = &wire[codes_at + codes.len()..];
    for codes in pairs.chunks(CHUNK / 2) {
        let mut raw = [[[0; WIDTH]; 2]; CHUNK / 2];
        for (pair, code) in raw.iter_mut().zip(codes) {
            *pair = [take(predictor, code >> 4, &mut body), take(predictor, *code, &mut body)];
        }
        out.extend_from_slice(raw[..codes.len()].as_flattened().as_flattened()).map_err(|_| too_long)?;
    }
    // The other half of its code byte is undefined.
    for code in single {
        out.extend_from_slice(&take(predictor, code >> 4, &mut body)).map_err(|_| too_long)?;
    }
    Ok(end)
}

/// The length in bytes of the residual for a code.
#[inline(always)]
fn length(code: u8) -> usize {
    LENGTHS[usize::from(code & LENGTH_MASK)].into()
}

/// Decodes the next value from its code and its residual at the front of `body`.
#[inline(always)]
fn take(predictor: &mut Predictor<'_>, code: u8, body: &mut &[u8]) -> [u8; WIDTH] {
    let length = length(code);
    let window = match body.first_chunk() {
        Some(window) => *window,
        None => {
            let mut window = [0; WIDTH];
            window[..body.len()].copy_from_slice(body);
            window
        }
    };
    let mask = u64::MAX.checked_shr(64 - 8 * length as u32).unwrap_or(0);
    let residual = u64::from_le_bytes(window) & mask;
    *body = body.get(length..).unwrap_or_default();
    // Unpredictable on noisy data, so no branch.
    predictor
        .step(|by_fcm, by_dfcm| residual ^ select_unpredictable(code & DFCM != 0, by_dfcm, by_fcm))
        .to_le_bytes()
}
