//! Packs the groups of a block to bits and back.

use crate::decode::rebuild::Packed;
use crate::format::GROUPS;
use crate::kernel::avx2::{spans_nine, sum_and_ends};
use crate::kernel::block::{Block, Groups, Widths};
use crate::kernel::scalar::used;
use crate::word::Word;
use mpress_codec::{Full, Out};
use mpress_codec_support::avx512::{self, Layout, V, load_to_the_end, load_unchecked};
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

/// Reads packed groups, one after the other.
pub(super) struct Source<'a> {
    packed: Packed<'a>,
    /// The offset of the next group.
    at: usize,
    /// Whether no lane spans nine bytes.
    narrow: bool,
}

impl<'a> Source<'a> {
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    pub(super) fn new<W: Word>(packed: Packed<'a>) -> Self {
        Self { packed, at: 0, narrow: !spans_nine::<W>(packed.widths) }
    }

    /// The residuals of group `i`, which follows the group read before.
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    pub(super) fn group<W: Word>(&mut self, i: usize) -> V {
        let group = load_to_the_end(self.packed.wire, self.at);
        self.unpacked::<W>(i, group)
    }

    /// Whether at least this number of bytes is left.
    pub(super) fn has(&self, bytes: usize) -> bool {
        self.packed.wire.len() >= self.at + bytes
    }

    /// The residuals of group `i`, which follows the group read before.
    ///
    /// # Safety
    /// A vector or more is left.
    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    pub(super) unsafe fn inside<W: Word>(&mut self, i: usize) -> V {
        // SAFETY: guaranteed by the caller.
        let group = unsafe { load_unchecked(self.packed.wire, self.at) };
        self.unpacked::<W>(i, group)
    }

    #[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
    #[inline]
    fn unpacked<W: Word>(&mut self, i: usize, group: V) -> V {
        let width = self.packed.widths[i % GROUPS];
        let layout = Layout::of::<W>(width);
        self.at += usize::from(width) * W::PER_LANE as usize;
        if self.narrow {
            layout.apart::<W, true>(group, width)
        } else {
            layout.apart::<W, false>(group, width)
        }
    }
}
