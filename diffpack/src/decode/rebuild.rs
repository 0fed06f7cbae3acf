//! Residuals to words: how a decoder reconstructs a block once its head has been read.
//!
//! [`in_steps`] makes one pass over the block per step, through buffers. A kernel may have a way of its own (`kernel/avx512/rebuild.rs`).
#![forbid(unsafe_code)]

use crate::format::{BLOCK, Domain, GROUP, MAX_REACH, Predictor};
use crate::kernel::block::{Block, Widths};
use crate::kernel::window::Window;
use crate::kernel::{Kernel, Words, undo_below};
use crate::word::Word;
use mpress_codec::{Full, Out};

/// The words before a block, as far back as a predictor may reach, and the block.
type DecodeWindow = Window<{ GROUP + (MAX_REACH + 1) * 8 + BLOCK }>;

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
    /// The words before a block, where the message itself cannot be used.
    pub(crate) window: DecodeWindow,
    /// The residuals of a block, which become its words.
    pub(crate) words: Words,
    pub(crate) wide: Block,
    pub(crate) narrow: Block,
    /// Floats of fixed-point values, or distances.
    pub(crate) other: Block,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        let [wide, narrow, other] = [const { Block::ZERO }; 3];
        Self { window: DecodeWindow::new(), words: Words::new(), wide, narrow, other }
    }
}

/// Appends the words of a block to the message that begins at `start` of `out`. The residuals are `packed` or, if that is `None`, in `scratch`.
#[inline(always)]
pub(crate) fn in_steps<W: Word, K: Kernel<W>>(
    kernel: K,
    packed: Option<Packed<'_>>,
    form: &Form<'_, W>,
    scratch: &mut Scratch,
    start: usize,
    out: &mut Out<'_>,
) -> Result<(), Full> {
    let Scratch { window, words, other, .. } = scratch;
    let (len, groups) = (form.words * W::WIDTH, form.words.div_ceil(W::LANES));
    if let Some(Packed { wire, widths }) = packed {
        kernel.unpack(wire, widths, form.words, words.groups_mut());
    }
    let message = out.written().get(start..).unwrap_or_default();
    let reach = form.predictor.reach() * W::WIDTH;
    let made = match form.predictor.domain {
        Domain::Below => {
            undo_below::<W, 0>(words.groups_mut(), form.maximum);
            words.block()
        }
        Domain::BelowRotated => {
            undo_below::<W, 1>(words.groups_mut(), form.maximum);
            words.block()
        }
        Domain::Integer | Domain::Lookback => {
            let mut before = message;
            if reach + GROUP > message.len() {
                window.fill(message, message.len(), reach);
                before = window.before();
            }
            kernel.undo_difference(groups, form.predictor.lags(), before, words);
            words.block()
        }
        Domain::Fixed(unit) => {
            window.fill_fixed(kernel, message, message.len(), reach, unit);
            kernel.undo_difference(groups, form.predictor.lags(), window.before(), words);
            kernel.to_float(words.block(), unit.into(), &mut other.0);
            &other.0
        }
    };
    out.extend_from_slice(&made[..len])
}
