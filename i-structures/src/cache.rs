//! D-ISSC, the software cache (section 3.2 of the paper): blocks of remote elements in a hash table indexed by tag. Any block can be stored anywhere,
//! as in a fully associative cache.

use crate::{
    address::Address,
    error::{Error, Result},
    hash::{Table, shrink},
    waiter::{Waiter, is_awaited},
};
use bitvec::{order::Lsb0, slice::BitSlice, vec::BitVec};
use std::{
    collections::{VecDeque, hash_map::Entry},
    rc::Rc,
};

/// The key of a block. Blocks are numbered within the elements of one owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Tag {
    pub(crate) structure: u64,
    pub(crate) owner: u32,
    pub(crate) block: u64,
}

/// The number of elements in a block, and the bytes of an element.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) elements: usize,
    pub(crate) bytes: usize,
}

#[derive(Debug)]
struct Block {
    values: Vec<u8>,
    present: BitVec,
    /// The number of elements that are not present.
    missing: usize,
    /// Continuations, each with the index of its element in the block.
    waiting: Vec<(usize, Rc<Waiter>)>,
}

/// The result of a fetch.
#[derive(Debug)]
pub(crate) enum Access<'a> {
    /// *Cache hit*.
    Hit(&'a [u8]),
    /// *Cache miss deferred*: the value is in transit, or deferred by its owner.
    Deferred(Rc<Waiter>),
    /// *Cache miss*: a request must be sent.
    Miss(Rc<Waiter>),
}

/// Fixed bytes counted for a block in addition to its elements and presence bits.
const OVERHEAD: usize = size_of::<Tag>() + size_of::<Block>();

/// The cache of a rank, for all structures.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    blocks: Table<Tag, Block>,
    /// Full blocks in the order in which they became full. Only these may be evicted, because no fetch waits for a full block.
    full: VecDeque<Tag>,
    bytes: usize,
    /// Full blocks are evicted above this number of bytes.
    pub(crate) limit: Option<usize>,
    pub(crate) evicted: u64,
}

impl Size {
    fn block(self) -> usize {
        OVERHEAD + self.elements * self.bytes + self.elements.div_ceil(8)
    }
}

impl Block {
    fn new(size: Size) -> Self {
        Self {
            values: vec![0; size.elements * size.bytes],
            present: BitVec::repeat(false, size.elements),
            missing: size.elements,
            waiting: Vec::new(),
        }
    }

    fn value(&self, element: usize, bytes: usize) -> Option<&[u8]> {
        self.present.get(element).filter(|bit| **bit)?;
        self.values.get(element * bytes..)?.get(..bytes)
    }
}

impl Cache {
    pub(crate) fn blocks(&self) -> usize {
        self.blocks.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn capacity(&self) -> usize {
        self.blocks.capacity() + self.full.capacity()
    }

    /// Makes room for a block that has been or will be requested.
    pub(crate) fn expect(&mut self, tag: Tag, size: Size) {
        if let Entry::Vacant(place) = self.blocks.entry(tag) {
            place.insert(Block::new(size));
            self.bytes += size.block();
            self.evict();
        }
    }

    /// Looks up an element by its index in the block. Accesses the table once, because this is the most frequent operation.
    ///
    /// # Errors
    /// The one for `size`, which is called for a new block.
    pub(crate) fn fetch(
        &mut self,
        tag: Tag,
        size: impl FnOnce() -> Result<Size>,
        bytes: usize,
        element: usize,
        address: Address,
    ) -> Result<Access<'_>> {
        let waiter = || Waiter::new(address);
        // The block added by the last miss may have exceeded the limit.
        self.evict();
        match self.blocks.entry(tag) {
            Entry::Occupied(place) => {
                let block = place.into_mut();
                // Most blocks are full, so this checks one number before the bits.
                if (block.missing == 0 || block.present.get(element).is_some_and(|bit| *bit))
                    && let Some(value) = block.values.get(element * bytes..)
                    && let Some(value) = value.get(..bytes)
                {
                    return Ok(Access::Hit(value));
                }
                let waiter = waiter();
                block.waiting.push((element, waiter.clone()));
                Ok(Access::Deferred(waiter))
            }
            Entry::Vacant(place) => {
                let (size, waiter) = (size()?, waiter());
                place.insert(Block::new(size)).waiting.push((element, waiter.clone()));
                self.bytes += size.block();
                Ok(Access::Miss(waiter))
            }
        }
    }

    /// Receive-a-value: `values` holds the elements whose bits are set, or all if there are no bits. Elements that are already present are kept.
    pub(crate) fn receive(&mut self, tag: Tag, size: Size, bits: Option<&BitSlice<u8, Lsb0>>, values: &[u8]) {
        self.expect(tag, size);
        let Some(block) = self.blocks.get_mut(&tag) else { return };
        if block.missing == 0 {
            return;
        }
        let Some(bits) = bits else {
            // Elements that are already present have the same value, because elements are stored only once.
            if block.values.len() == values.len() {
                block.values.copy_from_slice(values);
                block.present.fill(true);
                block.missing = 0;
            }
            self.resume(tag, size);
            return;
        };
        for (element, value) in bits.iter_ones().zip(values.chunks_exact(size.bytes)) {
            if !block.present.replace(element, true)
                && let Some(place) = block.values.get_mut(element * size.bytes..)
                && let Some(place) = place.get_mut(..size.bytes)
            {
                place.copy_from_slice(value);
                block.missing -= 1;
            }
        }
        self.resume(tag, size);
    }

    /// Resumes the fetches whose elements are present.
    fn resume(&mut self, tag: Tag, size: Size) {
        let Some(block) = self.blocks.get_mut(&tag) else { return };
        for (element, waiter) in std::mem::take(&mut block.waiting) {
            match block.value(element, size.bytes) {
                Some(value) => waiter.resume(Ok(value)),
                None => block.waiting.push((element, waiter)),
            }
        }
        if block.missing == 0 {
            self.full.push_back(tag);
            self.evict();
        }
    }

    /// Drops a block whose request was refused; its waiting fetches get the error.
    pub(crate) fn refuse(&mut self, tag: Tag, error: impl Fn(&Waiter) -> Error) {
        // A block that is full or partly full was not refused.
        if self.blocks.get(&tag).is_some_and(|block| block.present.not_any())
            && let Some(block) = self.remove(tag)
        {
            for (_, waiter) in block.waiting {
                waiter.resume(Err(error(&waiter)));
            }
        }
    }

    /// Drops all blocks of a structure and appends their waiting fetches to `to`.
    pub(crate) fn free(&mut self, structure: u64, to: &mut Vec<Rc<Waiter>>) {
        let gone: Vec<Tag> = self.blocks.keys().filter(|tag| tag.structure == structure).copied().collect();
        for tag in gone {
            to.extend(self.remove(tag).into_iter().flat_map(|block| block.waiting).map(|(_, waiter)| waiter));
        }
        self.full.retain(|tag| tag.structure != structure);
        self.full.shrink_to(self.full.len() * 2);
        shrink(&mut self.blocks);
    }

    /// Fetches that wait for blocks.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &Waiter> {
        let waiters = self.blocks.values().flat_map(|block| &block.waiting);
        waiters.filter(|(_, waiter)| is_awaited(waiter)).map(|(_, waiter)| &**waiter)
    }

    fn remove(&mut self, tag: Tag) -> Option<Block> {
        let block = self.blocks.remove(&tag)?;
        self.bytes -= OVERHEAD + block.values.len() + block.present.len().div_ceil(8);
        Some(block)
    }

    fn evict(&mut self) {
        while self.limit.is_some_and(|limit| self.bytes > limit)
            && let Some(tag) = self.full.pop_front()
        {
            self.remove(tag);
            self.evicted += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StructureId;
    use std::task::{Poll, Waker};

    const SIZE: Size = Size { elements: 4, bytes: 1 };

    fn tag(block: u64) -> Tag {
        Tag { structure: 0, owner: 1, block }
    }

    const AT: Address = Address { structure: StructureId(0), index: 0 };

    fn fetch(cache: &mut Cache, block: u64, element: usize) -> Access<'_> {
        cache.fetch(tag(block), || Ok(SIZE), SIZE.bytes, element, AT).unwrap()
    }

    fn bits(byte: u8) -> BitVec<u8, Lsb0> {
        BitVec::from_vec(vec![byte])
    }

    fn value(waiter: &Waiter) -> Option<u8> {
        match waiter.poll(Waker::noop(), |bytes| bytes[0]) {
            Poll::Ready(value) => Some(value.unwrap()),
            Poll::Pending => None,
        }
    }

    #[test]
    fn the_cases_of_an_access() {
        let mut cache = Cache::default();
        let Access::Miss(first) = fetch(&mut cache, 0, 1) else { panic!() };
        let Access::Deferred(second) = fetch(&mut cache, 0, 1) else { panic!() };
        let Access::Deferred(third) = fetch(&mut cache, 0, 2) else { panic!() };
        let waiters = [first, second, third];
        // Deferral by elements: the first value has only elements 0 and 1.
        cache.receive(tag(0), SIZE, Some(&bits(0b0011)[..4]), &[10, 11]);
        assert_eq!(waiters.each_ref().map(|waiter| value(waiter)), [Some(11), Some(11), None]);
        assert!(matches!(fetch(&mut cache, 0, 0), Access::Hit(&[10])));
        assert_eq!(cache.waiting().count(), 1);
        cache.receive(tag(0), SIZE, Some(&bits(0b1100)[..4]), &[12, 13]);
        assert_eq!(value(&waiters[2]), Some(12));
        assert_eq!(cache.waiting().count(), 0);
        cache.free(0, &mut Vec::new());
        assert_eq!((cache.blocks(), cache.bytes(), cache.capacity()), (0, 0, 0));
    }

    #[test]
    fn a_bound_evicts_full_blocks_alone() {
        let mut cache = Cache { limit: Some(2 * SIZE.block()), ..Cache::default() };
        let Access::Miss(first) = fetch(&mut cache, 0, 0) else { panic!() };
        for block in 1..10 {
            assert!(matches!(fetch(&mut cache, block, 0), Access::Miss(_)));
            cache.receive(tag(block), SIZE, None, &[1, 2, 3, 4]);
        }
        assert_eq!((cache.blocks(), cache.evicted), (2, 8));
        assert!(matches!(fetch(&mut cache, 9, 3), Access::Hit(&[4])));
        cache.receive(tag(0), SIZE, Some(&bits(0b1111)[..4]), &[5, 6, 7, 8]);
        assert_eq!(value(&first), Some(5));
    }
}
