//! The kernel for AVX2 and BMI2: a group fills two vectors.

mod pack;
mod predict;
mod split;
pub(super) mod undo;

use super::{Code, Kernel, LAGS};
use crate::decode::rebuild::{Form, Packed, Scratch, below};
use crate::format::{Domain, GROUPS, Predictor};
use crate::kernel::block::{Block, Group, Groups, Mask, Widths};
use crate::word::Word;
use mpress_codec::{Full, Out};
use mpress_codec_support::Avx2;
pub(super) use pack::{gather, joined, spans_nine, spread, sum_and_ends};

impl<W: Word> Kernel<W> for Avx2 {
    const ENCODES: Code = code!(predict::difference_cost::<W>: 2048, predict::below_cost::<W>: 768,
        predict::difference::<W>: 1024, predict::widths::<W>: 768, pack::pack::<W>: 1024);
    fn prefetch_rebuild(self, predictor: &Predictor) {
        if !predictor.has_maximum() {
            undo::prefetch_code::<W>(predictor.lags());
        }
    }
    apart!("avx2,bmi1,bmi2,lzcnt,popcnt");
    operations!(unsafe);
    #[inline(always)]
    fn rebuild(
        self,
        packed: Option<Packed<'_>>,
        form: &Form<'_, W>,
        scratch: &mut Scratch,
        start: usize,
        out: &mut Out<'_>,
    ) -> Result<(), Full> {
        // SAFETY: `self` proves the features that the calls require.
        unsafe {
            match (packed, form.predictor.domain) {
                // Directly from the wire to the message.
                (Some(packed), Domain::Below { rotation: 0 }) => undo::undo_below::<W, 0>(packed, form, out),
                (Some(packed), Domain::Below { .. }) => undo::undo_below::<W, 1>(packed, form, out),
                (None, Domain::Below { .. }) => below(form, &mut scratch.words, out),
                _ => undo::rebuild(self, packed, form, scratch, start, out),
            }
        }
    }
}
