//! The exact optimal Rice parameter of a block (proof: format, section 7).
#![forbid(unsafe_code)]

use crate::block::{Aligned, Block};
use crate::format::{BLOCK, QUOTIENT_BITS};
use crate::word::Word;

/// One quotient for each word of a block.
pub(crate) type Quotients = Aligned<[u8; BLOCK]>;

/// The residuals shifted by the least parameter that leaves quotients of at most 8 bits, and data to compute the cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draft {
    /// The width of the greatest residual.
    pub(crate) width: u32,
    /// The least parameter.
    pub(crate) least: u32,
    /// The residuals shifted right by `least`. Shifted further, they give the quotients for every greater parameter.
    pub(crate) quotients: Quotients,
    /// The sum of the quotients.
    sum: u32,
}

/// A parameter, and data to compute the length of a block with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    /// The parameter minus the least one.
    pub(crate) above: u32,
    /// The sum of the quotients with this parameter.
    pub(crate) sum: u32,
}

impl Draft {
    pub(crate) const ZERO: Self = Self { width: 0, least: 0, quotients: Aligned([0; BLOCK]), sum: 0 };

    #[inline(always)]
    pub(crate) fn new<W: Word>(residuals: &Block<W>) -> Self {
        let width = residuals.union().width();
        let least = width.saturating_sub(QUOTIENT_BITS);
        let mut quotients = Aligned([0; BLOCK]);
        // Sixteen at a time; otherwise compilers narrow four at a time.
        let (sixteens, _) = residuals.0.as_chunks::<16>();
        for (quotients, residuals) in quotients.0.as_chunks_mut().0.iter_mut().zip(sixteens) {
            *quotients = residuals.map(|residual| (residual >> least).low_byte());
        }
        Self { width, least, quotients, sum: sum(&quotients.0, 0) }
    }

    /// The estimated number of bits for `count` residuals: within one and a half bits per residual.
    #[inline(always)]
    pub(crate) fn estimate(&self, count: u32) -> u32 {
        let above = (self.sum / count.max(1)).checked_ilog2().unwrap_or(0);
        let rice = count * (self.least + above + 1) + (self.sum >> above);
        // The shifted sum exceeds the sum of the shifted quotients by about half per quotient, because of the bits lost.
        rice.saturating_sub(if above > 0 { count / 2 } else { 0 }).min(count * self.width)
    }

    /// The parameter that takes the fewest bits for `count` residuals; the smallest one if there are ties.
    #[inline(always)]
    pub(crate) fn best(&self, count: u32) -> Choice {
        best(&self.quotients.0, self.sum, count, QUOTIENT_BITS - 1)
    }
}

/// The number of bits, at most `most`, to remove from `quotients` so that the codes of `count` of them take the fewest bits; the smallest one
/// if there are ties. The other quotients must be 0; `total` is the sum of all.
#[inline(always)]
pub(crate) fn best<const N: usize>(quotients: &[u8; N], total: u32, count: u32, most: u32) -> Choice {
    // The best one is this one or one of the next two.
    let mut above = (total / count.max(1)).checked_ilog2().unwrap_or(0).saturating_sub(1).min(most);
    let mut here = if above == 0 { total } else { sum(quotients, above) };
    while above < most {
        let next = sum(quotients, above + 1);
        if here - next <= count {
            break;
        }
        (above, here) = (above + 1, next);
    }
    Choice { above, sum: here }
}

/// The sum of all quotients, at most 256, each shifted right by `by` bits, which must be below 8.
#[inline(always)]
pub(crate) fn sum<const N: usize>(quotients: &[u8; N], by: u32) -> u32 {
    // Eight at a time, as four sums of 16 bits: the total is below 2^16.
    const EVEN: u64 = 0x00ff_00ff_00ff_00ff;
    let low = u64::from(0xff_u8 >> by) * 0x0101_0101_0101_0101;
    let sums = quotients.as_chunks().0.iter().fold(0, |sums, eight| {
        let eight = u64::from_le_bytes(*eight) >> by & low;
        sums + (eight & EVEN) + (eight >> 8 & EVEN)
    });
    (sums.wrapping_mul(0x0001_0001_0001_0001) >> 48) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of many shapes: each residual has up to a given number of bits, some of which may be cleared.
    fn blocks() -> impl Iterator<Item = Block<u32>> {
        let mut state = 1_u64;
        (0..3000).map(move |round| {
            let mut block = Block::zeroed();
            for residual in &mut block.0 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let missing = (state >> 59) as u32 % (round % 32 + 1);
                *residual = ((state >> 20) as u32).unbounded_shr(round % 33).unbounded_shr(missing);
            }
            block
        })
    }

    #[test]
    fn the_best_parameter_is_the_best() {
        for block in blocks() {
            for count in [1, 2, 3, 100, 255, 256] {
                let mut block = block;
                block.0[count..].fill(0);
                let cost = |parameter: u32| -> Option<u64> {
                    let quotients = block.0[..count].iter().map(|residual| u64::from(residual >> parameter));
                    let fits = quotients.clone().all(|quotient| quotient < 256);
                    fits.then(|| quotients.map(|quotient| quotient + 1 + u64::from(parameter)).sum())
                };
                let draft = Draft::new(&block);
                let choice = draft.best(count as u32);
                let found = cost(draft.least + choice.above).unwrap();
                assert_eq!(Some(found), (0..32).filter_map(cost).min(), "{count} of {block:?}");
                assert_eq!(
                    found,
                    count as u64 * u64::from(draft.least + choice.above + 1) + u64::from(choice.sum)
                );
                assert!(u64::from(choice.sum) <= 2 * count as u64, "the unary part's bound");
            }
        }
    }

    #[test]
    fn the_estimate_is_near() {
        for block in blocks() {
            let draft = Draft::new(&block);
            let choice = draft.best(256);
            let rice = 256 * (draft.least + choice.above + 1) + choice.sum;
            let exact = rice.min(256 * draft.width);
            assert!(draft.estimate(256).abs_diff(exact) <= 384, "{} for {exact}", draft.estimate(256));
        }
    }
}
