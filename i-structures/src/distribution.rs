//! The distribution of elements over ranks.

use crate::{
    divisor::Divisor,
    error::{Error, Result},
};
use crc32fast::Hasher;
use std::{fmt, rc::Rc};

/// How the elements of a structure are distributed over the ranks.
#[derive(Clone)]
pub enum Distribution {
    /// Runs of ceil(length / ranks) elements, one per rank; the last ranks may have fewer or none.
    Block,
    /// Element `i` belongs to rank `i % ranks`.
    Cyclic,
    /// Runs of this number of elements (at least 1), dealt to the ranks in round-robin order.
    BlockCyclic(u64),
    /// The owner of each index, from a function that returns the same on all ranks. It is called once per index; its results take 24 bytes per
    /// element.
    Owner(Rc<dyn Fn(u64) -> u32>),
}

impl fmt::Debug for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Block => f.write_str("Block"),
            Self::Cyclic => f.write_str("Cyclic"),
            Self::BlockCyclic(run) => f.debug_tuple("BlockCyclic").field(run).finish(),
            Self::Owner(_) => f.write_str("Owner(..)"),
        }
    }
}

/// The distribution of a structure's elements over the ranks.
#[derive(Debug)]
pub struct Layout {
    len: u64,
    ranks: u32,
    map: Map,
}

#[derive(Debug)]
enum Map {
    Block {
        run: Divisor,
    },
    /// `ranks` of the layout, as a divisor.
    Cyclic {
        run: Divisor,
        ranks: Divisor,
    },
    Table {
        places: Vec<(u32, u64)>,
        indices: Vec<Vec<u64>>,
        digest: u32,
    },
}

impl Layout {
    /// # Errors
    /// [`Error::Options`] for a block-cyclic distribution with runs of 0, or if an owner function returns an invalid rank.
    pub fn new(len: u64, ranks: u32, distribution: &Distribution) -> Result<Self> {
        let cyclic = |run| Map::Cyclic { run: Divisor::new(run), ranks: Divisor::new(u64::from(ranks)) };
        let map = match distribution {
            Distribution::Block => Map::Block { run: Divisor::new(len.div_ceil(u64::from(ranks)).max(1)) },
            Distribution::Cyclic => cyclic(1),
            Distribution::BlockCyclic(0) => return Err(Error::Options("block-cyclic runs of 0 elements")),
            // A run longer than the structure is equivalent to one of the structure's length, which cannot overflow.
            Distribution::BlockCyclic(run) => cyclic((*run).min(len.max(1))),
            Distribution::Owner(owner) => Map::table(len, ranks, &**owner)?,
        };
        Ok(Self { len, ranks, map })
    }

    /// The number of elements on all ranks.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of ranks.
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// The owner of an element and its slot there; `None` if there is no such element.
    #[inline]
    pub fn locate(&self, index: u64) -> Option<(u32, u64)> {
        if index >= self.len {
            return None;
        }
        Some(match &self.map {
            // Both quotients are below the number of ranks.
            Map::Block { run } => {
                let (owner, slot) = run.divide(index);
                (owner as u32, slot)
            }
            Map::Cyclic { run, ranks } => {
                let (turn, place) = run.divide(index);
                let (round, owner) = ranks.divide(turn);
                (owner as u32, round * run.get() + place)
            }
            Map::Table { places, .. } => *places.get(usize::try_from(index).ok()?)?,
        })
    }

    /// The number of elements of a rank.
    pub fn slots(&self, owner: u32) -> u64 {
        let rank = u64::from(owner);
        match &self.map {
            Map::Block { run } => self.len.saturating_sub(run.get().saturating_mul(rank)).min(run.get()),
            Map::Cyclic { run, .. } => {
                let run = run.get();
                let round = u128::from(run) * u128::from(self.ranks);
                let (rounds, rest) = (u128::from(self.len) / round, u128::from(self.len) % round);
                let last = rest.saturating_sub(u128::from(run) * u128::from(rank)).min(u128::from(run));
                // At most the length of the structure.
                (rounds * u128::from(run) + last) as u64
            }
            Map::Table { indices, .. } => indices.get(owner as usize).map_or(0, |of| of.len() as u64),
        }
    }

    /// The index of the element in a slot of a rank; `None` if there is no such slot.
    pub fn index(&self, owner: u32, slot: u64) -> Option<u64> {
        if owner >= self.ranks || slot >= self.slots(owner) {
            return None;
        }
        Some(match &self.map {
            Map::Block { run } => run.get() * u64::from(owner) + slot,
            Map::Cyclic { run, .. } => {
                let (round, place) = run.divide(slot);
                (round * u64::from(self.ranks) + u64::from(owner)) * run.get() + place
            }
            Map::Table { indices, .. } => *indices.get(owner as usize)?.get(usize::try_from(slot).ok()?)?,
        })
    }

    /// The number of the kind of distribution, and its parameter, as in docs/format/i-structures.md.
    pub(crate) fn parameters(&self) -> (u8, u64) {
        match &self.map {
            Map::Block { .. } => (0, 0),
            Map::Cyclic { run, .. } => (1, run.get()),
            Map::Table { digest, .. } => (2, u64::from(*digest)),
        }
    }
}

impl Map {
    fn table(len: u64, ranks: u32, owner: &dyn Fn(u64) -> u32) -> Result<Self> {
        let mut indices = vec![Vec::new(); ranks as usize];
        let (mut places, mut digest) = (Vec::new(), Hasher::new());
        for index in 0..len {
            let rank = owner(index);
            let of: &mut Vec<u64> = indices
                .get_mut(rank as usize)
                .ok_or(Error::Options("the owner function names a rank that does not exist"))?;
            places.push((rank, of.len() as u64));
            of.push(index);
            digest.update(&rank.to_le_bytes());
        }
        Ok(Self::Table { places, indices, digest: digest.finalize() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_element_has_one_place(len in 0_u64..300, ranks in 1_u32..9, run in 1_u64..20, kind in 0..4) {
            let distribution = match kind {
                0 => Distribution::Block,
                1 => Distribution::Cyclic,
                2 => Distribution::BlockCyclic(run),
                _ => Distribution::Owner(Rc::new(move |index| (index.wrapping_mul(run) % u64::from(ranks)) as u32)),
            };
            let layout = Layout::new(len, ranks, &distribution).unwrap();
            for index in 0..len {
                let (owner, slot) = layout.locate(index).unwrap();
                prop_assert!(owner < ranks && slot < layout.slots(owner));
                prop_assert_eq!(layout.index(owner, slot), Some(index));
            }
            prop_assert_eq!((0..ranks).map(|rank| layout.slots(rank)).sum::<u64>(), len);
            prop_assert_eq!(layout.locate(len), None);
            for rank in 0..=ranks {
                prop_assert_eq!(layout.index(rank, layout.slots(rank)), None);
            }
        }
    }

    #[test]
    fn extremes_do_not_overflow() {
        for distribution in [Distribution::Block, Distribution::Cyclic, Distribution::BlockCyclic(u64::MAX)] {
            for ranks in [1, 3, u32::MAX] {
                let layout = Layout::new(u64::MAX, ranks, &distribution).unwrap();
                let (owner, slot) = layout.locate(u64::MAX - 1).unwrap();
                assert_eq!(layout.index(owner, slot), Some(u64::MAX - 1));
                assert!(layout.slots(owner) > slot);
            }
        }
        assert!(Layout::new(4, 2, &Distribution::BlockCyclic(0)).is_err());
        assert!(Layout::new(4, 2, &Distribution::Owner(Rc::new(|_| 2))).is_err());
    }
}
