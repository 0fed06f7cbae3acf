//! Elements to residuals and back, and the operations for choosing widths and lanes.

use super::vector::{add_where_agreed, magnitude, pick, starting_at, sum};
use crate::lanes::block::{Block, Widths};
use crate::lanes::format::{AGREEMENT, GROUP, GROUPS};
use crate::lanes::past::{BEFORE, Past, Row};
use crate::lanes::probe::Sample;
use crate::lanes::window::View;
use crate::lanes::{head, probe};
use crate::word::Word;
use core::arch::x86_64::*;
use mpress_codec_support::avx512::{
    V, add, leading_zeros as zeros, load, store, sub, unions, unzigzag, zigzag,
};

/// The prediction for the next element of a lane, from an element and its difference from the one before.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn prediction<W: Word>(element: V, difference: V, previous: V) -> V {
    let drifting = add::<W>(difference, sub::<W>(difference, previous));
    add_where_agreed::<W>(element, drifting, difference, previous, AGREEMENT)
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn residuals<W: Word>(window: View<'_>, lanes: usize, residuals: &mut Block) {
    let row = |steps| window.back::<W>(steps, lanes).iter();
    let rows = row(0).zip(row(1)).zip(row(2).zip(row(3)));
    for (residual, ((block, first), (second, third))) in residuals.0.iter_mut().zip(rows) {
        let (first, second, third) = (load(first), load(second), load(third));
        let prediction = prediction::<W>(first, sub::<W>(first, second), sub::<W>(second, third));
        store(residual, zigzag::<W>(sub::<W>(load(block), prediction)));
    }
}

/// The words one step before those of a group are in two consecutive groups, always at the same two offsets. All loads are of whole groups, as they
/// were stored, so they need not wait for stores to reach the cache.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn restore<W: Word>(residuals: &Block, lanes: usize, past: &mut Past) {
    let groups = lanes.div_ceil(W::PER_GROUP).min(BEFORE);
    let numbers = starting_at::<W>(groups * W::PER_GROUP - lanes.min(groups * W::PER_GROUP));
    for (i, residual) in residuals.0.iter().enumerate() {
        let at = BEFORE + i;
        let back = |row: &Row| pick::<W>(load(&row[at - groups]), numbers, load(&row[at - groups + 1]));
        let element = add::<W>(back(&past.predictions), unzigzag::<W>(load(residual)));
        let difference = sub::<W>(element, back(&past.elements));
        let prediction = prediction::<W>(element, difference, back(&past.differences));
        store(&mut past.elements[at], element);
        store(&mut past.differences[at], difference);
        store(&mut past.predictions[at], prediction);
    }
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn widths<W: Word>(residuals: &Block) -> Widths {
    let mut groups = [_mm512_setzero_si512(); GROUPS];
    for (v, group) in groups.iter_mut().zip(&residuals.0) {
        *v = load(group);
    }
    let mut union = unions(groups);
    if W::BITS == 32 {
        let low = _mm512_set1_epi64(0xffff_ffff);
        union = _mm512_and_si512(_mm512_or_si512(union, _mm512_srli_epi64::<32>(union)), low);
    }
    let widths = _mm512_sub_epi64(_mm512_set1_epi64(64), _mm512_lzcnt_epi64(union));
    let nonzero = _mm512_test_epi64_mask(union, union);
    let widths = _mm512_maskz_max_epu64(nonzero, widths, _mm512_set1_epi64(head::least::<W>().into()));
    _mm_cvtsi128_si64(_mm512_cvtepi64_epi8(widths)).to_le_bytes()
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn bits<W: Word>(samples: &[&Sample], lanes: usize) -> u32 {
    let mut all_zeros = _mm512_setzero_si512();
    for sample in samples {
        let row = |steps| load(probe::back::<W>(sample, steps, lanes));
        let (element, first, second) = (row(0), row(1), row(2));
        let second_difference = sub::<W>(sub::<W>(element, first), sub::<W>(first, second));
        all_zeros = add::<W>(all_zeros, zeros::<W>(magnitude::<W>(second_difference)));
    }
    (samples.len() * 8 * GROUP) as u32 - sum::<W>(all_zeros)
}
