//! The reference kernel: portable code that defines the result of every kernel.
//!
//! Functions that the other kernels call are always inlined, so that they are compiled for those kernels' instructions.
#![forbid(unsafe_code)]

mod pack;
mod predict;
mod split;
mod undo;

use super::{Code, Kernel, LAGS};
use crate::decode::rebuild::{Form, Packed, Scratch, in_steps};
use crate::format::{GROUPS, Predictor};
use crate::kernel::block::{Block, Group, Groups, Mask, Widths};
use crate::word::Word;
use mpress_codec::{Full, Out};
#[cfg(target_arch = "x86_64")]
pub(super) use pack::used;
pub(super) use predict::shifts;
#[cfg(target_arch = "x86_64")]
pub(super) use predict::{lag_scores, term, terms};
#[cfg(target_arch = "x86_64")]
pub(super) use undo::SHORT;
pub(crate) use undo::{undo_below, undo_difference};

/// Portable code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scalar;

impl<W: Word> Kernel<W> for Scalar {
    const ENCODES: Code = &[];
    fn prefetch_rebuild(self, _: &Predictor) {}
    fn apart<T>(self, operation: impl FnOnce() -> T) -> T {
        operation()
    }
    operations!();
    fn rebuild(
        self,
        packed: Option<Packed<'_>>,
        form: &Form<'_, W>,
        scratch: &mut Scratch,
        start: usize,
        out: &mut Out<'_>,
    ) -> Result<(), Full> {
        in_steps(packed, form, scratch, start, out)
    }
}
