//! Fano's code lengths: recursively splits the symbols, sorted by frequency, into two halves of about the same weight.
#![forbid(unsafe_code)]

use super::{Lengths, Ranking};
use crate::format::MAX_BITS;

/// The code lengths of at least two symbols, in the order of the ranking.
pub(super) fn lengths(ranking: &Ranking) -> Lengths {
    let mut sums = [0; 257];
    for (i, count) in ranking.counts().enumerate() {
        sums[i + 1] = sums[i] + count;
    }
    let mut lengths = [0; 256];
    split(&sums[..=ranking.len()], &mut lengths, 0);
    lengths
}

/// The lengths of the symbols below a node of this depth. `sums` has one more entry than there are symbols: the total weight before each symbol.
///
/// Splits where the halves differ least; of two such places, at the one with fewer rare symbols. No half may get more symbols than it has codes
/// left, so no code exceeds the limit.
fn split(sums: &[u32], lengths: &mut [u8], depth: u32) {
    let n = sums.len() - 1;
    if n < 2 {
        lengths[..n].fill(depth as u8);
        return;
    }
    let codes = 1 << (MAX_BITS - depth - 1);
    let (first, last) = (sums[0], sums[n]);
    let unequal = |at: usize| (2 * sums[at]).abs_diff(first + last);
    let half = sums.partition_point(|sum| 2 * sum < first + last).clamp(1, n - 1);
    let at = if half > 1 && unequal(half - 1) <= unequal(half) { half - 1 } else { half };
    let at = at.clamp(n.saturating_sub(codes).max(1), codes.min(n - 1));
    let (rare, frequent) = lengths.split_at_mut(at);
    split(&sums[..=at], rare, depth + 1);
    split(&sums[at..], frequent, depth + 1);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(counts: &[u32]) -> Lengths {
        let mut all = [0; 256];
        all[..counts.len()].copy_from_slice(counts);
        let lengths = lengths(&Ranking::new(&all));
        let used = &lengths[..counts.len()];
        assert!(used.iter().all(|length| (1..=MAX_BITS).contains(&u32::from(*length))));
        assert_eq!(
            used.iter().map(|length| 1 << (MAX_BITS - u32::from(*length))).sum::<u32>(),
            1 << MAX_BITS
        );
        lengths
    }

    #[test]
    fn the_textbook_example() {
        // Counts 15, 7, 6, 6, 5: Fano's lengths are 2, 2, 2, 3, 3; Huffman's would be 1, 3, 3, 3, 3.
        assert_eq!(of(&[5, 6, 6, 7, 15])[..5], [3, 3, 2, 2, 2]);
    }

    #[test]
    fn lengths_stay_within_the_limit() {
        let powers: [u32; 25] = core::array::from_fn(|i| 1 << i);
        assert_eq!(of(&powers)[24], 1);
        let mut steep = [1; 256];
        steep[255] = 60_000;
        of(&steep);
        of(&[1, 1]);
        of(&[7; 256]);
    }
}
