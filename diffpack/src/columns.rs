//! Columns of records: a field of each record of a piece, as words (format, section 9).
#![forbid(unsafe_code)]

use crate::format::{COLUMN, column_width};

/// Calls `work` with memory for the columns of a reference; the memory is empty if there is no reference.
pub(crate) fn with_memory<T>(reference: &[u8], work: impl FnOnce(&mut [u8]) -> T) -> T {
    /// A separate function, so that other messages do not have this memory on their stack.
    #[inline(never)]
    fn referring<T>(work: impl FnOnce(&mut [u8]) -> T) -> T {
        work(&mut [0; COLUMN])
    }
    if reference.is_empty() { work(&mut []) } else { referring(work) }
}

/// Gathers the field at `at`, of `width` bytes, of each record of a piece.
pub(crate) fn gather<'a>(
    piece: &[u8],
    at: usize,
    width: usize,
    stride: usize,
    column: &'a mut [u8],
) -> &'a [u8] {
    let column = &mut column[..piece.len() / stride * column_width(width)];
    match width {
        8 => gather_words::<8, 8>(piece, at, stride, column),
        4 => gather_words::<4, 4>(piece, at, stride, column),
        2 => gather_words::<2, 2>(piece, at, stride, column),
        _ => gather_words::<2, 1>(piece, at, stride, column),
    }
    column
}

/// The inverse of [`gather`].
pub(crate) fn scatter(column: &[u8], piece: &mut [u8], at: usize, width: usize, stride: usize) {
    match width {
        8 => scatter_words::<8, 8>(column, piece, at, stride),
        4 => scatter_words::<4, 4>(column, piece, at, stride),
        2 => scatter_words::<2, 2>(column, piece, at, stride),
        _ => scatter_words::<2, 1>(column, piece, at, stride),
    }
}

/// Gathers the field at `at` of each record into words of `N` bytes. Fields have `F` bytes and are zero-extended.
#[inline(always)]
fn gather_words<const N: usize, const F: usize>(piece: &[u8], at: usize, stride: usize, column: &mut [u8]) {
    let fields = piece.get(at..).unwrap_or_default().chunks(stride);
    for (word, field) in column.as_chunks_mut::<N>().0.iter_mut().zip(fields) {
        let (Some(low), Some(field)) = (word.first_chunk_mut::<F>(), field.first_chunk()) else { return };
        *low = *field;
        word[F..].fill(0);
    }
}

/// Puts the low `F` bytes of words of `N` bytes into the field at `at` of each record.
#[inline(always)]
fn scatter_words<const N: usize, const F: usize>(column: &[u8], piece: &mut [u8], at: usize, stride: usize) {
    let fields = piece.get_mut(at..).unwrap_or_default().chunks_mut(stride);
    for (word, field) in column.as_chunks::<N>().0.iter().zip(fields) {
        let (Some(low), Some(field)) = (word.first_chunk::<F>(), field.first_chunk_mut()) else { return };
        *field = *low;
    }
}
