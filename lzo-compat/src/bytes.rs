//! Operations on bytes by words and vectors: loads, comparison, and literals.

use mpress_codec::{Full, Out};

/// The length of a vector that every x86-64 and aarch64 has.
const VECTOR: usize = 16;

/// The eight bytes at `at` as a little-endian word; `None` if `bytes` is too short.
#[inline(always)]
pub(crate) fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|word| u64::from_le_bytes(*word))
}

/// The number of bytes from `a` on that equal those from `b` on; `a < b`.
#[inline(always)]
pub(crate) fn common(bytes: &[u8], a: usize, b: usize) -> usize {
    let mut n = 0;
    // Two words per branch, because the length of the match is unpredictable.
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

/// The number of bytes before `a` that equal those before `b`, at most `most`; `a < b`.
#[inline(always)]
pub(crate) fn common_before(bytes: &[u8], a: usize, b: usize, most: usize) -> usize {
    let most = most.min(a);
    let mut n = 0;
    if let (Some(x), Some(y)) = (word(bytes, a.wrapping_sub(8)), word(bytes, b.wrapping_sub(8))) {
        // Whether the words are equal is unpredictable; matches longer than eight bytes are rare.
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

/// The 16 bytes at `at` as a little-endian number; `None` if `bytes` is too short.
#[inline(always)]
fn vector(bytes: &[u8], at: usize) -> Option<u128> {
    bytes.get(at..)?.first_chunk().map(|vector| u128::from_le_bytes(*vector))
}

/// Adds the first `n` bytes of `rest`: up to a vector at a fixed cost if there is room for a whole one.
#[inline(always)]
pub(crate) fn literals(out: &mut Out<'_>, rest: &[u8], n: usize) -> Result<(), Full> {
    // By value, not by reference: otherwise the compiler merges this case and the longer one into a call of `memcpy`.
    match vector(rest, 0) {
        Some(vector) if n <= VECTOR => out.store(&vector.to_le_bytes(), n),
        _ => out.extend_from_slice(rest.get(..n).ok_or(Full)?),
    }
}

/// The same with up to two vectors at a fixed cost: for a decoder of runs, which are often longer than a vector.
#[inline(always)]
pub(crate) fn run(out: &mut Out<'_>, rest: &[u8], n: usize) -> Result<(), Full> {
    match rest.first_chunk::<{ 2 * VECTOR }>() {
        Some(vectors) if n <= 2 * VECTOR => out.store(vectors, n),
        _ => out.extend_from_slice(rest.get(..n).ok_or(Full)?),
    }
}

/// Adds `len` bytes from `distance` before the end. For copies that are rarely short: moves four vectors at a time at a fixed cost and removes the
/// excess.
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
