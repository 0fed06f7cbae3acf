//! Messages that arrived too early: for structures that this rank has not created yet, and for the next run.

use crate::error::{Error, Result};
use std::collections::BTreeMap;

/// The maximum number and the maximum total bytes of messages kept for structures that do not exist yet.
const MOST: usize = 1 << 16;
const MOST_BYTES: usize = 1 << 28;

type Received = (u32, Vec<u8>);

/// The messages kept.
#[derive(Debug, Default)]
pub(crate) struct Parked {
    structures: BTreeMap<u64, Vec<Received>>,
    count: usize,
    bytes: usize,
    /// Messages of the next run, which other ranks may have begun.
    next_run: Vec<Received>,
}

impl Parked {
    pub(crate) fn len(&self) -> usize {
        self.count + self.next_run.len()
    }

    pub(crate) fn capacity(&self) -> usize {
        self.next_run.capacity()
    }

    /// Keeps a message for a structure.
    pub(crate) fn push(&mut self, structure: u64, from: u32, message: Vec<u8>) -> Result<()> {
        if self.count >= MOST || message.len() > MOST_BYTES - self.bytes {
            return Err(Error::TooEarly { from });
        }
        self.count += 1;
        self.bytes += message.len();
        self.structures.entry(structure).or_default().push((from, message));
        Ok(())
    }

    /// Removes and returns the messages for one of the structures below `next`, which exist.
    pub(crate) fn pop(&mut self, next: u64) -> Option<Vec<Received>> {
        let first = self.structures.first_entry().filter(|first| *first.key() < next)?;
        let messages = first.remove();
        self.count -= messages.len();
        self.bytes -= messages.iter().map(|(_, message)| message.len()).sum::<usize>();
        Some(messages)
    }

    /// Keeps a message of the next run. Before it, each rank sends at most one part of a plan, and rank 0 one probe.
    pub(crate) fn push_next_run(&mut self, ranks: u32, from: u32, message: Vec<u8>) -> Result<()> {
        if self.next_run.len() > ranks as usize {
            return Err(Error::Protocol { from, what: "one too many for the next run" });
        }
        self.next_run.push((from, message));
        Ok(())
    }

    /// Returns the messages of the next run, which begins.
    pub(crate) fn take_next_run(&mut self) -> Vec<Received> {
        std::mem::take(&mut self.next_run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_bytes_are_bounded() {
        let mut parked = Parked::default();
        for _ in 0..MOST {
            parked.push(7, 1, vec![0; 24]).unwrap();
        }
        assert_eq!(parked.push(8, 1, vec![0; 24]), Err(Error::TooEarly { from: 1 }));
        assert_eq!((parked.pop(7), parked.len()), (None, MOST));
        assert_eq!(parked.pop(8).map(|messages| messages.len()), Some(MOST));
        parked.push(8, 1, vec![0; MOST_BYTES - 10]).unwrap();
        assert_eq!(parked.push(8, 2, vec![0; 11]), Err(Error::TooEarly { from: 2 }));
        parked.push(8, 1, vec![0; 10]).unwrap();
        assert_eq!((parked.pop(9).map(|messages| messages.len()), parked.bytes), (Some(2), 0));
    }
}
