//! The messages of a collective that are under way, and the request that a nonblocking one has.

use super::{Active, Finish};
use crate::context::Context;
use crate::generalized;
use crate::mpi::open;
use crate::sys::*;
use std::collections::VecDeque;
use std::ffi::c_int;

/// Messages under way. The first error counts; the others are waited for all the same.
pub(crate) struct UnderWay {
    sends: VecDeque<Active>,
    receives: VecDeque<Active>,
    outcome: Result<(), c_int>,
}

impl UnderWay {
    pub(crate) fn new() -> Self {
        Self { sends: VecDeque::new(), receives: VecDeque::new(), outcome: Ok(()) }
    }

    pub(crate) fn sends(&mut self, active: Active) {
        self.sends.push_back(active);
    }

    pub(crate) fn receives(&mut self, active: Active) {
        self.receives.push_back(active);
    }

    pub(crate) fn note(&mut self, outcome: Result<(), c_int>) {
        self.outcome = self.outcome.and(outcome);
    }

    /// What has become of them so far.
    pub(crate) fn outcome(&self) -> Result<(), c_int> {
        self.outcome
    }

    /// Waits until no more than so many are under way in each direction, the earliest first.
    pub(crate) fn wait(&mut self, context: &Context, at_most: usize) {
        while self.receives.len() > at_most || self.sends.len() > at_most {
            let list = if self.receives.len() > at_most { &mut self.receives } else { &mut self.sends };
            if let Some(active) = list.pop_front() {
                // SAFETY: no status is wanted.
                self.note(ok(unsafe { active.wait(context, STATUS_IGNORE) }));
            }
        }
    }

    /// Finishes those that have completed; says whether these were the last.
    fn test(&mut self, context: &Context) -> bool {
        let mut outcome = self.outcome;
        for list in [&mut self.receives, &mut self.sends] {
            list.retain_mut(|active| {
                let (mut flag, mut status) = (0, empty_status());
                // SAFETY: a request of ours and places for the answers; it has completed when `settle` is called.
                unsafe {
                    let code = open::MPI_Test(&raw mut active.inner, &raw mut flag, &raw mut status);
                    let pending = code == SUCCESS && flag == 0;
                    if !pending {
                        outcome = outcome.and(active.settle(context, code, &mut status));
                    }
                    pending
                }
            });
        }
        self.outcome = outcome;
        self.sends.is_empty() && self.receives.is_empty()
    }

    /// A request for them, complete when they are. One message that is sent needs none of ours.
    pub(crate) fn into_request(mut self, comm: MPI_Comm) -> Result<Active, c_int> {
        if self.outcome.is_ok()
            && self.receives.is_empty()
            && self.sends.len() == 1
            && let Some(only) = self.sends.pop_front()
        {
            return Ok(only);
        }
        match generalized::pending() {
            Ok(request) => Ok(Active::new(request, Finish::Collective(comm, self))),
            Err(code) => {
                // The MPI still reads and writes what they were given.
                std::mem::forget(self);
                Err(code)
            }
        }
    }
}

impl Active {
    /// Moves a collective on, to its end if asked to; says whether it is there. Then its request is complete, too.
    pub(crate) fn advance(&mut self, context: &Context, to_the_end: bool) -> bool {
        let Finish::Collective(comm, messages) = &mut self.finish else { return true };
        if to_the_end {
            messages.wait(context, 0);
        } else if !messages.test(context) {
            return false;
        }
        let outcome = messages.outcome();
        // SAFETY: the request of `into_request`, completed once: from here on it is no collective any more.
        let completed = ok(unsafe { PMPI_Grequest_complete(self.inner) });
        self.finish = match outcome.and(completed) {
            Ok(()) => Finish::Nothing,
            Err(code) => Finish::Failed(*comm, code),
        };
        true
    }
}
