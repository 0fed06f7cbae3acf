//! Finding runs and writing tokens (`docs/format/rle.md`, section 2).
#![forbid(unsafe_code)]

use crate::format::MORE;
use crate::kernel::Kernel;
use crate::width::Width;
use mpress_codec::{Full, Out};

/// Appends the coded plane if that is shorter than the plane.
#[inline(always)]
pub(super) fn plane<const S: usize, K: Kernel>(
    kernel: K,
    plane: &[u8],
    out: &mut Out<'_>,
) -> Result<bool, Full> {
    let start = out.len();
    let (symbols, tail) = plane.split_at(plane.len() / S * S);
    let Some(width) = Width::new(S) else { return Ok(false) };
    let mut at = 0;
    while at < symbols.len() {
        // The run's symbol is the last literal; what repeats it goes from `run` to `end`.
        let (run, end) = match kernel.find_run(symbols, at, width) {
            Some(first) => (first + S, kernel.end_of_run(symbols, first, width)),
            None => (symbols.len(), symbols.len()),
        };
        let (literals, repeats) = ((run - at) / S, (end - run) / S);
        let len = 1 + more_len(literals) + more_len(repeats) + (run - at);
        if out.len() - start + len + tail.len() >= plane.len() {
            out.truncate(start);
            return Ok(false);
        }
        out.extend_from_slice(&[(literals.min(MORE) | repeats.min(MORE) << 4) as u8])?;
        write_more(literals, out)?;
        write_more(repeats, out)?;
        out.extend_from_slice(&symbols[at..run])?;
        at = end;
    }
    out.extend_from_slice(tail)?;
    Ok(true)
}

/// Bytes of what half a byte cannot say of a count.
fn more_len(count: usize) -> usize {
    match count.checked_sub(MORE) {
        None => 0,
        Some(0) => 1,
        Some(rest) => (rest.ilog2() / 7 + 1) as usize,
    }
}

/// Seven bits a byte, the lowest first; the top bit says that there are more.
#[inline(always)]
fn write_more(count: usize, out: &mut Out<'_>) -> Result<(), Full> {
    let Some(mut rest) = count.checked_sub(MORE) else { return Ok(()) };
    while rest >= 128 {
        out.extend_from_slice(&[rest as u8 | 128])?;
        rest >>= 7;
    }
    out.extend_from_slice(&[rest as u8])
}
