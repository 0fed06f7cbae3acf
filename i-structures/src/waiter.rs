//! A continuation: what a fetch and the queue it waits in share.

use crate::{address::Address, error::Error};
use std::{
    cell::RefCell,
    rc::Rc,
    task::{Poll, Waker},
};

#[derive(Debug)]
enum State {
    Waiting(Option<Waker>),
    Ready(Result<Box<[u8]>, Error>),
}

/// A continuation.
#[derive(Debug)]
pub(crate) struct Waiter {
    pub(crate) address: Address,
    state: RefCell<State>,
}

impl Waiter {
    pub(crate) fn new(address: Address) -> Rc<Self> {
        Rc::new(Self { address, state: RefCell::new(State::Waiting(None)) })
    }

    /// Resumes the fetch with the bytes of the element.
    pub(crate) fn resume(&self, result: Result<&[u8], Error>) {
        let before = self.state.replace(State::Ready(result.map(Box::from)));
        if let State::Waiting(Some(waker)) = before {
            waker.wake();
        }
    }

    /// Calls `read` with the bytes when they are there.
    pub(crate) fn poll<R>(&self, waker: &Waker, read: impl FnOnce(&[u8]) -> R) -> Poll<Result<R, Error>> {
        match &mut *self.state.borrow_mut() {
            State::Waiting(slot) => {
                match slot {
                    Some(known) => known.clone_from(waker),
                    None => *slot = Some(waker.clone()),
                }
                Poll::Pending
            }
            State::Ready(Ok(bytes)) => Poll::Ready(Ok(read(bytes))),
            State::Ready(Err(error)) => Poll::Ready(Err(error.clone())),
        }
    }
}

/// Whether a fetch still waits for it: the other reference is the queue's.
pub(crate) fn is_awaited(waiter: &Rc<Waiter>) -> bool {
    Rc::strong_count(waiter) > 1
}
