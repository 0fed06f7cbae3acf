//! The fixed-point domain (format, sections 5 and 6), for words of 64 and of 32 bits.

use crate::block::{Block, Widths};
use crate::format::{GROUP, GROUPS};
use crate::kernel::{ROUND_BITS, Span, scalar};
use crate::word::Word;
use core::arch::x86_64::*;
use mpress_codec::support::avx512::{
    V, add, leading_zeros, load, shifted_left, shifted_right, sign, splat, store, store_bytes, sub, unions,
    unzigzag, zigzag,
};

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn to_fixed<W: Word>(words: &[u8], unit: u32, fixed: &mut [u8]) {
    if W::FRACTION == 0 {
        return scalar::to_fixed::<W>(words, unit, fixed);
    }
    let (groups, rest) = words.as_chunks::<GROUP>();
    let (to_groups, to_rest) = fixed.as_chunks_mut::<GROUP>();
    for (to, group) in to_groups.iter_mut().zip(groups) {
        store(to, fixed_of::<W>(load(group), unit));
    }
    scalar::to_fixed::<W>(rest, unit, to_rest);
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn fixed_of<W: Word>(float: V, unit: u32) -> V {
    let unit = splat(W::of(unit as usize));
    let one = splat(W::of(1).doubled(W::FRACTION));
    let exponent = _mm512_and_si512(
        shifted_right::<W>(float, splat(W::of(W::FRACTION as usize))),
        splat(W::mask(W::EXPONENT)),
    );
    let fraction = _mm512_or_si512(_mm512_and_si512(float, splat(W::mask(W::FRACTION))), one);
    // Only one direction applies: the other shift count is out of range and gives 0, or both counts are 0.
    let up = shifted_left::<W>(fraction, sub::<W>(exponent, unit));
    let down = shifted_right::<W>(fraction, sub::<W>(unit, exponent));
    let size = where_not_zero::<W>(exponent, _mm512_or_si512(up, down));
    let sign = sign::<W>(float);
    sub::<W>(_mm512_xor_si512(size, sign), sign)
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn to_float<W: Word>(fixed: &[u8], unit: u32, words: &mut [u8]) {
    if W::FRACTION == 0 {
        return scalar::to_float::<W>(fixed, unit, words);
    }
    let (groups, rest) = fixed.as_chunks::<GROUP>();
    let (to_groups, to_rest) = words.as_chunks_mut::<GROUP>();
    for (to, group) in to_groups.iter_mut().zip(groups) {
        store(to, float_of::<W>(load(group), unit));
    }
    scalar::to_float::<W>(rest, unit, to_rest);
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn float_of<W: Word>(fixed: V, unit: u32) -> V {
    let top = W::BITS - 1;
    let unused = top - W::FRACTION;
    let constant = |number: u32| splat(W::of(number as usize));
    let sign = sign::<W>(fixed);
    let size = sub::<W>(_mm512_xor_si512(fixed, sign), sign);
    let zeros = leading_zeros::<W>(size);
    let normal = shifted_left::<W>(size, _mm512_and_si512(zeros, constant(top)));
    let fraction =
        _mm512_and_si512(shifted_right::<W>(normal, constant(unused)), splat(W::mask(W::FRACTION)));
    let exponent = _mm512_and_si512(sub::<W>(constant(unit + unused), zeros), splat(W::mask(W::EXPONENT)));
    let exponent = shifted_left::<W>(exponent, constant(W::FRACTION));
    let sign = shifted_left::<W>(sign, constant(top));
    where_not_zero::<W>(size, _mm512_or_si512(_mm512_or_si512(sign, exponent), fraction))
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn where_not_zero<W: Word>(condition: V, v: V) -> V {
    match W::BITS {
        64 => _mm512_maskz_mov_epi64(_mm512_test_epi64_mask(condition, condition), v),
        32 => _mm512_maskz_mov_epi32(_mm512_test_epi32_mask(condition, condition), v),
        _ => _mm512_maskz_mov_epi16(_mm512_test_epi16_mask(condition, condition), v),
    }
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn span<W: Word>(words: &[u8], span: &mut Span) {
    let (groups, rest) = words.as_chunks::<GROUP>();
    if W::BITS != 64 {
        return scalar::span::<W>(words, span);
    }
    let (mut lowest, mut greatest) = (_mm512_set1_epi64(i64::MAX), _mm512_setzero_si512());
    let mut odd = 0;
    for group in groups {
        let v = load(group);
        let some = _mm512_test_epi64_mask(v, v);
        let top = _mm512_set1_epi64(0x7ff);
        let exponent = _mm512_and_si512(_mm512_srli_epi64::<52>(v), top);
        odd |= some & (_mm512_cmpeq_epi64_mask(exponent, top) | _mm512_testn_epi64_mask(exponent, exponent));
        let fraction =
            _mm512_or_si512(_mm512_and_si512(v, _mm512_set1_epi64((1 << 52) - 1)), splat(1_u64 << 52));
        let lowest_bit = _mm512_and_si512(fraction, sub::<u64>(_mm512_setzero_si512(), fraction));
        let zeros = sub::<u64>(splat(63_u64), _mm512_lzcnt_epi64(lowest_bit));
        lowest = _mm512_mask_min_epu64(lowest, some, lowest, add::<u64>(exponent, zeros));
        greatest = _mm512_mask_max_epu64(greatest, some, greatest, exponent);
        let round = _mm512_mask_cmpge_epu64_mask(some, zeros, splat(u64::from(ROUND_BITS)));
        span.round += round.count_ones();
        span.floats += some.count_ones();
    }
    span.lowest = span.lowest.min(_mm512_reduce_min_epu64(lowest).min(u32::MAX.into()) as u32);
    span.exponent = span.exponent.max(_mm512_reduce_max_epu64(greatest) as u32);
    span.odd |= odd != 0;
    scalar::span::<W>(rest, span);
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn trailing_zeros<W: Word>(residuals: &Block) -> Widths {
    let mut counts = [0; GROUPS];
    for (eight, groups) in counts.as_chunks_mut().0.iter_mut().zip(residuals.groups().as_chunks::<8>().0) {
        let mut v = [_mm512_setzero_si512(); 8];
        for (v, group) in v.iter_mut().zip(groups) {
            *v = unzigzag::<W>(load(group));
        }
        let mut union = unions(v);
        if W::BITS <= 32 {
            union = _mm512_or_si512(union, _mm512_srli_epi64::<32>(union));
        }
        if W::BITS <= 16 {
            union = _mm512_or_si512(union, _mm512_srli_epi64::<16>(union));
        }
        let union = _mm512_and_si512(union, _mm512_set1_epi64(W::mask(W::BITS).to_u64() as i64));
        let lowest = _mm512_and_si512(union, sub::<u64>(_mm512_setzero_si512(), union));
        let zeros = sub::<u64>(_mm512_set1_epi64(63), _mm512_lzcnt_epi64(lowest));
        let zeros = _mm512_min_epi64(zeros, _mm512_set1_epi64(15));
        store_bytes(eight, where_not_zero::<u64>(union, zeros));
    }
    counts
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn strip<W: Word>(residuals: &mut Block, counts: &Widths) {
    if W::BITS == 16 {
        return scalar::strip::<W>(residuals, counts);
    }
    for (group, count) in residuals.groups_mut().iter_mut().zip(counts) {
        let count = _mm_cvtsi32_si128(i32::from(*count));
        let d = unzigzag::<W>(load(group));
        let half = match W::BITS {
            64 => _mm512_sra_epi64(d, count),
            _ => _mm512_sra_epi32(d, count),
        };
        store(group, zigzag::<W>(half));
    }
}
