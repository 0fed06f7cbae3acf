//! Residuals to words: how a decoder reconstructs a block after it has read the head. [`in_steps`] is the portable code; the other kernels
//! have their own (`kernel/avx2/undo.rs`, `kernel/avx512/rebuild.rs`).
#![forbid(unsafe_code)]

use crate::format::{BLOCK, Domain, GROUP, MAX_REACH, Predictor};
use crate::kernel::block::{Block, Widths};
use crate::kernel::window::Window;
use crate::kernel::{Kernel, Scalar, Words, portable, undo_below, undo_difference};
use crate::word::Word;
use mpress_codec::{Full, Out};

/// The words before a block, as far back as a predictor may reach, and the block.
pub(crate) type DecodeWindow = Window<{ GROUP + (MAX_REACH + 1) * 8 + BLOCK }>;

/// How the residuals of a block become words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form<'a, W> {
    pub(crate) predictor: &'a Predictor,
    /// The block's maximum, in domains that have one.
    pub(crate) maximum: W,
    /// Number of words in the block.
    pub(crate) words: usize,
}

/// Residuals packed at the front of `wire`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packed<'a> {
    pub(crate) wire: &'a [u8],
    pub(crate) widths: &'a Widths,
}

/// Scratch memory for decoding a block.
#[derive(Clone, Debug)]
pub(crate) struct Scratch {
    /// The words before a block, for use where the message itself cannot be used.
    pub(crate) window: DecodeWindow,
    /// The residuals of a block, which become its words.
    pub(crate) words: Words,
    pub(crate) wide: Block,
    pub(crate) narrow: Block,
    /// The fixed-point values of floats, or distances.
    pub(crate) other: Block,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        let [wide, narrow, other] = [const { Block::ZERO }; 3];
        Self { window: DecodeWindow::new(), words: Words::new(), wide, narrow, other }
    }
}

/// Appends the words of a block to the message that begins at `start` of `out`, one pass per step, through buffers. The residuals are
/// `packed` or, if that is `None`, in `scratch`.
pub(crate) fn in_steps<W: Word>(
    packed: Option<Packed<'_>>,
    form: &Form<'_, W>,
    scratch: &mut Scratch,
    start: usize,
    out: &mut Out<'_>,
) -> Result<(), Full> {
    if let Some(Packed { wire, widths }) = packed {
        Kernel::<W>::unpack(Scalar, wire, widths, form.words, scratch.words.groups_mut());
    }
    let Scratch { window, words, other, .. } = scratch;
    let message = out.written().get(start..).unwrap_or_default();
    let reach = form.predictor.reach() * W::WIDTH;
    let before = match form.predictor.domain {
        Domain::Below { .. } => return below(form, words, out),
        Domain::Fixed(unit) => {
            window.fill_fixed::<W, _>(Scalar, message, message.len(), reach, unit);
            window.before()
        }
        _ if reach + GROUP <= message.len() => message,
        _ => {
            window.fill(message, message.len(), reach);
            window.before()
        }
    };
    undo_difference::<W>(form.predictor.lags(), before, words);
    let mut made = words.block();
    if let Domain::Fixed(unit) = form.predictor.domain {
        portable::to_float::<W>(words.block(), unit.into(), &mut other.0);
        made = &other.0;
    }
    out.extend_from_slice(&made[..form.words * W::WIDTH])
}

/// Appends the words of a block from their distances below the greatest one.
#[inline(always)]
pub(crate) fn below<W: Word>(form: &Form<'_, W>, words: &mut Words, out: &mut Out<'_>) -> Result<(), Full> {
    match form.predictor.domain {
        Domain::Below { rotation: 1 } => undo_below::<W, 1>(words.groups_mut(), form.maximum),
        _ => undo_below::<W, 0>(words.groups_mut(), form.maximum),
    }
    out.extend_from_slice(&words.block()[..form.words * W::WIDTH])
}
