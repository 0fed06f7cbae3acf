//! Portable copies, which define the result.

use super::lists::Runs;
use super::tiles::{self, LINE, Tile};
use super::{Axis, Listed, Transpose, blocks as shared, lists};

#[derive(Clone, Copy)]
struct Portable;

impl<const W: usize> Tile<W> for Portable {
    #[inline(always)]
    unsafe fn tile<const PAST_CACHES: bool>(
        self,
        from: *const u8,
        from_step: isize,
        to: *mut u8,
        to_step: isize,
    ) {
        let side = (LINE / W) as isize;
        for column in 0..side {
            for row in 0..side {
                let read = from.wrapping_offset(row * from_step + column * W as isize);
                let write = to.wrapping_offset(column * to_step + row * W as isize);
                // SAFETY: row and column are in the tile that the caller guarantees.
                unsafe { shared::copy::<W>(read, write) };
            }
        }
    }
}

/// # Safety
/// As for [`shared::blocks`].
pub(super) unsafe fn blocks(
    from: *const u8,
    to: *mut u8,
    width: usize,
    outer: Axis,
    inner: Axis,
    ahead: isize,
) {
    // SAFETY: guaranteed by the caller.
    unsafe { shared::blocks(from, to, width, outer, inner, ahead) }
}

/// # Safety
/// As for [`lists::list`].
pub(super) unsafe fn list(from: *const u8, to: *mut u8, listed: Listed, runs: Runs<'_>, outer: Axis) {
    // SAFETY: guaranteed by the caller.
    unsafe { lists::list(from, to, listed, runs, outer) }
}

/// # Safety
/// As for [`tiles::transpose`]. Widths other than 4, 8 and 16 are not transposed.
pub(super) unsafe fn transpose(from: *const u8, to: *mut u8, transpose: &Transpose) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        match transpose.width {
            4 => tiles::transpose::<4, _>(Portable, from, to, transpose),
            8 => tiles::transpose::<8, _>(Portable, from, to, transpose),
            16 => tiles::transpose::<16, _>(Portable, from, to, transpose),
            _ => debug_assert!(false, "elements of {} bytes", transpose.width),
        }
    }
}
