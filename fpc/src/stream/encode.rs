//! The encoder of the reference mode.
#![forbid(unsafe_code)]

use super::predictor::Predictor;
use super::{BLOCK, BLOCK_HEAD, CHUNK, DFCM, HEAD, TAIL_HEAD, TableLevel, WIDTH, tail_len};
use crate::kernel::{self, Kernel, Work};
use mpress_codec::simd::Simd;
use mpress_codec::{Encode, EncodeError, Full, MemoryError, Out, Reset};

/// Encodes messages as streams of FPC 1.1 with the predictors' tables in `M`: `Vec<u64>`, `[u64; N]`, `&mut [u64]`...
///
/// The initial contents of the memory do not matter.
#[derive(Clone, Debug)]
pub struct Encoder<M> {
    memory: M,
    tables: TableLevel,
    simd: Simd,
}

impl<M: AsMut<[u64]>> Encoder<M> {
    /// An encoder with tables of this level.
    ///
    /// # Errors
    /// If `memory` has less than `tables.words()` words.
    pub fn new(mut memory: M, tables: TableLevel) -> Result<Self, MemoryError> {
        tables.check(memory.as_mut())?;
        Ok(Self::unchecked(memory, tables))
    }

    pub(super) fn unchecked(memory: M, tables: TableLevel) -> Self {
        Self { memory, tables, simd: Simd::detect() }
    }

    /// Uses code compiled for this tier. The wire is the same at every tier.
    #[must_use]
    pub fn with_simd(mut self, simd: Simd) -> Self {
        self.simd = simd;
        self
    }
}

impl<M: AsMut<[u64]>> Reset for Encoder<M> {}

impl<M: AsMut<[u64]>> Encode for Encoder<M> {
    /// `raw_len`, half a byte per value, 6 bytes per block of 32768 values, 3 before a tail, and 1 (format, section 10).
    fn max_encoded_len(&self, raw_len: usize) -> Option<usize> {
        let values = raw_len / WIDTH;
        (values * WIDTH)
            .checked_add(values.div_ceil(2))?
            .checked_add(values.div_ceil(BLOCK) * BLOCK_HEAD)?
            .checked_add(HEAD + tail_len(raw_len))
    }

    fn encode(&mut self, raw: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError> {
        let most = self.max_encoded_len(raw.len());
        out.attempt(most, |out| {
            out.extend_from_slice(&[self.tables.get()])?;
            let tables = &mut self.memory.as_mut()[..self.tables.words()];
            tables.fill(0);
            let predictor = Predictor::new(tables);
            encode(self.simd, predictor, raw, out)
        })
    }
}

/// Not generic, so it is compiled in this crate, and not again in each crate that uses it.
fn encode(simd: Simd, predictor: Predictor<'_>, raw: &[u8], out: &mut Out<'_>) -> Result<(), Full> {
    kernel::with(simd, Stream { predictor, raw, out })
}

/// A message to be encoded, after the stream's head.
struct Stream<'a, 'o> {
    predictor: Predictor<'a>,
    raw: &'a [u8],
    out: &'a mut Out<'o>,
}

impl Work for Stream<'_, '_> {
    type Output = Result<(), Full>;

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) -> Result<(), Full> {
        let Self { mut predictor, raw, out } = self;
        let (values, tail) = raw.as_chunks();
        for block in values.chunks(BLOCK) {
            encode_block(&mut predictor, block, out)?;
        }
        if !tail.is_empty() {
            out.extend_from_slice(&TAIL_HEAD)?;
        }
        out.extend_from_slice(tail)
    }
}

/// Appends a block. Its head and codes are filled in once they are known.
#[inline(always)]
fn encode_block(
    predictor: &mut Predictor<'_>,
    values: &[[u8; WIDTH]],
    out: &mut Out<'_>,
) -> Result<(), Full> {
    let start = out.len();
    let mut codes_at = start + BLOCK_HEAD;
    out.extend_zeroed(BLOCK_HEAD + values.len().div_ceil(2))?;
    let mut codes = [0; CHUNK / 2];
    let mut body = Body { bytes: [0; 2 * CHUNK * WIDTH], len: 0 };
    for chunk in values.chunks(CHUNK) {
        let (pairs, single) = chunk.as_chunks();
        for ([first, second], code) in pairs.iter().zip(&mut codes) {
            *code = body.put(predictor, *first) << 4;
            *code |= body.put(predictor, *second);
        }
        if let ([value], Some(code)) = (single, codes.get_mut(pairs.len())) {
            *code = body.put(predictor, *value) << 4;
        }
        let codes = &codes[..chunk.len().div_ceil(2)];
        out.written_mut()[codes_at..][..codes.len()].copy_from_slice(codes);
        codes_at += codes.len();
        out.extend_from_slice(&body.bytes[..body.len])?;
        body.len = 0;
    }
    let ([a, b, c, _], [d, e, f, _]) =
        ((values.len() as u32).to_le_bytes(), ((out.len() - start) as u32).to_le_bytes());
    out.written_mut()[start..][..BLOCK_HEAD].copy_from_slice(&[a, b, c, d, e, f]);
    Ok(())
}

/// The residuals of a chunk, without gaps.
struct Body {
    /// Twice the maximum size, so that a whole word can be stored at the start of any residual.
    bytes: [u8; 2 * CHUNK * WIDTH],
    len: usize,
}

impl Body {
    /// Appends the residual of a value and returns its code.
    #[inline(always)]
    fn put(&mut self, predictor: &mut Predictor<'_>, value: [u8; WIDTH]) -> u8 {
        let value = u64::from_le_bytes(value);
        let mut residual = 0;
        let mut picked = 0;
        predictor.step(|by_fcm, by_dfcm| {
            let (by_fcm, by_dfcm) = (value ^ by_fcm, value ^ by_dfcm);
            residual = by_fcm.min(by_dfcm);
            picked = u8::from(by_dfcm < by_fcm) * DFCM;
            value
        });
        let bytes = (u64::BITS - residual.leading_zeros()).div_ceil(8);
        // There is no code for 4 bytes.
        let len = bytes + u32::from(bytes == 4);
        let code = bytes - u32::from(bytes > 4);
        // Always stores the whole word; later residuals overwrite the excess. The remainder has no effect; it shows the compiler that the word is
        // within the buffer.
        if let Some(room) = self.bytes[self.len % (CHUNK * WIDTH)..].first_chunk_mut() {
            *room = residual.to_le_bytes();
        }
        self.len += len as usize;
        picked | code as u8
    }
}
