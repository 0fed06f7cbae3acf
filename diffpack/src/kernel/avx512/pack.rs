//! Packs the groups of a block to bits and back.

use crate::kernel::avx2::spans_nine;
pub(super) use crate::kernel::avx2::{gather, joined, spread, sum_and_ends};
use crate::kernel::block::{Block, Groups, Widths};
use crate::kernel::scalar::used;
use crate::word::Word;
use mpress_codec::{Full, Out};
use mpress_codec_support::avx512;
use mpress_codec_support::pack::packed_len;

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn pack<W: Word>(
    residuals: &Block,
    widths: &Widths,
    words: usize,
    out: &mut Out<'_>,
) -> Result<(), Full> {
    let used = used::<W>(widths, words);
    let (sum, least, greatest) = sum_and_ends(widths, used.len());
    let len = packed_len::<W>(used, words, sum);
    if u32::from(greatest) > W::BITS {
        return Err(Full);
    }
    let plain = u32::from(least) * W::PER_LANE >= 8 && !spans_nine::<W>(widths);
    // SAFETY: the condition; and the length is that of these groups.
    unsafe { avx512::pack::<W, true>(residuals.groups(), used, len, plain, out) }
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn unpack<W: Word>(wire: &[u8], widths: &Widths, words: usize, residuals: &mut Groups) {
    avx512::unpack::<W>(wire, used::<W>(widths, words), spans_nine::<W>(widths), residuals);
}
