//! The elements of one structure on their owner: values, presence bits and queues of deferred readers.

use crate::{
    element::ElementState,
    error::{Error, Result},
    hash::{Table, shrink},
    options::{Deferral, Shape},
    waiter::{Waiter, is_awaited},
};
use bitvec::{slice::BitSlice, vec::BitVec};
use std::{collections::hash_map::Entry, rc::Rc};

/// Readers of one element.
#[derive(Debug, Default)]
struct Queue {
    /// The first one is usually the only one, and needs no allocation.
    first: Option<Rc<Waiter>>,
    local: Vec<Rc<Waiter>>,
    ranks: Vec<u32>,
}

/// Ranks that wait for a whole block.
#[derive(Debug)]
struct BlockQueue {
    missing: usize,
    ranks: Vec<u32>,
}

/// The readers that waited for a stored element.
#[derive(Debug, Default)]
pub(crate) struct Released {
    first: Option<Rc<Waiter>>,
    local: Vec<Rc<Waiter>>,
    /// Ranks to which the element is sent.
    pub(crate) element: Vec<u32>,
    /// Ranks to which its block is sent.
    pub(crate) block: Vec<u32>,
}

impl Released {
    /// Fetches of this rank.
    pub(crate) fn local(&self) -> impl Iterator<Item = &Rc<Waiter>> {
        self.first.iter().chain(&self.local)
    }
}

/// The elements of one rank.
#[derive(Debug)]
pub(crate) struct Segment {
    shape: Rc<Shape>,
    values: Vec<u8>,
    full: BitVec,
    deferred: BitVec,
    queues: Table<usize, Queue>,
    blocks: Table<u64, BlockQueue>,
}

impl Segment {
    pub(crate) fn new(shape: &Rc<Shape>, rank: u32) -> Result<Self> {
        let slots = shape.layout.slots(rank);
        let too_large = || Error::TooLarge(slots);
        let count = usize::try_from(slots).map_err(|_| too_large())?;
        let bytes = count.checked_mul(shape.bytes).ok_or_else(too_large)?;
        let mut values = Vec::new();
        values.try_reserve_exact(bytes).map_err(|_| too_large())?;
        values.resize(bytes, 0);
        Ok(Self {
            shape: shape.clone(),
            values,
            full: BitVec::repeat(false, count),
            deferred: BitVec::repeat(false, count),
            queues: Table::default(),
            blocks: Table::default(),
        })
    }

    pub(crate) fn bytes(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn queues(&self) -> usize {
        self.queues.len() + self.blocks.len()
    }

    pub(crate) fn capacity(&self) -> usize {
        self.queues.capacity() + self.blocks.capacity()
    }

    fn value(&self, slot: usize) -> &[u8] {
        self.values
            .get(slot * self.shape.bytes..)
            .and_then(|rest| rest.get(..self.shape.bytes))
            .unwrap_or(&[])
    }

    pub(crate) fn is_full(&self, slot: usize) -> bool {
        self.full.get(slot).is_some_and(|bit| *bit)
    }

    pub(crate) fn state(&self, slot: usize) -> ElementState {
        if self.is_full(slot) {
            ElementState::Full
        } else if self.deferred.get(slot).is_some_and(|bit| *bit) {
            ElementState::Deferred
        } else {
            ElementState::Empty
        }
    }

    /// The element, if it is full.
    pub(crate) fn read(&self, slot: usize) -> Option<&[u8]> {
        self.is_full(slot).then(|| self.value(slot))
    }

    /// Defers a local fetch.
    pub(crate) fn wait(&mut self, slot: usize, waiter: Rc<Waiter>) {
        self.deferred.set(slot, true);
        let queue = self.queues.entry(slot).or_default();
        match &queue.first {
            None => queue.first = Some(waiter),
            Some(_) => queue.local.push(waiter),
        }
    }

    /// The slots of a block, which must exist.
    fn slots(&self, block: u64) -> std::ops::Range<usize> {
        let count = self.full.len();
        // Both fit: an existing block starts below `count`.
        let first = usize::try_from(block * self.shape.block.get()).unwrap_or(count).min(count);
        first..first.saturating_add(usize::try_from(self.shape.block.get()).unwrap_or(count)).min(count)
    }

    /// Receive-a-request, for a block that exists. Returns whether a value is to be sent immediately, with all full elements of the block. The others
    /// are deferred.
    pub(crate) fn request(&mut self, rank: u32, block: u64) -> bool {
        let slots = self.slots(block);
        let full = &self.full[slots.clone()];
        let missing = full.count_zeros();
        if missing == 0 {
            return true;
        }
        let some = full.any();
        let missing_slots: Vec<usize> = full.iter_zeros().map(|offset| slots.start + offset).collect();
        for slot in &missing_slots {
            self.deferred.set(*slot, true);
        }
        // A rank with a cache waits for a block only once.
        let push = |ranks: &mut Vec<u32>| {
            if !self.shape.cached || !ranks.contains(&rank) {
                ranks.push(rank);
            }
        };
        match self.shape.deferral {
            Deferral::Block => {
                let queue = self.blocks.entry(block).or_insert(BlockQueue { missing, ranks: Vec::new() });
                push(&mut queue.ranks);
                false
            }
            Deferral::Element => {
                for slot in missing_slots {
                    push(&mut self.queues.entry(slot).or_default().ranks);
                }
                some
            }
        }
    }

    /// Stores an element. Returns the readers that waited for it, if any; `None` if it is already full.
    pub(crate) fn store(&mut self, slot: usize, value: &[u8]) -> Option<Option<Released>> {
        if self.is_full(slot) {
            return None;
        }
        let bytes = self.shape.bytes;
        if let Some(place) = self.values.get_mut(slot * bytes..).and_then(|rest| rest.get_mut(..bytes)) {
            place.copy_from_slice(value);
        }
        self.full.set(slot, true);
        if !self.deferred.replace(slot, false) {
            return Some(None);
        }
        let mut released = Released::default();
        if let Some(queue) = self.queues.remove(&slot) {
            released =
                Released { first: queue.first, local: queue.local, element: queue.ranks, block: Vec::new() };
            shrink(&mut self.queues);
        }
        if let Entry::Occupied(mut queue) = self.blocks.entry(self.shape.block.divide(slot as u64).0) {
            queue.get_mut().missing -= 1;
            if queue.get().missing == 0 {
                released.block = queue.remove().ranks;
                shrink(&mut self.blocks);
            }
        }
        Some(Some(released))
    }

    /// The values of a block if all are present.
    pub(crate) fn whole(&self, block: u64) -> Option<&[u8]> {
        let slots = self.slots(block);
        let bytes = self.shape.bytes;
        let all = self.full.get(slots.clone())?.all();
        self.values.get(slots.start * bytes..slots.end * bytes).filter(|_| all)
    }

    /// The presence bits of a block, and the values of the full elements in order.
    pub(crate) fn block(&self, block: u64) -> (&BitSlice, impl Iterator<Item = &[u8]>) {
        let slots = self.slots(block);
        let full = &self.full[slots.clone()];
        (full, full.iter_ones().map(move |offset| self.value(slots.start + offset)))
    }

    /// The fetches of this rank that wait for its own elements.
    pub(crate) fn into_waiting(self) -> Vec<Rc<Waiter>> {
        self.queues.into_values().flat_map(|queue| queue.first.into_iter().chain(queue.local)).collect()
    }

    /// The fetches of this rank that wait for its own elements.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &Waiter> {
        self.queues
            .values()
            .flat_map(|queue| queue.first.iter().chain(&queue.local))
            .filter(|w| is_awaited(w))
            .map(|waiter| &**waiter)
    }
}
