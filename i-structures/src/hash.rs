//! The hash of the tables used for every fetch or message. Keys are a few integers, for which SipHash would take most of the time of a fetch. Each
//! table has its own seed, so a peer cannot choose blocks that collide.

use std::{
    collections::HashMap,
    hash::{BuildHasher, Hasher, RandomState},
};

/// A table with this hash.
pub(crate) type Table<K, V> = HashMap<K, V, Seed>;

/// Creates hashers.
#[derive(Clone, Debug)]
pub(crate) struct Seed(u64);

impl Default for Seed {
    fn default() -> Self {
        Self(RandomState::new().hash_one(0))
    }
}

impl BuildHasher for Seed {
    type Hasher = Folded;

    fn build_hasher(&self) -> Folded {
        Folded(self.0)
    }
}

/// Multiplies each number by a constant, giving 128 bits, and folds these to 64.
#[derive(Debug)]
pub(crate) struct Folded(u64);

impl Hasher for Folded {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        // An odd constant with as many ones as zeros: the fractional part of the golden ratio.
        let product = u128::from(self.0 ^ number) * 0x9e37_79b9_7f4a_7c15;
        self.0 = product as u64 ^ (product >> 64) as u64;
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Shrinks a table that has become much larger than its contents.
pub(crate) fn shrink<K: Eq + std::hash::Hash, V>(table: &mut Table<K, V>) {
    if table.is_empty() {
        table.shrink_to_fit();
    } else if table.capacity() > 64 && table.len() < table.capacity() / 8 {
        table.shrink_to(table.len() * 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::Tag;
    use std::collections::HashSet;

    /// Tables find places by the low bits, and distinguish keys in a group by the highest seven.
    #[test]
    fn tags_of_usual_patterns_spread() {
        let seed = Seed(1);
        for (structures, owners, blocks, step) in
            [(1, 8, 512, 1), (16, 8, 32, 1), (1, 2, 2048, 16), (64, 64, 1, 1)]
        {
            let (mut low, mut high, mut count) = (HashSet::new(), HashSet::new(), 0_usize);
            for structure in 0..structures {
                for owner in 0..owners {
                    for block in 0..blocks {
                        let hash = seed.hash_one(Tag { structure, owner, block: block * step });
                        low.insert(hash % 8192);
                        high.insert(hash >> 57);
                        count += 1;
                    }
                }
            }
            // 4096 balls thrown at random occupy 3224 of 8192 places on average.
            assert!(low.len() > count * 7 / 10, "{} of {count}", low.len());
            assert_eq!(high.len(), 128);
        }
    }

    #[test]
    fn seeds_differ() {
        assert_ne!(Seed::default().hash_one(7_u64), Seed::default().hash_one(7_u64));
    }
}
