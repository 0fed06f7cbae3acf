//! The kernel for AVX-512: a group fills a vector.

/// Repeats the body for each of some vectors, with `$i` constant, so that the vectors stay in registers. The steps of a group wait for each
/// other; those of other groups fill the gaps.
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

mod pack;
mod predict;
mod rebuild;
mod short;
mod split;

use super::avx2::undo;
use super::{Code, Kernel, LAGS};
use crate::decode::rebuild::{Form, Packed, Scratch};
use crate::format::{Domain, GROUPS, Predictor};
use crate::kernel::block::{Block, Group, Groups, Mask, Widths};
use crate::word::Word;
use mpress_codec::{Full, Out};
use mpress_codec_support::{Avx512, prefetch};

impl<W: Word> Kernel<W> for Avx512 {
    const ENCODES: Code = code!(predict::difference_cost::<W>: 2048, predict::below_cost::<W>: 512,
        predict::difference::<W>: 1600, predict::widths::<W>: 384, pack::pack::<W>: 1152);
    fn prefetch_rebuild(self, predictor: &Predictor) {
        prefetch(pack::unpack::<W> as *const u8, 512);
        rebuild::prefetch_code::<W>(predictor);
    }
    apart!("avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt");
    operations!(unsafe);
    fn rebuild(
        self,
        packed: Option<Packed<'_>>,
        form: &Form<'_, W>,
        scratch: &mut Scratch,
        start: usize,
        out: &mut Out<'_>,
    ) -> Result<(), Full> {
        if let Domain::Fixed(_) = form.predictor.domain {
            // SAFETY: as below.
            return unsafe { undo::rebuild(self, packed, form, scratch, start, out) };
        }
        let residuals = scratch.words.groups_mut();
        // SAFETY: `self` proves the features that the calls require.
        unsafe {
            if let Some(Packed { wire, widths }) = packed {
                pack::unpack::<W>(wire, widths, form.words, residuals);
            }
            rebuild::rebuild::<W>(form, residuals, start, out)
        }
    }
}
