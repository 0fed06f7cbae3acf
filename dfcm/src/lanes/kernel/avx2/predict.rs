//! Elements to residuals and back.

use super::vector::{pick, starting_at, where_agreed};
use crate::lanes::block::Block;
use crate::lanes::format::{AGREEMENT, GROUP};
use crate::lanes::past::{BEFORE, Past, Row};
use crate::lanes::window::View;
use crate::word::Word;
use mpress_codec_support::avx2::{Bytes, V, VECTOR, add, load, store, sub, unzigzag, zigzag};

/// The number of vectors in the groups of a [`Row`] before the block.
const BEFORE_BLOCK: usize = BEFORE * GROUP / VECTOR;

/// The prediction for the next element of a lane, from an element and its difference from the one before.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn prediction<W: Word>(element: V, difference: V, previous: V) -> V {
    let drifting = add::<W>(difference, sub::<W>(difference, previous));
    add::<W>(element, where_agreed::<W>(drifting, difference, previous, AGREEMENT))
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn residuals<W: Word>(window: View<'_>, lanes: usize, residuals: &mut Block) {
    let row = |steps| vectors(window.back::<W>(steps, lanes).as_flattened()).iter();
    let rows = row(0).zip(row(1)).zip(row(2).zip(row(3)));
    for (residual, ((block, first), (second, third))) in
        vectors_mut(residuals.bytes_mut()).iter_mut().zip(rows)
    {
        let (first, second, third) = (load(first), load(second), load(third));
        let prediction = prediction::<W>(first, sub::<W>(first, second), sub::<W>(second, third));
        store(residual, zigzag::<W>(sub::<W>(load(block), prediction)));
    }
}

/// Loads only whole vectors, as they were stored; see the AVX-512 kernel for the reason.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
pub(super) fn restore<W: Word>(residuals: &Block, lanes: usize, past: &mut Past) {
    let step = lanes * W::WIDTH;
    let back = step.div_ceil(VECTOR).min(BEFORE_BLOCK);
    let numbers = starting_at((back * VECTOR).saturating_sub(step) / 4);
    let (elements, differences) = (row_mut(&mut past.elements), row_mut(&mut past.differences));
    let predictions = row_mut(&mut past.predictions);
    for (i, residual) in vectors(residuals.0.as_flattened()).iter().enumerate() {
        let at = BEFORE_BLOCK + i;
        let earlier = |row: &[Bytes]| pick(load(&row[at - back]), numbers, load(&row[at - back + 1]));
        let element = add::<W>(earlier(predictions), unzigzag::<W>(load(residual)));
        let difference = sub::<W>(element, earlier(elements));
        let prediction = prediction::<W>(element, difference, earlier(differences));
        store(&mut elements[at], element);
        store(&mut differences[at], difference);
        store(&mut predictions[at], prediction);
    }
}

fn vectors(bytes: &[u8]) -> &[Bytes] {
    bytes.as_chunks().0
}

fn vectors_mut(bytes: &mut [u8]) -> &mut [Bytes] {
    bytes.as_chunks_mut().0
}

fn row_mut(row: &mut Row) -> &mut [Bytes] {
    vectors_mut(row.as_flattened_mut())
}
