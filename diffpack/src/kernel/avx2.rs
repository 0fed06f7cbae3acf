//! The kernel for AVX2 and BMI2: a group fills two vectors.

portable!("avx2,bmi1,bmi2,lzcnt,popcnt");
mod pack;
mod predict;
mod split;
pub(super) mod undo;

use super::{Code, Kernel, LAGS, Span};
use crate::decode::rebuild::{Form, Packed, Scratch, below};
use crate::format::{Domain, GROUPS, Predictor};
use crate::kernel::block::{Block, Group, Groups, Mask, Widths, byte_bits};
use crate::word::Word;
use mpress_codec::{Full, Out};
use mpress_codec_support::Avx2;
use mpress_codec_support::avx2::store;
pub(super) use pack::{spans_nine, sum_and_ends};

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
    operations!(x86);
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
                // From the wire to the message at once.
                (Some(packed), Domain::Below) => undo::undo_below::<W, 0>(packed, form, out),
                (Some(packed), Domain::BelowRotated) => undo::undo_below::<W, 1>(packed, form, out),
                (None, Domain::Below | Domain::BelowRotated) => below(form, &mut scratch.words, out),
                _ => undo::rebuild(self, packed, form, scratch, start, out),
            }
        }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn spread(packed: u64, bits: u32) -> u64 {
    core::arch::x86_64::_pdep_u64(packed, byte_bits(bits))
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn gather(spread: u64, bits: u32) -> u64 {
    core::arch::x86_64::_pext_u64(spread, byte_bits(bits))
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn joined([a, b, c, d]: [u64; GROUPS / 8]) -> Widths {
    let mut widths = [0; GROUPS];
    store(&mut widths, core::arch::x86_64::_mm256_set_epi64x(d as i64, c as i64, b as i64, a as i64));
    widths
}
