//! Writes sequences (sections 3 and 4).

use super::{GROUP, HEAD, MORE};
use crate::bytes::literals;
use mpress_codec::{Full, Out};

/// Writes the first `count` bytes of `rest` as literals, and a copy from `distance` that is `extra` bytes longer than the shortest copy.
#[inline(always)]
pub(super) fn sequence(
    rest: &[u8],
    count: usize,
    distance: usize,
    extra: usize,
    out: &mut Out<'_>,
) -> Result<(), Full> {
    let token = (count.min(MORE) << 4 | extra.min(MORE)) as u8;
    let [low, high, ..] = distance.to_le_bytes();
    out.store(&[token, low, high, 0], HEAD)?;
    if count >= MORE {
        more(count - MORE, out)?;
    }
    if extra >= MORE {
        more(extra - MORE, out)?;
    }
    literals(out, rest, count)
}

/// Writes a length in groups of bits.
#[inline(always)]
fn more(mut n: usize, out: &mut Out<'_>) -> Result<(), Full> {
    while n >= 1 << GROUP {
        out.store(&[n as u8 | 1 << GROUP], 1)?;
        n >>= GROUP;
    }
    out.store(&[n as u8], 1)
}

/// The number of bytes that [`more`] writes.
fn length(n: usize) -> usize {
    (usize::BITS - (n | 1).leading_zeros()).div_ceil(GROUP) as usize
}

/// The number of bytes of the length after a token, for this number of literals, or of bytes beyond the shortest copy.
pub(super) fn more_len(n: usize) -> usize {
    n.checked_sub(MORE).map_or(0, length)
}
