//! The fixed-point domain (format, section 5).

use crate::kernel::block::{Block, Groups, Widths};
use crate::kernel::{ROUND_BITS, Span};
use crate::word::Word;

#[inline(always)]
pub(in crate::kernel) fn to_fixed<W: Word>(words: &[u8], unit: u32, fixed: &mut [u8]) {
    for (to, word) in W::split_mut(fixed).0.iter_mut().zip(W::split(words).0) {
        *to = W::from_bytes(*word).to_fixed(unit).to_bytes();
    }
}

#[inline(always)]
pub(in crate::kernel) fn to_float<W: Word>(fixed: &[u8], unit: u32, words: &mut [u8]) {
    for (to, value) in W::split_mut(words).0.iter_mut().zip(W::split(fixed).0) {
        *to = W::from_bytes(*value).to_float(unit).to_bytes();
    }
}

#[inline(always)]
pub(in crate::kernel) fn span<W: Word>(words: &[u8], span: &mut Span) {
    for word in W::split(words).0 {
        let word = W::from_bytes(*word);
        if word == W::ZERO {
            continue;
        }
        match word.exponent_and_zeros() {
            Some((exponent, zeros)) => {
                span.lowest = span.lowest.min(exponent + zeros);
                span.exponent = span.exponent.max(exponent);
                span.round += u32::from(zeros >= ROUND_BITS);
                span.floats += 1;
            }
            None => span.odd = true,
        }
    }
}

#[inline(always)]
pub(in crate::kernel) fn trailing_zeros<W: Word>(residuals: &Block) -> Widths {
    residuals.groups().map(|group| {
        let union = W::split(&group).0.iter().fold(W::ZERO, |u, word| u.or(W::from_bytes(*word).unzigzag()));
        if union == W::ZERO { 0 } else { union.trailing().min(15) as u8 }
    })
}

#[inline(always)]
pub(in crate::kernel) fn strip<W: Word>(residuals: &mut Block, counts: &Widths) {
    for (group, count) in residuals.groups_mut().iter_mut().zip(counts) {
        for word in W::split_mut(group).0 {
            *word = W::from_bytes(*word).unzigzag().halved(u32::from(*count)).zigzag().to_bytes();
        }
    }
}

#[inline(always)]
pub(in crate::kernel) fn unstrip<W: Word>(residuals: &mut Groups, counts: &Widths) {
    for (group, count) in residuals.iter_mut().zip(counts) {
        for word in W::split_mut(group).0 {
            *word = W::from_bytes(*word).unzigzag().doubled(u32::from(*count)).zigzag().to_bytes();
        }
    }
}
