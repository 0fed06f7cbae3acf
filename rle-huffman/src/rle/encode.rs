//! Finds runs and writes tokens (`docs/format/rle.md`, section 2).
#![forbid(unsafe_code)]

use super::runs::Runs;
use crate::format::{BLOCK, MORE};
use crate::kernel::Kernel;
use crate::width::Width;
use mpress_codec::{Full, Out};

/// The number of bytes that are stored at once; more literals are copied.
const STRIDE: usize = 32;

/// Appends the coded plane if it is shorter than the plane.
#[inline(always)]
pub(super) fn plane<const S: usize, K: Kernel>(
    kernel: K,
    plane: &[u8],
    out: &mut Out<'_>,
) -> Result<bool, Full> {
    if plane.len() < S {
        return Ok(false); // no symbol, so nothing becomes shorter
    }
    // For a short plane, avoids zeroing the marks of a long one.
    if plane.len() <= BLOCK / 64 {
        tokens::<S, { BLOCK / 512 }, K>(kernel, plane, out)
    } else {
        tokens::<S, { BLOCK / 8 }, K>(kernel, plane, out)
    }
}

/// The same, with `M` bytes of marks.
#[inline(always)]
fn tokens<const S: usize, const M: usize, K: Kernel>(
    kernel: K,
    plane: &[u8],
    out: &mut Out<'_>,
) -> Result<bool, Full> {
    let start = out.len();
    let (symbols, tail) = plane.split_at(plane.len() / S * S);
    let Some(width) = Width::new(S) else { return Ok(false) };
    let mut marks = [0; M];
    kernel.mark_equal(symbols, width, &mut marks);

    let count = symbols.len() / S;
    let mut runs = Runs::<S>::new(marks.as_chunks().0, count.div_ceil(64));
    let mut at = 0;
    while at < count {
        // The run's symbol is the last literal; its repeats are at `run` to `end`.
        let (run, end) = match runs.next() {
            Some((first, last)) => (first + 1, last + 1),
            None => (count, count),
        };
        let literals = &symbols[at * S..run * S];
        let (token, len) = token(run - at, end - run);
        if out.len() - start + len + literals.len() + tail.len() >= plane.len() {
            out.truncate(start);
            return Ok(false);
        }
        out.store(&token, len)?;
        match symbols[at * S..].first_chunk::<STRIDE>() {
            Some(ahead) if literals.len() <= STRIDE => out.store(ahead, literals.len())?,
            _ => out.extend_from_slice(literals)?,
        }
        at = end;
    }
    out.extend_from_slice(tail)?;
    Ok(true)
}

/// The two counts, and their length in bytes.
#[inline(always)]
fn token(literals: usize, repeats: usize) -> ([u8; 8], usize) {
    let halves = literals.min(MORE) | repeats.min(MORE) << 4;
    let (more_literals, literals_len) = more(literals);
    let (more_repeats, repeats_len) = more(repeats);
    let more = more_literals | more_repeats << (8 * literals_len);
    ((halves as u64 | more << 8).to_le_bytes(), 1 + literals_len + repeats_len)
}

/// The part of a count that a half byte cannot hold, and its length in bytes: seven bits per byte, lowest first; the top bit is set if more bytes
/// follow.
#[inline(always)]
fn more(count: usize) -> (u64, usize) {
    let Some(rest) = count.checked_sub(MORE) else { return (0, 0) };
    let rest = rest as u64;
    match rest {
        0..0x80 => (rest, 1),
        0x80..0x4000 => (rest & 127 | 0x80 | rest >> 7 << 8, 2),
        _ => (rest & 127 | 0x80 | (rest >> 7 & 127 | 0x80) << 8 | rest >> 14 << 16, 3),
    }
}
