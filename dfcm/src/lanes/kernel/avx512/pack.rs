//! Packs words to bits and back, by permutations of bytes.
//!
//! A group is eight 64-bit lanes here: each is one double, or two single floats, which are compacted first. A lane then has 0 or 8 to 64 bits, so a
//! byte of the wire has bits of at most two lanes.

use crate::lanes::block::{Block, Body, Widths, packed_bytes};
use crate::lanes::format::GROUP;
use crate::word::Word;
use mpress_codec::support::avx512::{Layout, load, store};
use mpress_codec::{Full, Out};

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn pack<W: Word>(
    residuals: &Block,
    widths: Widths,
    len: usize,
    out: &mut Out<'_>,
) -> Result<(), Full> {
    let mut packed = [0; GROUP];
    for (i, (group, width)) in residuals.0.iter().zip(widths).enumerate() {
        store(
            &mut packed,
            Layout::of::<W>(width).packed::<W, false>(Layout::together::<W>(load(group), width), width),
        );
        out.store(&packed, packed_bytes::<W>(len.saturating_sub(i * GROUP).min(GROUP), width))?;
    }
    Ok(())
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn unpack<W: Word>(body: &Body, widths: Widths, residuals: &mut Block) {
    let mut rest: &[u8] = body;
    for (group, width) in residuals.0.iter_mut().zip(widths) {
        let packed = load(rest.first_chunk().unwrap_or(&[0; GROUP]));
        store(group, Layout::of::<W>(width).apart::<W, false>(packed, width));
        rest = &rest[packed_bytes::<W>(GROUP, width)..];
    }
}
