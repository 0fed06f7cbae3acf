//! Huffman's code lengths, and the optimal ones within the limit if those exceed it.
#![forbid(unsafe_code)]

use super::{Lengths, Ranking};
use crate::format::MAX_BITS;

/// The code lengths of at least two symbols, in the order of the ranking.
#[inline(always)]
pub(super) fn lengths(ranking: &Ranking) -> Lengths {
    let n = ranking.len();
    let mut weights: Weights = [NONE; 512];
    for (weight, count) in weights.iter_mut().zip(ranking.counts()) {
        *weight = count;
    }
    let lengths = unlimited(&weights, n);
    // The rarest symbol has the longest code.
    if u32::from(lengths[0]) <= MAX_BITS { lengths } else { limited(&weights, n) }
}

/// Sorted weights, followed by [`NONE`].
type Weights = [u32; 512];
/// More than any sum of weights, which is at most 11 times 2^16; twice this does not overflow.
const NONE: u32 = 1 << 30;

/// The sum of the two lightest among the symbols from `symbol` on and the nodes from `node` on, and how many of the two are symbols; symbols win
/// ties. Uses branches, because two symbols mostly follow two symbols, and the next step then need not wait for this one.
#[inline(always)]
fn lightest_two(symbols: &Weights, symbol: usize, nodes: &Weights, node: usize) -> (u32, usize) {
    let [a, b] = [symbol, symbol + 1].map(|at| symbols[at % 512]);
    let [c, d] = [node, node + 1].map(|at| nodes[at % 512]);
    if b <= c {
        (a + b, 2)
    } else if d < a {
        (c + d, 0)
    } else {
        (a + c, 1)
    }
}

/// Huffman's algorithm on sorted weights: symbols and nodes form two sorted queues (van Leeuwen, *On the construction of Huffman trees*, 1976).
#[inline(always)]
fn unlimited(weights: &Weights, n: usize) -> Lengths {
    let mut nodes = [NONE; 512];
    // The parent of each symbol and node. The entry of one that is not taken yet is overwritten when it is.
    let (mut above_symbol, mut above_node) = ([0_u8; 512], [0_u8; 512]);
    let (mut symbol, mut node) = (0, 0);
    for next in 0..n - 1 {
        for ahead in [0, 1] {
            above_symbol[(symbol + ahead) % 512] = next as u8;
            above_node[(node + ahead) % 512] = next as u8;
        }
        let (sum, symbols) = lightest_two(weights, symbol, &nodes, node);
        nodes[next] = sum;
        symbol += symbols;
        node += 2 - symbols;
    }
    let mut depths = [0_u8; 256];
    for node in (0..n - 2).rev() {
        depths[node] = depths[usize::from(above_node[node])] + 1;
    }
    let mut lengths = [0; 256];
    for (length, above) in lengths.iter_mut().zip(above_symbol).take(n) {
        *length = depths[usize::from(above)] + 1;
    }
    lengths
}

/// Package-merge (Larmore and Hirschberg 1990). At each bit, from the last one to the first, forms packages of the two lightest among the symbols
/// and the packages of the next bit. The length of a symbol is the number of bits at which it is taken.
#[cold]
fn limited(weights: &Weights, n: usize) -> Lengths {
    const BITS: usize = MAX_BITS as usize;
    // The number of symbols in the first packages of each bit, by the number of packages.
    let mut symbols_in = [[0_u16; 256]; BITS];
    let mut packages = [NONE; 512];
    for symbols_in in &mut symbols_in {
        let mut next = [NONE; 512];
        let (mut symbol, mut package) = (0, 0);
        for (sum, count) in next.iter_mut().zip(&mut symbols_in[1..]).take(n - 1) {
            let (lightest, symbols) = lightest_two(weights, symbol, &packages, package);
            *sum = lightest.min(NONE);
            symbol += symbols;
            package += 2 - symbols;
            *count = symbol as u16;
        }
        packages = next;
    }
    let mut lengths = [0; 256];
    let mut taken = n - 1;
    for symbols_in in symbols_in.iter().rev() {
        let symbols = usize::from(symbols_in[taken % 256]);
        lengths.iter_mut().take(symbols).for_each(|length| *length += 1);
        taken = (2 * taken).saturating_sub(symbols);
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(counts: &[u32], lengths: &[u8]) -> u64 {
        counts.iter().zip(lengths).map(|(count, length)| u64::from(*count) * u64::from(*length)).sum()
    }

    fn of(counts: &[u32]) -> Lengths {
        let mut all = [0; 256];
        all[..counts.len()].copy_from_slice(counts);
        let lengths = lengths(&Ranking::new(&all));
        let used = &lengths[..counts.len()];
        assert_eq!(
            used.iter().map(|length| 1 << (MAX_BITS - u32::from(*length))).sum::<u32>(),
            1 << MAX_BITS
        );
        assert!(lengths[counts.len()..].iter().all(|length| *length == 0));
        lengths
    }

    #[test]
    fn lengths_are_those_of_huffman() {
        assert_eq!(of(&[1, 1])[..2], [1, 1]);
        assert_eq!(of(&[1, 2, 4, 8])[..4], [3, 3, 2, 1]);
        assert_eq!(of(&[5; 8])[..8], [3; 8]);
        assert_eq!(of(&[3; 256]), [8; 256]);
    }

    #[test]
    fn both_algorithms_cost_the_same_within_the_limit() {
        for seed in 1..60_u32 {
            let mut counts = [0; 200];
            for (i, count) in (1..).zip(&mut counts) {
                *count = 1 + (seed.wrapping_mul(i * i).wrapping_mul(0x9e37_79b9) >> 20) % (20 + seed * 10);
            }
            counts.sort_unstable();
            let mut weights = [NONE; 512];
            weights[..200].copy_from_slice(&counts);
            let (free, bound) = (unlimited(&weights, 200), limited(&weights, 200));
            if u32::from(free[0]) <= MAX_BITS {
                assert_eq!(cost(&counts, &free), cost(&counts, &bound));
            }
        }
    }

    /// The cost of the best code of `counts` (in ascending order) with lengths up to `limit`, by exhaustive search.
    fn best(counts: &[u32], limit: u32, room: u32, least: u32) -> u64 {
        let Some((count, rest)) = counts.split_first() else {
            return if room == 0 { 0 } else { u64::MAX / 2 };
        };
        (1..=least.min(limit))
            .filter(|length| 1 << (limit - length) <= room)
            .map(|length| {
                u64::from(*count) * u64::from(length)
                    + best(rest, limit, room - (1 << (limit - length)), length)
            })
            .min()
            .unwrap_or(u64::MAX / 2)
    }

    #[test]
    fn lengths_at_the_limit_are_the_best() {
        // Fibonacci numbers give the deepest trees.
        let mut fibonacci = [1_u32; 14];
        for i in 2..14 {
            fibonacci[i] = fibonacci[i - 1] + fibonacci[i - 2];
        }
        let lengths = of(&fibonacci);
        assert_eq!(lengths[0], 11);
        assert_eq!(cost(&fibonacci, &lengths), best(&fibonacci, 11, 1 << 11, 11));
        let mut powers = [1_u32; 256];
        for (i, power) in powers.iter_mut().enumerate() {
            *power = 1 << (i / 16);
        }
        of(&powers);
    }
}
