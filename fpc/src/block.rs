//! The types of a block's stages: words, bytes and bits of a row or a block of values.
#![forbid(unsafe_code)]

use crate::format::{LANES, ROW, ROWS, STEPS};
use mpress_codec_support::Word;

/// Aligned to a cache line, which is also the widest vector.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Aligned<T>(pub(crate) T);

/// The words of a row.
pub(crate) type Row<W> = [<W as Word>::Bytes; ROW];
/// The words of a block.
pub(crate) type Words<W> = Aligned<[Row<W>; ROWS]>;
/// One byte for each value of a row.
pub(crate) type RowBytes = [u8; ROW];
/// One byte for each value of a block.
pub(crate) type BlockBytes = Aligned<[RowBytes; ROWS]>;

/// One item per lane.
pub(crate) type Step<T> = [T; LANES];
/// The values of a block by lanes, each preceded by the last value before the block.
pub(crate) type Lanes<W> = [[<W as Word>::Bytes; 1 + STEPS]; LANES];
