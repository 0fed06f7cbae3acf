//! Transposes, tile by tile: the loops over the tiles, and the edges where no tile fits. Each tier supplies its own tiles.

use super::blocks::copy;
use super::{Transpose, prefetch};

/// The side length of a tile in bytes: a cache line, so that whole lines are written.
pub(crate) const LINE: usize = 64;

/// Transposes squares of [`LINE`] by [`LINE`] bytes with elements of `W` bytes.
pub(super) trait Tile<const W: usize>: Copy {
    /// Transposes one square. `from_step` and `to_step` are the distances in bytes between rows in the source and between columns in the target.
    /// `PAST_CACHES`: stores bypass the caches if the tier supports that.
    ///
    /// # Safety
    /// `LINE` bytes must be readable in each of `LINE / W` rows from `from` on, and writable in as many columns from `to` on; the two must not
    /// overlap. If `PAST_CACHES`, each column must begin at a multiple of `LINE`.
    unsafe fn tile<const PAST_CACHES: bool>(
        self,
        from: *const u8,
        from_step: isize,
        to: *mut u8,
        to_step: isize,
    );

    /// Completes stores that bypassed the caches, before others read the result.
    fn finish(self) {}
}

/// Transposes elements of `W` bytes.
///
/// # Safety
/// All elements of all rows from `from` on must be readable, all elements of the columns from `to` on writable; the two must not overlap.
#[inline(always)]
pub(super) unsafe fn transpose<const W: usize, T: Tile<W>>(
    tile: T,
    from: *const u8,
    to: *mut u8,
    transpose: &Transpose,
) {
    let Transpose { rows, columns, from: from_step, to: to_step, block, past_caches, .. } = *transpose;
    let side = LINE / W;
    // If all columns begin at the same offset in their lines, a few rows are split off so that tiles write whole lines.
    let aligned = to_step.unsigned_abs().is_multiple_of(LINE);
    let lead = if aligned { to.addr().wrapping_neg() % LINE / W } else { 0 };
    let lead = lead.min(rows);
    let whole_lines = aligned && to.wrapping_add(lead * W).addr().is_multiple_of(LINE);
    let (tiled_rows, tiled_columns) = ((rows - lead) / side * side, columns / side * side);
    let at = |row: usize, column: usize| {
        (
            from.wrapping_offset(row as isize * from_step).wrapping_add(column * W),
            to.wrapping_offset(column as isize * to_step).wrapping_add(row * W),
        )
    };
    // SAFETY: the rows and columns below are among those the caller guarantees.
    let edge = |rows: core::ops::Range<usize>, columns: core::ops::Range<usize>| unsafe {
        for column in columns {
            let (mut read, mut write) = at(rows.start, column);
            for _ in rows.clone() {
                copy::<W>(read, write);
                read = read.wrapping_offset(from_step);
                write = write.wrapping_add(W);
            }
        }
    };
    let mut first = 0;
    while first < tiled_columns {
        let end = (first + block).min(tiled_columns);
        edge(0..lead, first..end);
        let mut row = lead;
        while row < lead + tiled_rows {
            let mut column = first;
            while column < end {
                let (read, write) = at(row, column);
                if row + 2 * side <= lead + tiled_rows {
                    (0..side).for_each(|i| prefetch(read.wrapping_offset((side + i) as isize * from_step)));
                }
                // SAFETY: the `side` rows and columns from here on are among those the caller guarantees. If whole lines are written, `write` and all
                // columns after it are at multiples of `LINE`.
                unsafe {
                    if past_caches && whole_lines {
                        tile.tile::<true>(read, from_step, write, to_step);
                    } else {
                        tile.tile::<false>(read, from_step, write, to_step);
                    }
                }
                column += side;
            }
            row += side;
        }
        edge(lead + tiled_rows..rows, first..end);
        first = end;
    }
    edge(0..rows, tiled_columns..columns);
    if past_caches && whole_lines {
        tile.finish();
    }
}
