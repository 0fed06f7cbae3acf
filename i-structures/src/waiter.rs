//! A continuation, shared by a fetch and the queue in which it waits.

use crate::{address::Address, error::Error};
use std::{
    cell::RefCell,
    rc::Rc,
    task::{Poll, Waker},
};

#[derive(Debug)]
enum State {
    Waiting(Option<Waker>),
    Short([u8; SHORT], u8),
    Long(Box<[u8]>),
    Failed(Error),
}

/// The maximum length of a value that is kept without an allocation: that of a complex number.
const SHORT: usize = 16;

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
        let state = match result {
            Ok(bytes) => {
                let mut short = [0; SHORT];
                match short.get_mut(..bytes.len()) {
                    Some(place) => {
                        place.copy_from_slice(bytes);
                        // The length is at most `SHORT`.
                        State::Short(short, bytes.len() as u8)
                    }
                    None => State::Long(bytes.into()),
                }
            }
            Err(error) => State::Failed(error),
        };
        let before = self.state.replace(state);
        if let State::Waiting(Some(waker)) = before {
            waker.wake();
        }
    }

    /// Calls `read` with the bytes once they are present.
    pub(crate) fn poll<R>(&self, waker: &Waker, read: impl FnOnce(&[u8]) -> R) -> Poll<Result<R, Error>> {
        match &mut *self.state.borrow_mut() {
            State::Waiting(slot) => {
                match slot {
                    Some(known) => known.clone_from(waker),
                    None => *slot = Some(waker.clone()),
                }
                Poll::Pending
            }
            State::Short(bytes, len) => {
                Poll::Ready(Ok(read(bytes.get(..usize::from(*len)).unwrap_or(bytes))))
            }
            State::Long(bytes) => Poll::Ready(Ok(read(bytes))),
            State::Failed(error) => Poll::Ready(Err(error.clone())),
        }
    }
}

/// Whether a fetch still waits for it: the other reference is the queue's.
pub(crate) fn is_awaited(waiter: &Rc<Waiter>) -> bool {
    Rc::strong_count(waiter) > 1
}
