//! The options of a block and their costs (CCSDS 121.0-B-3, sections 3 and 5).
#![forbid(unsafe_code)]

use crate::format::QUOTIENT_BITS;
use crate::parameter::{self, Choice};

/// The option ids at the start of a block: numbers of `len` bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ids {
    pub(super) len: u32,
}

impl Ids {
    /// The id of zero blocks; followed by a one, of the second extension.
    pub(super) const LOW_ENTROPY: u32 = 0;

    /// The id of uncompressed blocks.
    pub(super) const fn uncompressed(self) -> u32 {
        (1 << self.len) - 1
    }

    /// The id of blocks with `parameter` bits split off each sample; 0 is the fundamental sequence.
    pub(super) const fn split(parameter: u32) -> u32 {
        parameter + 1
    }

    /// The greatest parameter; `None` if there is none.
    const fn greatest_parameter(self) -> Option<u32> {
        (1_u32 << self.len).checked_sub(3)
    }
}

/// The option of a nonzero block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    Split(u32),
    SecondExtension,
    Uncompressed,
}

/// The coding of a block that takes the fewest bits. If `first` is 1, a reference sample replaces the first residual, which is not coded and must be
/// 0.
#[inline(always)]
pub(super) fn best<const J: usize>(residuals: &[u32; J], first: usize, bits: u32, ids: Ids) -> Coding {
    let count = (J - first) as u32;
    let (mut coding, mut cost) = (Coding::Uncompressed, count * bits);
    let width = 32 - residuals.iter().fold(0, |union, residual| union | residual).leading_zeros();
    // As in the Rice codec, no better parameter is below this: with one, a single quotient would cost more than the at most two bits per residual of
    // the best parameter.
    let least = width.saturating_sub(QUOTIENT_BITS);
    let mut quotients = [0; J];
    for (quotient, residual) in quotients.iter_mut().zip(residuals) {
        *quotient = (residual >> least) as u8;
    }
    let sum = parameter::sum(&quotients, 0);
    if let Some(most) = ids.greatest_parameter().and_then(|greatest| greatest.checked_sub(least)) {
        let Choice { above, sum } = parameter::best(&quotients, sum, count, most.min(QUOTIENT_BITS - 1));
        let split_cost = count * (least + above + 1) + sum;
        if split_cost < cost {
            (coding, cost) = (Coding::Split(least + above), split_cost);
        }
    }
    // With larger residuals it is never the best option (`docs/format/rice.md`, section 10).
    if least == 0 && sum < 4 * count && second_extension_cost(residuals) < u64::from(cost) {
        coding = Coding::SecondExtension;
    }
    coding
}

/// The cost of the second extension, including the bit after the id.
fn second_extension_cost(residuals: &[u32]) -> u64 {
    let pairs = residuals.as_chunks().0.iter();
    1 + pairs.map(|pair| pair_code(*pair) + 1).sum::<u64>()
}

/// The number of a pair: pairs are ordered by their sums, then by their second residuals.
#[inline(always)]
pub(super) fn pair_code([first, second]: [u32; 2]) -> u64 {
    let sum = u64::from(first) + u64::from(second);
    sum * (sum + 1) / 2 + u64::from(second)
}

/// Below this pair number, a table gives the sum of a pair.
const PAIRS: usize = 64;

/// The inverse of [`pair_code`].
#[inline(always)]
pub(super) fn pair(code: u32) -> [u32; 2] {
    static SUMS: [u8; PAIRS] = {
        let mut sums = [0; PAIRS];
        let (mut sum, mut code) = (0, 0);
        while code < PAIRS {
            if (sum + 1) * (sum + 2) / 2 <= code {
                sum += 1;
            }
            sums[code] = sum as u8;
            code += 1;
        }
        sums
    };
    let sum = match SUMS.get(code as usize) {
        Some(sum) => u32::from(*sum),
        // The sum is the integer part of the root of x^2 + x = 2 code.
        None => ((1 + 8 * u64::from(code)).isqrt() as u32 - 1) / 2,
    };
    let second = code - (u64::from(sum) * (u64::from(sum) + 1) / 2) as u32;
    [sum - second, second]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ccsds::Parameters;

    #[test]
    fn pairs_have_numbers() {
        let (mut first, mut second) = (0, 0);
        for code in 0..10_000 {
            assert_eq!((pair_code([first, second]), pair(code)), (u64::from(code), [first, second]));
            (first, second) = if first == 0 { (second + 1, 0) } else { (first - 1, second + 1) };
        }
        for code in [u32::MAX, u32::MAX - 1, 1 << 31] {
            assert_eq!(pair_code(pair(code)), code.into());
        }
    }

    #[test]
    fn the_best_coding_is_the_best() {
        let mut state = 1_u64;
        let mut residuals = [0; 64];
        for round in 0..20_000_u32 {
            let bits = round % 32 + 1;
            for residual in &mut residuals {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let missing = (state >> 58) as u32 % (round / 32 % 40 + 1);
                *residual = (state as u32 >> (32 - bits)).unbounded_shr(missing);
            }
            check(residuals.first_chunk::<8>().unwrap(), bits);
            check(residuals.first_chunk::<16>().unwrap(), bits);
            check(&residuals, bits);
        }
    }

    fn check<const J: usize>(residuals: &[u32; J], bits: u32) {
        for first in [0, 1] {
            let mut residuals = *residuals;
            residuals[..first].fill(0);
            let parameters = Parameters::new(bits).unwrap();
            for parameters in [Some(parameters), parameters.with_restricted()].into_iter().flatten() {
                let ids = parameters.ids();
                let cost = |coding| -> u64 {
                    let each = |cost: &dyn Fn(u32) -> u64| {
                        residuals[first..].iter().map(|residual| cost(*residual)).sum()
                    };
                    match coding {
                        Coding::Split(parameter) => {
                            each(&|residual| u64::from((residual >> parameter) + 1 + parameter))
                        }
                        Coding::SecondExtension => second_extension_cost(&residuals),
                        Coding::Uncompressed => each(&|_| u64::from(bits)),
                    }
                };
                let greatest = ids.greatest_parameter();
                let split =
                    (0..32).take_while(|parameter| greatest.is_some_and(|greatest| *parameter <= greatest));
                // Pair numbers fit in 64 bits only for small residuals.
                let small = residuals.iter().all(|residual| *residual < 1 << 16);
                let others =
                    [Coding::Uncompressed, Coding::SecondExtension].into_iter().take(1 + usize::from(small));
                let least =
                    split.map(|parameter| cost(Coding::Split(parameter))).chain(others.map(cost)).min();
                let found = best(&residuals, first, bits, ids);
                assert_eq!(Some(cost(found)), least, "{residuals:?}, {bits} bits, {found:?}");
            }
        }
    }
}
