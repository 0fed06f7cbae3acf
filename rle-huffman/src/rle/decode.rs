//! Reads tokens and fills runs (`docs/format/rle.md`, section 2).
#![forbid(unsafe_code)]

use crate::format::{BLOCK, MORE};
use mpress_codec::DecodeError;
use mpress_codec::DecodeErrorKind::Corrupt;
use mpress_codec_support::Wire;

/// The number of bytes that are copied or filled at once if there is room.
const STRIDE: usize = 32;

/// Reads a coded plane.
#[inline(always)]
pub(super) fn plane<const S: usize>(wire: &mut Wire<'_>, plane: &mut [u8]) -> Result<(), DecodeError> {
    let (symbols, tail) = plane.split_at_mut(plane.len() / S * S);
    let from = wire;
    // A local copy can be kept in registers.
    let mut wire = *from;
    let mut rest = symbols;
    let mut last = None;
    while !rest.is_empty() {
        let token = wire;
        let counts = usize::from(wire.byte()?);
        let literals = more(counts % 16, &mut wire)? * S;
        let repeats = more(counts / 16, &mut wire)? * S;
        if literals + repeats > rest.len() || literals + repeats == 0 {
            return Err(token.error(Corrupt));
        }
        let ahead = wire.rest();
        let literals = wire.take(literals)?;
        last = literals.last_chunk::<S>().or(last);
        copy(literals, ahead, rest);
        rest = &mut rest[literals.len()..];
        if repeats > 0 {
            let symbol = last.ok_or_else(|| token.error(Corrupt))?;
            fill(*symbol, repeats, rest);
            rest = &mut rest[repeats..];
        }
    }
    tail.copy_from_slice(wire.take(tail.len())?);
    *from = wire;
    Ok(())
}

/// Copies `from` to the front of `to`. If `from` is short and there is room, copies `STRIDE` bytes from `ahead`, which starts with `from`; the
/// next token overwrites the excess.
#[inline(always)]
fn copy(from: &[u8], ahead: &[u8], to: &mut [u8]) {
    match (to.first_chunk_mut::<STRIDE>(), ahead.first_chunk::<STRIDE>()) {
        (Some(to), Some(ahead)) if from.len() <= STRIDE => *to = *ahead,
        _ => to[..from.len()].copy_from_slice(from),
    }
}

/// Fills the first `len` bytes of `to` with a symbol and, if there is room, some bytes after them.
#[inline(always)]
fn fill<const S: usize>(symbol: [u8; S], len: usize, to: &mut [u8]) {
    let word: [u8; 8] = core::array::from_fn(|i| symbol[i % S]);
    if len <= 2 * STRIDE
        && let Some(to) = to.first_chunk_mut::<{ 2 * STRIDE }>()
    {
        to.as_chunks_mut().0.fill(word);
        return;
    }
    let padded = len.next_multiple_of(STRIDE).min(to.len());
    let (words, rest) = to[..padded].as_chunks_mut();
    words.fill(word);
    rest.copy_from_slice(&word[..rest.len()]);
}

/// Reads the rest of a count whose half byte is `half`.
#[inline(always)]
fn more(half: usize, wire: &mut Wire<'_>) -> Result<usize, DecodeError> {
    if half < MORE {
        return Ok(half);
    }
    // No count exceeds the bytes of a block, so three bytes suffice.
    let mut count = MORE;
    for shift in [0, 7, 14] {
        let byte = usize::from(wire.byte()?);
        count += (byte & 127) << shift;
        if byte < 128 {
            return if count <= BLOCK { Ok(count) } else { Err(wire.error(Corrupt)) };
        }
    }
    Err(wire.error(Corrupt))
}
