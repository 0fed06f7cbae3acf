//! The fixed-point domain (format, sections 5 and 6), for words of 64 and of 32 bits.

use super::predict::bytes_of;
use crate::block::{Block, Groups, Widths};
use crate::kernel::{ROUND_BITS, Span, scalar};
use crate::word::Word;
use core::arch::x86_64::*;
use mpress_codec::support::avx2::{
    V, VECTOR, add, each_shifted_left, each_shifted_right, equal, load, shifted_left, shifted_right, sign,
    splat, store, sub, sum, union_of_words, unions, unzigzag, widths_of, zigzag,
};

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn to_fixed<W: Word>(words: &[u8], unit: u32, fixed: &mut [u8]) {
    if W::FRACTION == 0 {
        return scalar::to_fixed::<W>(words, unit, fixed);
    }
    let (vectors, rest) = words.as_chunks::<VECTOR>();
    let (to_vectors, to_rest) = fixed.as_chunks_mut::<VECTOR>();
    for (to, v) in to_vectors.iter_mut().zip(vectors) {
        store(to, fixed_of::<W>(load(v), unit));
    }
    scalar::to_fixed::<W>(rest, unit, to_rest);
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn fixed_of<W: Word>(float: V, unit: u32) -> V {
    let unit = splat(W::of(unit as usize));
    let one = splat(W::of(1).doubled(W::FRACTION));
    let exponent = _mm256_and_si256(shifted_right::<W>(float, W::FRACTION), splat(W::mask(W::EXPONENT)));
    let fraction = _mm256_or_si256(_mm256_and_si256(float, splat(W::mask(W::FRACTION))), one);
    // Only one direction applies: the other shift count is out of range and gives 0, or both counts are 0.
    let up = each_shifted_left::<W>(fraction, sub::<W>(exponent, unit));
    let down = each_shifted_right::<W>(fraction, sub::<W>(unit, exponent));
    let is_zero = equal::<W>(exponent, _mm256_setzero_si256());
    let size = _mm256_andnot_si256(is_zero, _mm256_or_si256(up, down));
    let sign = sign::<W>(float);
    sub::<W>(_mm256_xor_si256(size, sign), sign)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn to_float<W: Word>(fixed: &[u8], unit: u32, words: &mut [u8]) {
    if W::FRACTION == 0 {
        return scalar::to_float::<W>(fixed, unit, words);
    }
    let (vectors, rest) = fixed.as_chunks::<VECTOR>();
    let (to_vectors, to_rest) = words.as_chunks_mut::<VECTOR>();
    for (to, v) in to_vectors.iter_mut().zip(vectors) {
        store(to, float_of::<W>(load(v), unit));
    }
    scalar::to_float::<W>(rest, unit, to_rest);
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn float_of<W: Word>(fixed: V, unit: u32) -> V {
    let top = W::BITS - 1;
    let constant = |number: u32| splat(W::of(number as usize));
    let sign = sign::<W>(fixed);
    let size = sub::<W>(_mm256_xor_si256(fixed, sign), sign);
    let width = widths_of::<W>(size);
    // Moves the highest set bit to the top; 0 stays 0.
    let normal = each_shifted_left::<W>(size, sub::<W>(constant(W::BITS), width));
    let fraction =
        _mm256_and_si256(shifted_right::<W>(normal, top - W::FRACTION), splat(W::mask(W::FRACTION)));
    // A number of one bit more than the fraction has the unit's exponent.
    let exponent = add::<W>(constant(unit.wrapping_sub(W::FRACTION + 1)), width);
    let exponent = shifted_left::<W>(_mm256_and_si256(exponent, splat(W::mask(W::EXPONENT))), W::FRACTION);
    let sign = shifted_left::<W>(sign, top);
    let float = _mm256_or_si256(_mm256_or_si256(sign, exponent), fraction);
    _mm256_andnot_si256(equal::<W>(size, _mm256_setzero_si256()), float)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn span<W: Word>(words: &[u8], span: &mut Span) {
    if W::BITS != 64 {
        return scalar::span::<W>(words, span);
    }
    let zero = _mm256_setzero_si256();
    let (mut lowest, mut greatest, mut odd) = (equal::<u64>(zero, zero), zero, zero);
    let (mut floats, mut round) = (zero, zero);
    let (vectors, rest) = words.as_chunks::<VECTOR>();
    for v in vectors {
        let v = load(v);
        let top = splat(W::mask(W::EXPONENT));
        let exponent = _mm256_and_si256(_mm256_srli_epi64::<52>(v), top);
        let is_zero = equal::<u64>(v, zero);
        // Includes zeros, because of their exponent.
        let is_other = _mm256_or_si256(equal::<u64>(exponent, zero), equal::<u64>(exponent, top));
        odd = _mm256_or_si256(odd, _mm256_andnot_si256(is_zero, is_other));
        let fraction = _mm256_or_si256(_mm256_and_si256(v, splat(W::mask(52))), splat(1_u64 << 52));
        let lowest_bit = _mm256_and_si256(fraction, sub::<u64>(zero, fraction));
        let zeros = sub::<u64>(widths_of::<u64>(lowest_bit), splat(1_u64));
        lowest = _mm256_min_epu32(lowest, _mm256_or_si256(is_other, add::<u64>(exponent, zeros)));
        greatest = _mm256_max_epu32(greatest, _mm256_andnot_si256(is_other, exponent));
        let is_round = _mm256_cmpgt_epi64(zeros, splat(u64::from(ROUND_BITS - 1)));
        round = sub::<u64>(round, _mm256_andnot_si256(is_other, is_round));
        floats = add::<u64>(floats, add::<u64>(splat(1_u64), is_other));
    }
    let lanes = |v: V| {
        let mut bytes = [0; VECTOR];
        store(&mut bytes, v);
        bytes.as_chunks().0.first_chunk::<4>().map_or([0; 4], |lanes| lanes.map(u64::from_le_bytes))
    };
    span.lowest = lanes(lowest).into_iter().fold(span.lowest, |lowest, lane| lowest.min(lane as u32));
    span.exponent = lanes(greatest).into_iter().fold(span.exponent, |most, lane| most.max(lane as u32));
    span.floats += sum(floats) as u32;
    span.round += sum(round) as u32;
    span.odd |= _mm256_testz_si256(odd, odd) == 0;
    scalar::span::<W>(rest, span);
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn trailing_zeros<W: Word>(residuals: &Block) -> Widths {
    let mut fours = [_mm256_setzero_si256(); 8];
    for (pair, groups) in fours.as_chunks_mut::<2>().0.iter_mut().zip(residuals.groups().as_chunks::<8>().0) {
        let mut v = [_mm256_setzero_si256(); 8];
        for (v, group) in v.iter_mut().zip(groups) {
            for half in group.as_chunks().0 {
                *v = _mm256_or_si256(*v, unzigzag::<W>(load(half)));
            }
        }
        for (to, union) in pair.iter_mut().zip(unions(v)) {
            let union = union_of_words::<W>(union);
            let lowest_bit = _mm256_and_si256(union, sub::<u64>(_mm256_setzero_si256(), union));
            // One less than the width; saturates at 0.
            let zeros = _mm256_subs_epu16(widths_of::<u64>(lowest_bit), splat(1_u64));
            *to = _mm256_min_epu8(zeros, splat(15_u64));
        }
    }
    let mut counts = [0; _];
    store(&mut counts, bytes_of(fours));
    counts
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn strip<W: Word>(residuals: &mut Block, counts: &Widths) {
    for (group, count) in residuals.groups_mut().iter_mut().zip(counts) {
        for half in group.as_chunks_mut().0 {
            let d = unzigzag::<W>(load(half));
            // There is no arithmetic shift of 64-bit lanes; a logical shift of the bits XORed with the sign is equivalent.
            let sign = sign::<W>(d);
            let shifted = shifted_right::<W>(_mm256_xor_si256(d, sign), u32::from(*count) % W::BITS);
            store(half, zigzag::<W>(_mm256_xor_si256(shifted, sign)));
        }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn unstrip<W: Word>(residuals: &mut Groups, counts: &Widths) {
    for (group, count) in residuals.iter_mut().zip(counts) {
        for half in group.as_chunks_mut().0 {
            let d = unzigzag::<W>(load(half));
            store(half, zigzag::<W>(shifted_left::<W>(d, u32::from(*count) % W::BITS)));
        }
    }
}
