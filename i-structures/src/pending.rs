//! D-IS without a cache: requests that wait for their values, one per fetch.

use crate::{
    cache::Tag,
    error::Error,
    hash::{Table, shrink},
    waiter::{Waiter, is_awaited},
};
use std::{collections::VecDeque, rc::Rc};

/// The continuations of a rank's requests.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    waiting: Table<Tag, VecDeque<Rc<Waiter>>>,
    count: usize,
}

impl Pending {
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    pub(crate) fn capacity(&self) -> usize {
        self.waiting.capacity()
    }

    pub(crate) fn push(&mut self, tag: Tag, waiter: Rc<Waiter>) {
        self.waiting.entry(tag).or_default().push_back(waiter);
        self.count += 1;
    }

    /// The continuation for one value; `None` if no request waits for it.
    pub(crate) fn pop(&mut self, tag: Tag) -> Option<Rc<Waiter>> {
        let queue = self.waiting.get_mut(&tag)?;
        let waiter = queue.pop_front()?;
        self.count -= 1;
        if queue.is_empty() {
            self.waiting.remove(&tag);
            shrink(&mut self.waiting);
        }
        Some(waiter)
    }

    /// Refuses one request.
    pub(crate) fn refuse(&mut self, tag: Tag, error: impl Fn(&Waiter) -> Error) {
        if let Some(waiter) = self.pop(tag) {
            waiter.resume(Err(error(&waiter)));
        }
    }

    /// Drops all continuations of a structure and appends them to `to`.
    pub(crate) fn free(&mut self, structure: u64, to: &mut Vec<Rc<Waiter>>) {
        for (_, queue) in self.waiting.extract_if(|tag, _| tag.structure == structure) {
            self.count -= queue.len();
            to.extend(queue);
        }
        shrink(&mut self.waiting);
    }

    pub(crate) fn waiting(&self) -> impl Iterator<Item = &Waiter> {
        self.waiting.values().flatten().filter(|waiter| is_awaited(waiter)).map(|waiter| &**waiter)
    }
}
