//! Residuals to words: what a decoder does with a block whose head it has read.
//!
//! [`in_steps`] goes over the block once for each step, through buffers. A kernel with registers for a whole group does all
//! steps at once (`kernel/avx512/rebuild.rs`).
#![forbid(unsafe_code)]

use crate::block::{Block, Widths};
use crate::format::{BLOCK, GROUP, MAX_REACH};
use crate::kernel::{Kernel, Words};
use crate::predictor::{Domain, Predictor};
use crate::window::Window;
use crate::word::Word;
use mpress_codec::{Full, Out};

/// The words before a block as far as a predictor may reach, and the block.
type DecodeWindow = Window<{ GROUP + (MAX_REACH + 1) * 8 + BLOCK }>;

/// What makes words of the residuals of a block.
#[derive(Clone, Copy, Debug)]
pub struct Form<'a, W> {
    pub(crate) predictor: &'a Predictor,
    /// Of the domains that have one.
    pub(crate) maximum: W,
    /// The zeros to shift in again.
    pub(crate) strip: Option<&'a Widths>,
    /// Words of the block.
    pub(crate) words: usize,
}

/// Residuals on the wire, at the front of `wire`.
#[derive(Clone, Copy, Debug)]
pub struct Packed<'a> {
    pub(crate) wire: &'a [u8],
    pub(crate) widths: &'a Widths,
}

/// The memory to decode a block in.
#[derive(Clone, Debug)]
pub struct Scratch {
    /// Words before a block, where the message itself does not do.
    pub(crate) window: DecodeWindow,
    pub(crate) words: Words,
    /// The residuals of a block that is not of one stream.
    pub(crate) residuals: Block,
    pub(crate) wide: Block,
    pub(crate) other: Block,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Self {
            window: DecodeWindow::new(),
            words: Words::new(),
            residuals: Block::ZERO,
            wide: Block::ZERO,
            other: Block::ZERO,
        }
    }
}

/// Appends the words of a block to the message that begins at `start` of `out`. Its residuals are `packed`, or those of
/// `scratch`.
#[inline(always)]
pub(crate) fn in_steps<W: Word, K: Kernel<W>>(
    kernel: K,
    packed: Option<Packed<'_>>,
    form: &Form<'_, W>,
    scratch: &mut Scratch,
    start: usize,
    out: &mut Out<'_>,
) -> Result<(), Full> {
    let Scratch { window, words, residuals, other, .. } = scratch;
    let len = form.words * W::WIDTH;
    if let Some(Packed { wire, widths }) = packed {
        kernel.unpack(wire, widths, form.words, residuals);
    }
    if let Some(strip) = form.strip {
        kernel.unstrip(residuals, strip);
    }
    let message = out.written().get(start..).unwrap_or_default();
    let reach = form.predictor.reach() * W::WIDTH;
    let made = match form.predictor.domain {
        Domain::Below | Domain::BelowRotated => {
            let rotation = u32::from(form.predictor.domain == Domain::BelowRotated);
            kernel.undo_below(residuals, form.maximum, rotation, &mut other.0);
            &other.0[..]
        }
        Domain::Integer => {
            let mut before = message;
            if reach + GROUP > message.len() {
                window.fill(message, message.len(), reach);
                before = window.before();
            }
            kernel.undo_difference(residuals, form.predictor.lags(), before, words);
            &words.block()[..]
        }
        Domain::Fixed(unit) => {
            window.fill_fixed(kernel, message, message.len(), reach, unit);
            kernel.undo_difference(residuals, form.predictor.lags(), window.before(), words);
            kernel.to_float(words.block(), unit.into(), &mut other.0);
            &other.0[..]
        }
    };
    out.extend_from_slice(&made[..len])
}
