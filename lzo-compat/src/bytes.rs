//! Bytes by whole words and vectors: loads, comparison, and literals.

use mpress_codec::{Full, Out};

/// Bytes of a vector that every x86-64 and aarch64 has.
const VECTOR: usize = 16;

/// The eight bytes at `at` as a little-endian word, if they are all there.
#[inline(always)]
pub(crate) fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|word| u64::from_le_bytes(*word))
}

/// How many bytes from `a` on are equal to those from `b` on; `a < b`.
#[inline(always)]
pub(crate) fn common(bytes: &[u8], a: usize, b: usize) -> usize {
    let mut n = 0;
    // Two words with one branch: how long what is equal is, is not foreseeable.
    while let (Some(x), Some(y)) = (vector(bytes, a + n), vector(bytes, b + n)) {
        if x != y {
            return n + ((x ^ y).trailing_zeros() / 8) as usize;
        }
        n += VECTOR;
    }
    while b + n < bytes.len() && bytes[a + n] == bytes[b + n] {
        n += 1;
    }
    n
}

/// How many bytes before `a` are equal to those before `b`, at most `most`; `a < b`.
#[inline(always)]
pub(crate) fn common_before(bytes: &[u8], a: usize, b: usize, most: usize) -> usize {
    let most = most.min(a);
    let mut n = 0;
    if let (Some(x), Some(y)) = (word(bytes, a.wrapping_sub(8)), word(bytes, b.wrapping_sub(8))) {
        // Whether the words are equal is not foreseeable; that more than eight bytes are wanted and equal is seldom.
        n = most.min(((x ^ y).leading_zeros() / 8) as usize);
        if n < 8 {
            return n;
        }
    }
    while n < most && bytes[a - n - 1] == bytes[b - n - 1] {
        n += 1;
    }
    n
}

/// The 16 bytes at `at` as a little-endian number, if they are all there.
#[inline(always)]
fn vector(bytes: &[u8], at: usize) -> Option<u128> {
    bytes.get(at..)?.first_chunk().map(|vector| u128::from_le_bytes(*vector))
}

/// Adds the first `n` bytes of `rest`: up to a vector of them at a fixed cost, as far as there is room after them.
#[inline(always)]
pub(crate) fn literals(out: &mut Out<'_>, rest: &[u8], n: usize) -> Result<(), Full> {
    // By a number and not by reference: as memory, it and what is longer become one call of `memcpy`.
    match vector(rest, 0) {
        Some(vector) if n <= VECTOR => out.store(&vector.to_le_bytes(), n),
        _ => out.extend_from_slice(rest.get(..n).ok_or(Full)?),
    }
}

/// The same, up to two vectors of them at a fixed cost: for a decoder of runs, in which more than a vector is not seldom.
#[inline(always)]
pub(crate) fn run(out: &mut Out<'_>, rest: &[u8], n: usize) -> Result<(), Full> {
    match rest.first_chunk::<{ 2 * VECTOR }>() {
        Some(vectors) if n <= 2 * VECTOR => out.store(vectors, n),
        _ => out.extend_from_slice(rest.get(..n).ok_or(Full)?),
    }
}

/// Adds `len` bytes from `distance` before the end, for copies that are seldom short: four vectors at a time at a fixed cost,
/// and what that is too much is taken back.
#[inline(always)]
pub(crate) fn long_copy(out: &mut Out<'_>, distance: usize, len: usize) -> Result<(), Full> {
    if distance < VECTOR || out.remaining() < len.saturating_add(4 * VECTOR) {
        return out.extend_from_within(distance, len);
    }
    let end = out.len() + len;
    while out.len() < end {
        out.extend_from_within(distance, 2 * VECTOR)?;
        out.extend_from_within(distance, 2 * VECTOR)?;
    }
    out.truncate(end);
    Ok(())
}
