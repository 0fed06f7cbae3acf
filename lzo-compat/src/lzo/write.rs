//! Writes instructions (sections 2 to 4).

use super::{COPY, FAR_MASK, FEW, FIRST, MIDDLE, MIDDLE_MASK, MOST_FIRST, NEAR, NEAR_LEN, RUN, RUN_MASK};
use crate::bytes::literals;
use mpress_codec::{Full, Out};

/// Writes the first `count` bytes of `rest` as literals: as part of the previous instruction, or as a run.
#[inline(always)]
pub(super) fn run(rest: &[u8], count: usize, first: bool, out: &mut Out<'_>) -> Result<(), Full> {
    if count == 0 {
        return Ok(());
    }
    if first && count <= MOST_FIRST {
        out.store(&[(FIRST + count) as u8], 1)?;
    } else if count > RUN_END {
        out.store(&[0], 1)?;
        more(count - RUN_END, out)?;
    } else if !first {
        // The number of literals is unpredictable, so both cases are handled without a branch. A small number of literals is in the lowest bits of
        // the second-to-last byte of every copy.
        let (few, head) = if count <= FEW { (count, 0) } else { (0, 1) };
        if let [.., byte, _] = out.written_mut() {
            *byte |= few as u8;
        }
        out.store(&[count.wrapping_sub(RUN) as u8], head)?;
    }
    literals(out, rest, count)
}

/// The longest run whose length fits in its first byte.
pub(super) const RUN_END: usize = RUN + RUN_MASK;

/// The number of bytes that encode the length of a run of `count` bytes.
pub(super) fn run_head(count: usize) -> usize {
    1 + more_len(count, RUN_END)
}

/// Writes a copy of `len` bytes from `distance`, without literals after it.
#[inline(always)]
pub(super) fn copy(distance: usize, len: usize, out: &mut Out<'_>) -> Result<(), Full> {
    // The kind of copy is unpredictable: arithmetic instead of branches.
    let is_far = usize::from(distance > MIDDLE);
    let back = distance - 1 - is_far * (MIDDLE - 1);
    let (class, mask) = (0x20 >> is_far | back >> 14 << 3, MIDDLE_MASK >> (2 * is_far));
    // The fifteenth bit of `back` is in `class`.
    let back_le = (back << 2) % (1 << 16);
    let long = len - COPY;
    if long > mask {
        out.store(&[class as u8], 1)?;
        more(long - mask, out)?;
        return out.store(&(back_le as u16).to_le_bytes(), 2);
    }
    let near = (len - 1) << 5 | (back % 8) << 2 | back >> 3 << 8;
    let other = class | long | back_le << 8;
    let is_near = usize::from(distance <= NEAR) & usize::from(len <= NEAR_LEN);
    let instruction = (other ^ (near ^ other) & is_near.wrapping_neg()) as u32;
    out.store(&instruction.to_le_bytes(), 3 - is_near)
}

/// The length in bytes of the instruction that [`copy`] writes.
pub(super) fn copy_len(distance: usize, len: usize) -> usize {
    match distance {
        ..=NEAR if len <= NEAR_LEN => 2,
        ..=MIDDLE => 3 + more_len(len - COPY, MIDDLE_MASK),
        _ => 3 + more_len(len - COPY, FAR_MASK),
    }
}

/// Writes the part of a length above the maximum that an instruction's first byte holds (section 3).
#[inline(always)]
fn more(n: usize, out: &mut Out<'_>) -> Result<(), Full> {
    out.extend_zeroed((n - 1) / 255)?;
    out.store(&[((n - 1) % 255 + 1) as u8], 1)
}

/// The number of bytes that [`more`] writes for a length of `n` if a first byte holds `most`.
fn more_len(n: usize, most: usize) -> usize {
    n.saturating_sub(most).div_ceil(255)
}
