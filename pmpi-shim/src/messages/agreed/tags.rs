//! The tags of messages of collectives: each of the program's communicators has one, since they share our
//! private communicator.
//!
//! No two communicators that share two processes may have the same tag. Each process keeps the tags of its
//! communicators, and a communicator gets a tag that is free in all of its processes.

use std::collections::HashSet;
use std::ffi::c_int;
use std::sync::{Arc, Mutex, PoisonError};

/// The tags used in this process.
pub(super) struct Tags {
    /// The largest tag available.
    most: c_int,
    state: Mutex<State>,
}

struct State {
    used: HashSet<c_int>,
    /// Where the search continues. Released tags are reused last, so that a message left by a program in an
    /// erroneous collective is unlikely to be matched by another.
    next: c_int,
}

/// A tag used in this process, until dropped.
pub(super) struct Tag {
    number: c_int,
    tags: Arc<Tags>,
}

impl Tags {
    pub(super) fn new(most: c_int) -> Arc<Self> {
        Arc::new(Self { most, state: Mutex::new(State { used: HashSet::new(), next: 0 }) })
    }

    /// A free tag that is at least `least`, or if that is `None`, at least where the search continues.
    /// `None`: there is none.
    pub(super) fn propose(&self, least: Option<c_int>) -> Option<c_int> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        (least.unwrap_or(state.next)..=self.most).find(|tag| !state.used.contains(tag))
    }

    /// Reserves this tag, if it is free.
    pub(super) fn reserve(self: &Arc<Self>, number: c_int) -> Option<Tag> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !(0..=self.most).contains(&number) || !state.used.insert(number) {
            return None;
        }
        state.next = number.checked_add(1).filter(|next| *next <= self.most).unwrap_or(0);
        Some(Tag { number, tags: Arc::clone(self) })
    }
}

impl Tag {
    pub(super) fn number(&self) -> c_int {
        self.number
    }
}

impl Drop for Tag {
    fn drop(&mut self) {
        let mut state = self.tags.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.used.remove(&self.number);
    }
}
