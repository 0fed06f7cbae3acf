//! The fixed-point domain, and references (format, section 5): loops that compilers vectorise, for callers that are compiled for a tier
//! ([`Kernel::apart`](super::Kernel::apart)).
#![forbid(unsafe_code)]

use super::block::{Block, Groups, Widths};
use crate::word::Word;

/// The number of trailing zero bits in a fraction that makes a float round.
const ROUND_BITS: usize = 4;

/// Statistics of some floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// The smallest unit in which one of them is a whole number (format, section 5).
    pub(crate) lowest: u32,
    /// The greatest exponent.
    pub(crate) exponent: u32,
    /// How many are not 0, and how many of those are round.
    pub(crate) floats: u32,
    pub(crate) round: u32,
    /// Whether there are infinities, NaNs, denormals or negative zeros.
    pub(crate) odd: bool,
}

impl Default for Span {
    fn default() -> Self {
        Self { lowest: u32::MAX, exponent: 0, floats: 0, round: 0, odd: false }
    }
}

/// Converts words to fixed point (format, section 5).
#[inline(always)]
pub(crate) fn to_fixed<W: Word>(words: &[u8], unit: u32, fixed: &mut [u8]) {
    for (to, word) in W::split_mut(fixed).0.iter_mut().zip(W::split(words).0) {
        *to = W::from_bytes(*word).to_fixed(unit).to_bytes();
    }
}

#[inline(always)]
pub(crate) fn to_float<W: Word>(fixed: &[u8], unit: u32, words: &mut [u8]) {
    for (to, value) in W::split_mut(words).0.iter_mut().zip(W::split(fixed).0) {
        *to = W::from_bytes(*value).to_float(unit).to_bytes();
    }
}

/// Adds some floats to the statistics. Without branches, so that compilers vectorise it. There are few enough words for a word to count them.
#[inline(always)]
pub(crate) fn span<W: Word>(words: &[u8], span: &mut Span) {
    let (mut lowest, mut greatest) = (W::mask(W::BITS), W::ZERO);
    let (mut floats, mut round, mut odd) = (W::ZERO, W::ZERO, W::ZERO);
    for word in W::split(words).0 {
        let word = W::from_bytes(*word);
        let (exponent, zeros) = word.exponent_and_zeros();
        // Excludes zeros, denormals, infinities and NaNs.
        let is_normal = (exponent != W::ZERO) & (exponent != W::mask(W::EXPONENT));
        lowest = lowest.min(exponent.plus(zeros).or(W::mask(W::BITS).only_if(!is_normal)));
        greatest = greatest.max(exponent.only_if(is_normal));
        floats = floats.plus(W::ONE.only_if(is_normal));
        round = round.plus(W::ONE.only_if(is_normal & (zeros >= W::of(ROUND_BITS))));
        odd = odd.or(word.only_if(!is_normal));
    }
    span.lowest = span.lowest.min(lowest.to_u64().min(u32::MAX.into()) as u32);
    span.exponent = span.exponent.max(greatest.to_u64() as u32);
    span.floats += floats.to_u64() as u32;
    span.round += round.to_u64() as u32;
    span.odd |= odd != W::ZERO;
}

/// The number of trailing zeros common to all differences of each group, at most 15; 0 if all differences are 0.
#[inline(always)]
pub(crate) fn trailing_zeros<W: Word>(residuals: &Block) -> Widths {
    let mut counts = [0; _];
    for (count, group) in counts.iter_mut().zip(residuals.groups()) {
        let union = W::split(group).0.iter().fold(W::ZERO, |u, word| u.or(W::from_bytes(*word).unzigzag()));
        *count = if union == W::ZERO { 0 } else { union.trailing().min(15) as u8 };
    }
    counts
}

/// Shifts `counts` trailing zeros out of the differences of each group.
#[inline(always)]
pub(crate) fn strip<W: Word>(residuals: &mut Block, counts: &Widths) {
    for (group, count) in residuals.groups_mut().iter_mut().zip(counts) {
        for word in W::split_mut(group).0 {
            *word = W::from_bytes(*word).unzigzag().halved(u32::from(*count)).zigzag().to_bytes();
        }
    }
}

/// The inverse of [`strip`].
#[inline(always)]
pub(crate) fn unstrip<W: Word>(residuals: &mut Groups, counts: &Widths) {
    for (group, count) in residuals.iter_mut().zip(counts) {
        for word in W::split_mut(group).0 {
            *word = W::from_bytes(*word).unzigzag().doubled(u32::from(*count)).zigzag().to_bytes();
        }
    }
}

/// The differences between words and those of a reference, zigzagged.
#[inline(always)]
pub(crate) fn against<W: Word>(words: &[u8], reference: &[u8], residuals: &mut Groups) {
    let residuals = W::split_mut(residuals.as_flattened_mut()).0;
    for ((to, word), other) in residuals.iter_mut().zip(W::split(words).0).zip(W::split(reference).0) {
        *to = W::from_bytes(*word).minus(W::from_bytes(*other)).zigzag().to_bytes();
    }
}

/// The inverse of [`against`], in place.
#[inline(always)]
pub(crate) fn undo_against<W: Word>(reference: &[u8], residuals: &mut Groups) {
    let residuals = W::split_mut(residuals.as_flattened_mut()).0;
    for (word, other) in residuals.iter_mut().zip(W::split(reference).0) {
        *word = W::from_bytes(*word).unzigzag().plus(W::from_bytes(*other)).to_bytes();
    }
}

/// The differences between words and those of a reference.
#[inline(always)]
pub(crate) fn minus<W: Word>(words: &[u8], reference: &[u8], differences: &mut [u8]) {
    let differences = W::split_mut(differences).0;
    for ((to, word), other) in differences.iter_mut().zip(W::split(words).0).zip(W::split(reference).0) {
        *to = W::from_bytes(*word).minus(W::from_bytes(*other)).to_bytes();
    }
}

/// Adds zigzagged differences to others.
#[inline(always)]
pub(crate) fn add_zigzagged<W: Word>(others: &Block, residuals: &mut Groups) {
    for (to, other) in W::split_mut(residuals.as_flattened_mut()).0.iter_mut().zip(W::split(&others.0).0) {
        let difference = W::from_bytes(*to).unzigzag().plus(W::from_bytes(*other).unzigzag());
        *to = difference.zigzag().to_bytes();
    }
}
