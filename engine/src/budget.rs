//! Counts the bytes that a message layer keeps in its own memory until they are sent or received.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The maximum number of such bytes. A message that would exceed it is sent or received unchanged, unless nothing else is being sent or received.
const MOST: usize = 64 << 20;

/// The bytes of frames, copies and chunks whose sends, or of buffers whose receives, are not complete.
#[derive(Clone, Debug, Default)]
pub struct Pending(Arc<AtomicUsize>);

impl Pending {
    /// Their number.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Whether another message of `len` bytes may be kept.
    #[must_use]
    pub fn has_room(&self, len: usize) -> bool {
        let bytes = self.bytes();
        bytes == 0 || bytes.checked_add(len).is_some_and(|bytes| bytes <= MOST)
    }

    /// Counts bytes until dropped.
    #[must_use]
    pub fn add(&self, bytes: usize) -> Counted {
        self.0.fetch_add(bytes, Ordering::Relaxed);
        Counted { all: self.clone(), bytes }
    }
}

/// Bytes that are counted.
#[derive(Debug)]
pub struct Counted {
    all: Pending,
    bytes: usize,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.all.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_alone_may_have_any_length() {
        let pending = Pending::default();
        assert!(pending.has_room(usize::MAX));
        let kept = pending.add(MOST - 1);
        assert!(pending.has_room(1) && !pending.has_room(2) && !pending.has_room(usize::MAX));
        drop(kept);
        assert_eq!(pending.bytes(), 0);
    }
}
