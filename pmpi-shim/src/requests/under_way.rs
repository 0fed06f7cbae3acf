//! The messages of a collective that are under way, and the request that a nonblocking one has.

use super::{Active, Finish};
use crate::context::Context;
use crate::generalized;
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

    /// How many sends are left.
    pub(crate) fn sends_left(&self) -> usize {
        self.sends.len()
    }

    /// How many receives are left.
    pub(crate) fn receives_left(&self) -> usize {
        self.receives.len()
    }

    /// Finishes those that have completed.
    pub(crate) fn test(&mut self, context: &Context) {
        let mut outcome = self.outcome;
        for list in [&mut self.receives, &mut self.sends] {
            list.retain_mut(|active| match active.test(context, &mut empty_status()) {
                None => true,
                Some(result) => {
                    outcome = outcome.and(result);
                    false
                }
            });
        }
        self.outcome = outcome;
    }

    /// Starts what is held of those that are sent.
    pub(super) fn start_held(&mut self) {
        self.sends.iter_mut().for_each(Active::start_held);
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
    /// Moves a collective on; says whether it is complete. Then its request is, too.
    pub(super) fn advance_collective(&mut self, context: &Context) -> bool {
        let Finish::Collective(comm, messages) = &mut self.finish else { return true };
        messages.test(context);
        if messages.sends_left() + messages.receives_left() > 0 {
            return false;
        }
        let outcome = messages.outcome();
        // SAFETY: the request of `into_request`, completed once: from here on it is no collective any more.
        let completed = ok(unsafe { PMPI_Grequest_complete(self.operation.request) });
        self.finish = match outcome.and(completed) {
            Ok(()) => Finish::Nothing,
            Err(code) => Finish::Failed(*comm, code),
        };
        true
    }
}
