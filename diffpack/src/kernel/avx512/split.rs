//! Deals residuals to two streams and collects them again, with compress and expand instructions.

use crate::kernel::block::{Block, Groups, Mask};
use crate::word::Word;
use core::arch::x86_64::*;
use mpress_codec_support::avx512::{V, load, load_part, splat, store, store_part};

/// The mask's bits for group `i`.
#[inline(always)]
fn bits<W: Word>(mask: &Mask, i: usize) -> u32 {
    let mut bits = [0; 4];
    let bytes = W::LANES / 8;
    if let Some(from) = mask.get(i * bytes..(i + 1) * bytes) {
        bits[..bytes].copy_from_slice(from);
    }
    u32::from_le_bytes(bits)
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn above<W: Word>(residuals: &Block, width: u32) -> Mask {
    let mut mask = [0; _];
    let limit = splat(W::mask(width));
    // Eight bytes at a time, because that is how they are counted: a load would wait until single
    // stores are in the cache.
    for (some, to) in residuals.groups().chunks(64 / W::LANES).zip(mask.as_chunks_mut().0) {
        let mut bits = 0;
        for (group, i) in some.iter().zip(0..) {
            let v = load(group);
            let above = match W::BITS {
                64 => u64::from(_mm512_cmpgt_epu64_mask(v, limit)),
                32 => u64::from(_mm512_cmpgt_epu32_mask(v, limit)),
                _ => u64::from(_mm512_cmpgt_epu16_mask(v, limit)),
            };
            bits |= above << (i * W::LANES);
        }
        *to = bits.to_le_bytes();
    }
    mask
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn deal<W: Word>(
    residuals: &Block,
    mask: &Mask,
    words: usize,
    wide: &mut Block,
    narrow: &mut Block,
) {
    let (mut wides, mut narrows) = (0, 0);
    for (i, group) in residuals.groups().iter().enumerate().take(words.div_ceil(W::LANES)) {
        let v = load(group);
        let is_wide = bits::<W>(mask, i);
        let lanes = u32::MAX >> (32 - W::LANES);
        let is_narrow = !is_wide & lanes & low_bits(words - i * W::LANES);
        store_part(&mut wide.0, wides, compress::<W>(is_wide, v));
        store_part(&mut narrow.0, narrows, compress::<W>(is_narrow, v));
        wides += is_wide.count_ones() as usize * W::WIDTH;
        narrows += is_narrow.count_ones() as usize * W::WIDTH;
    }
    store_part(&mut wide.0, wides, _mm512_setzero_si512());
    store_part(&mut narrow.0, narrows, _mm512_setzero_si512());
}

#[inline(always)]
fn low_bits(count: usize) -> u32 {
    if count < 32 { (1 << count) - 1 } else { u32::MAX }
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn collect<W: Word>(wide: &Block, narrow: &Block, mask: &Mask, residuals: &mut Groups) {
    let (mut wides, mut narrows) = (0, 0);
    for (i, group) in residuals.iter_mut().enumerate() {
        let is_wide = bits::<W>(mask, i);
        let is_narrow = !is_wide & u32::MAX >> (32 - W::LANES);
        let v = _mm512_or_si512(
            expand::<W>(is_wide, load_part(&wide.0, wides)),
            expand::<W>(is_narrow, load_part(&narrow.0, narrows)),
        );
        store(group, v);
        wides += is_wide.count_ones() as usize * W::WIDTH;
        narrows += is_narrow.count_ones() as usize * W::WIDTH;
    }
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn compress<W: Word>(keep: u32, v: V) -> V {
    match W::BITS {
        64 => _mm512_maskz_compress_epi64(keep as u8, v),
        32 => _mm512_maskz_compress_epi32(keep as u16, v),
        _ => _mm512_maskz_compress_epi16(keep, v),
    }
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn expand<W: Word>(to: u32, v: V) -> V {
    match W::BITS {
        64 => _mm512_maskz_expand_epi64(to as u8, v),
        32 => _mm512_maskz_expand_epi32(to as u16, v),
        _ => _mm512_maskz_expand_epi16(to, v),
    }
}
