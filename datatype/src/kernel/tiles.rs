//! Transposes, tile by tile: the loops around the tiles, and the edges where no tile fits. Each level has tiles of its own.

use super::blocks::copy;
use super::{Transpose, prefetch};

/// Bytes of a tile's side: a cache line, so that lines are written whole.
pub(crate) const LINE: usize = 64;

/// Who transposes a square of [`LINE`] by [`LINE`] bytes of elements of `W` bytes.
pub(super) trait Tile<const W: usize>: Copy {
    /// Transposes one, whose rows in the source and columns in the target are the given numbers of bytes apart. `PAST_CACHES`: what is written goes
    /// past the caches, if the level can do that.
    ///
    /// # Safety
    /// `LINE` bytes must be readable in each of `LINE / W` rows from `from` on, and writable in as many columns from `to` on; they do not
    /// overlap. If they go past the caches, each column must begin at a multiple of `LINE`.
    unsafe fn tile<const PAST_CACHES: bool>(
        self,
        from: *const u8,
        from_step: isize,
        to: *mut u8,
        to_step: isize,
    );

    /// What there is to do after writes past the caches, before others read what was written.
    fn finish(self) {}
}

/// Transposes elements of `W` bytes.
///
/// # Safety
/// All elements of all rows from `from` on must be readable, all those of the columns from `to` on writable; they do not overlap.
#[inline(always)]
pub(super) unsafe fn transpose<const W: usize, T: Tile<W>>(
    tile: T,
    from: *const u8,
    to: *mut u8,
    transpose: &Transpose,
) {
    let Transpose { rows, columns, from: from_step, to: to_step, block, past_caches, .. } = *transpose;
    let side = LINE / W;
    // Where columns begin at equal places in their lines, rows are taken so that tiles write whole lines.
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
    // SAFETY: rows and columns below are less than those the caller vouches for.
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
                // SAFETY: `side` rows and columns from these on are among those the caller vouches for. If lines are written whole,
                // `write` and all columns after it are at multiples of `LINE`.
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
