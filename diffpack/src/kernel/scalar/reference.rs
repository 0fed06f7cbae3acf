//! Words to residuals and back with those of a reference beside them (format, section 5).

use crate::kernel::block::{Block, Groups};
use crate::word::Word;

#[inline(always)]
pub(in crate::kernel) fn against<W: Word>(words: &[u8], reference: &[u8], residuals: &mut Groups) {
    let residuals = W::split_mut(residuals.as_flattened_mut()).0;
    for ((to, word), other) in residuals.iter_mut().zip(W::split(words).0).zip(W::split(reference).0) {
        *to = W::from_bytes(*word).minus(W::from_bytes(*other)).zigzag().to_bytes();
    }
}

#[inline(always)]
pub(in crate::kernel) fn undo_against<W: Word>(reference: &[u8], residuals: &mut Groups) {
    let residuals = W::split_mut(residuals.as_flattened_mut()).0;
    for (word, other) in residuals.iter_mut().zip(W::split(reference).0) {
        *word = W::from_bytes(*word).unzigzag().plus(W::from_bytes(*other)).to_bytes();
    }
}

#[inline(always)]
pub(in crate::kernel) fn minus<W: Word>(words: &[u8], reference: &[u8], differences: &mut [u8]) {
    let differences = W::split_mut(differences).0;
    for ((to, word), other) in differences.iter_mut().zip(W::split(words).0).zip(W::split(reference).0) {
        *to = W::from_bytes(*word).minus(W::from_bytes(*other)).to_bytes();
    }
}

#[inline(always)]
pub(in crate::kernel) fn add_zigzagged<W: Word>(others: &Block, residuals: &mut Groups) {
    for (to, other) in W::split_mut(residuals.as_flattened_mut()).0.iter_mut().zip(W::split(&others.0).0) {
        let difference = W::from_bytes(*to).unzigzag().plus(W::from_bytes(*other).unzigzag());
        *to = difference.zigzag().to_bytes();
    }
}
