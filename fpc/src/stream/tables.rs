//! A decoder's tables, which clears only the entries that streams have written to.
//!
//! A wire of a few values may require the largest tables. Decoding it must not take as long as clearing 512 MiB.
#![forbid(unsafe_code)]

use super::predictor::Predictor;
use super::{TableLevel, WIDTH};

/// The entries of a stream with fewer than one value per `FEW` entries are cleared one by one. Otherwise the whole tables are cleared, which is at
/// most 4 KiB per value and brings them into the cache for the next stream.
const FEW: usize = 256;

/// Memory for tables of any level for which it is large enough.
#[derive(Clone, Debug)]
pub(super) struct Tables<M> {
    memory: M,
    /// Words before this may be nonzero.
    dirty: usize,
    /// Words from `dirty` up to this are zeros; later ones have their original contents.
    known: usize,
}

impl<M: AsMut<[u64]>> Tables<M> {
    /// Tables in memory with any contents.
    pub(super) fn new(memory: M) -> Self {
        Self { memory, dirty: 0, known: 0 }
    }

    /// Returns predictors in the start state. All entries count as written to unless [`learned`](Self::learned) is called.
    pub(super) fn start(&mut self, level: TableLevel) -> Predictor<'_> {
        let words = level.words();
        let memory = self.memory.as_mut();
        memory[..self.dirty].fill(0);
        if self.known < words {
            memory[self.known..words].fill(0);
            self.known = words;
        }
        self.dirty = words;
        Predictor::new(&mut memory[..words])
    }

    /// Records the values that the predictors have learned since.
    pub(super) fn learned(&mut self, level: TableLevel, values: &[[u8; WIDTH]]) {
        if values.len() < level.words() / 2 / FEW {
            Predictor::new(&mut self.memory.as_mut()[..level.words()]).forget(values);
            self.dirty = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use std::vec;
    use std::vec::Vec;

    #[test]
    fn a_stream_finds_zeros_and_a_short_one_leaves_them() {
        let level = |level| TableLevel::new(level).unwrap();
        let mut tables = Tables::new(vec![5; level(12).words()]);
        for (of, count) in
            [(10, 3), (12, 20), (8, 1000), (8, 31), (12, 511), (11, 512), (9, 0), (12, 4000), (1, 1)]
        {
            let values: Vec<_> =
                (0..count).map(|i| f64::to_le_bytes(f64::from(i * i + 1).sqrt() * 1e3)).collect();
            let words = level(of).words();
            let mut predictor = tables.start(level(of));
            assert!(predictor.knows_nothing(), "level {of}, {count} values");
            values.iter().for_each(|value| {
                predictor.step(|_, _| u64::from_le_bytes(*value));
            });
            tables.learned(level(of), &values);
            let is_short = count < (1 << of) / FEW as i32;
            let has_zeros = tables.memory[..words].iter().all(|word| *word == 0);
            assert_eq!(
                (has_zeros, tables.dirty == 0),
                (is_short || count == 0, is_short),
                "level {of}, {count} values"
            );
            assert!(tables.known >= words && tables.memory[tables.known..].iter().all(|word| *word == 5));
        }
    }
}
