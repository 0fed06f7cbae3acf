//! The mapping of words to residuals, which should be small, so that Rice codes are short (format, section 4).
#![forbid(unsafe_code)]

use crate::block::Block;
use crate::kernel::Kernel;
use crate::word::Word;

/// The mapping of words to residuals. Rice codes are short for small residuals, so choose the mapping that makes them small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mapping {
    /// The words themselves: small unsigned integers.
    Unsigned,
    /// Small integers of either sign.
    Signed,
    /// Differences from the previous word: smooth or sorted integers.
    Delta,
    /// Distances above the block's least word: integers in a narrow range, in any order.
    Offset,
}

impl Mapping {
    /// All mappings in the order of their codes on the wire.
    pub const ALL: &[Self] = &[Self::Unsigned, Self::Signed, Self::Delta, Self::Offset];

    /// A short name for reports and settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unsigned => "unsigned",
            Self::Signed => "signed",
            Self::Delta => "delta",
            Self::Offset => "offset",
        }
    }

    pub(crate) const fn code(self) -> u8 {
        self as u8
    }

    /// The mapping with this two-bit code.
    pub(crate) const fn from_code(code: u8) -> Self {
        Self::ALL[(code & 3) as usize]
    }

    /// The number of bytes that the mapping stores before a block.
    pub(crate) const fn reference_len<W: Word>(self) -> usize {
        if matches!(self, Self::Offset) { W::WIDTH } else { 0 }
    }
}

/// The mapping of a block and its reference.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mapped<W> {
    pub(crate) mapping: Mapping,
    /// The word before the block for differences, the least word for an offset.
    pub(crate) reference: W,
}

impl<W: Word> Mapped<W> {
    /// Computes the residuals of the first `count` words, followed by zeros. `befores` has the word before each word.
    #[inline(always)]
    pub(crate) fn residuals(
        self,
        words: &Block<W>,
        befores: &Block<W>,
        count: usize,
        residuals: &mut Block<W>,
    ) {
        let Self { mapping, reference } = self;
        let pairs = residuals.0.iter_mut().zip(&words.0);
        match mapping {
            Mapping::Unsigned => pairs.for_each(|(residual, word)| *residual = *word),
            Mapping::Signed => pairs.for_each(|(residual, word)| *residual = word.zigzag()),
            Mapping::Offset => pairs.for_each(|(residual, word)| *residual = word.minus(reference)),
            Mapping::Delta => {
                pairs
                    .zip(&befores.0)
                    .for_each(|((residual, word), before)| *residual = word.minus(*before).zigzag());
            }
        }
        residuals.clear_behind(count);
    }

    /// Turns residuals back into words.
    #[inline(always)]
    pub(crate) fn words<K: Kernel>(self, kernel: K, residuals: &mut Block<W>) {
        let Self { mapping, reference } = self;
        let words = residuals.0.iter_mut();
        match mapping {
            Mapping::Unsigned => {}
            Mapping::Signed => words.for_each(|word| *word = word.unzigzag()),
            Mapping::Offset => words.for_each(|word| *word = word.plus(reference)),
            Mapping::Delta => kernel.undo_delta(residuals, reference),
        }
    }
}

/// The least of the first `count` words.
#[inline(always)]
pub(crate) fn least<W: Word>(words: &Block<W>, count: usize) -> W {
    match count {
        // A length that the compiler knows.
        crate::format::BLOCK => words.0.iter().fold(words.0[0], |least, word| least.min(*word)),
        _ => words.0.iter().take(count).fold(words.0[0], |least, word| least.min(*word)),
    }
}
