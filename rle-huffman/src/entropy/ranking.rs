//! Symbols sorted by frequency.
#![forbid(unsafe_code)]

use super::histogram::Counts;

/// Counts from this one on are sorted by comparison.
const GREAT: usize = 255;

/// The symbols that occur, rarest first; equally frequent ones by value.
pub struct Ranking {
    /// Count and symbol, the symbol in the lowest byte.
    keys: [u32; 256],
    len: usize,
}

impl Ranking {
    /// Uses a counting sort, because most counts are small. The few great ones share the last bucket and are sorted there.
    #[inline(always)]
    pub(crate) fn new(counts: &Counts) -> Self {
        let mut unsorted = [0; 256];
        let mut len = 0;
        for (count, symbol) in counts.iter().zip(0..) {
            // Entries of symbols that do not occur are overwritten by the next one.
            unsorted[len % 256] = count << 8 | symbol;
            len += usize::from(*count > 0);
        }
        let unsorted = &unsorted[..len];
        let place = |key: u32| (key >> 8).min(GREAT as u32) as usize;
        let mut places = [0_u16; GREAT + 1];
        for key in unsorted {
            places[place(*key)] += 1;
        }
        let mut sum = 0;
        for place in &mut places {
            (sum, *place) = (sum + *place, sum);
        }
        let great = usize::from(places[GREAT]);
        let mut keys = [0; 256];
        for key in unsorted {
            let at = &mut places[place(*key)];
            keys[usize::from(*at % 256)] = *key;
            *at += 1;
        }
        keys[great..len].sort_unstable();
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
