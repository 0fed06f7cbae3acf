//! Symbols by how often they occur.
#![forbid(unsafe_code)]

use super::histogram::Counts;

/// The symbols that occur, the rarest first; equally frequent ones by their value.
pub struct Ranking {
    /// Count and symbol, the symbol in the lowest byte.
    keys: [u32; 256],
    len: usize,
}

impl Ranking {
    /// Sorts by counting, a byte of the counts at a time: short planes have small counts, and one byte of them.
    #[inline(always)]
    pub(crate) fn new(counts: &Counts) -> Self {
        let mut keys = [0; 256];
        let mut len = 0;
        for (count, symbol) in counts.iter().zip(0..) {
            // Symbols that do not occur are overwritten by the next.
            keys[len % 256] = count << 8 | symbol;
            len += usize::from(*count > 0);
        }
        let greatest = counts.iter().fold(0, |greatest, count| greatest.max(*count));
        let mut shift = 8;
        while shift < 32 && greatest >> (shift - 8) > 0 {
            keys = by_byte(&keys[..len], shift);
            shift += 8;
        }
        Self { keys, len }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn counts(&self) -> impl Iterator<Item = u32> {
        self.keys[..self.len].iter().map(|key| key >> 8)
    }

    pub(crate) fn symbols(&self) -> impl Iterator<Item = u8> {
        self.keys[..self.len].iter().map(|key| *key as u8)
    }
}

/// The keys sorted by the byte above bit `shift`, in their order where that is the same.
#[inline(always)]
fn by_byte(keys: &[u32], shift: u32) -> [u32; 256] {
    let byte = |key: u32| usize::from((key >> shift) as u8);
    let mut places = [0_u16; 256];
    for key in keys {
        places[byte(*key)] += 1;
    }
    let mut sum = 0;
    for place in &mut places {
        (sum, *place) = (sum + *place, sum);
    }
    let mut sorted = [0; 256];
    for key in keys {
        let place = &mut places[byte(*key)];
        sorted[usize::from(*place % 256)] = *key;
        *place += 1;
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use std::vec::Vec;

    #[test]
    fn rare_symbols_come_first() {
        let mut counts = [0; 256];
        for (symbol, count) in [(3, 70_000), (200, 5), (7, 5), (255, 300), (0, 256)] {
            counts[symbol] = count;
        }
        let ranking = Ranking::new(&counts);
        assert_eq!(ranking.symbols().collect::<Vec<_>>(), [7, 200, 0, 255, 3]);
        assert_eq!(ranking.counts().collect::<Vec<_>>(), [5, 5, 256, 300, 70_000]);
        let all = Ranking::new(&core::array::from_fn(|i| 1000 - i as u32));
        assert!(all.len() == 256 && all.symbols().eq((0..=255).rev()));
    }
}
