//! The portable kernel, which defines the result of all kernels.
#![forbid(unsafe_code)]

use super::Kernel;
use crate::block::Block;
use crate::unary::{self, Places, Unary};
use crate::word::Word;

/// Code for every CPU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scalar;

impl Kernel for Scalar {
    #[inline(always)]
    fn places(self, unary: &Unary, len: usize, places: &mut Places) -> usize {
        unary::places(unary, len, places)
    }

    #[inline(always)]
    fn undo_delta<W: Word>(self, residuals: &mut Block<W>, before: W) {
        residuals.0.iter_mut().fold(before, |before, word| {
            *word = before.plus(word.unzigzag());
            *word
        });
    }
}
