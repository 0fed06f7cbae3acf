//! The kernel for AVX-512: a group fills a vector.

/// Repeats the body for each of some vectors, with `$i` constant, so that the vectors stay in registers. The steps of a group wait for each other;
/// those of other groups fill the gaps.
macro_rules! each {
    ($i:ident, $body:block) => {
        each!(@ $i, $body, 0, 1, 2, 3, 4, 5, 6, 7)
    };
    (@ $i:ident, $body:block, $($n:literal),*) => {
        $({
            const $i: usize = $n;
            $body
        })*
    };
}

mod fixed;
mod pack;
mod predict;
mod rebuild;
mod short;
mod split;

use super::{Kernel, LAGS, Span};
use crate::block::{Block, Group, Groups, Mask, Widths};
use crate::rebuild::{Form, Packed, Scratch};
use crate::word::Word;
use mpress_codec::support::Avx512;
use mpress_codec::{Full, Out};

impl<W: Word> Kernel<W> for Avx512 {
    operations!(unsafe);
    operations!(x86);
    fn rebuild(
        self,
        packed: Option<Packed<'_>>,
        form: &Form<'_, W>,
        scratch: &mut Scratch,
        start: usize,
        out: &mut Out<'_>,
    ) -> Result<(), Full> {
        // SAFETY: `self` proves the features that the call requires.
        unsafe { rebuild::rebuild::<W>(packed, form, scratch.words.block(), start, out) }
    }
}
