//! The pending messages of a collective, and the request of a nonblocking one.

use crate::messages::context::Context;
use crate::messages::peers::Origin;
use crate::mpi::generalized;
use crate::mpi::sys::*;
use crate::operations::active::{Active, Finish};
use std::collections::VecDeque;
use std::ffi::c_int;

/// Pending messages. The first error is kept; the others are waited for all the same.
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

    /// The result so far.
    pub(crate) fn outcome(&self) -> Result<(), c_int> {
        self.outcome
    }

    /// Number of pending sends.
    pub(crate) fn sends_left(&self) -> usize {
        self.sends.len()
    }

    /// Number of pending receives.
    pub(crate) fn receives_left(&self) -> usize {
        self.receives.len()
    }

    /// Finishes the messages that have completed.
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

    /// A request that is complete when all messages are. A single send does not need a generalized request.
    pub(crate) fn into_request(mut self, origin: Origin) -> Result<Active, c_int> {
        if self.outcome.is_ok()
            && self.receives.is_empty()
            && self.sends.len() == 1
            && let Some(only) = self.sends.pop_front()
        {
            return Ok(only);
        }
        match generalized::pending() {
            Ok(request) => Ok(Active::new(request, Finish::Collective(origin, self))),
            Err(code) => {
                // Not freed, since the MPI still accesses its memory.
                std::mem::forget(self);
                Err(code)
            }
        }
    }
}

impl Active {
    /// Advances a collective; returns whether it is complete. If so, its request is complete, too.
    pub(crate) fn advance_collective(&mut self, context: &Context) -> bool {
        let Finish::Collective(origin, messages) = &mut self.finish else { return true };
        messages.test(context);
        if messages.sends_left() + messages.receives_left() > 0 {
            return false;
        }
        let outcome = messages.outcome();
        // SAFETY: the request of `into_request`, completed once: after this it is no longer treated as a collective.
        let completed = ok(unsafe { PMPI_Grequest_complete(self.operation.request) });
        self.finish = match outcome.and(completed) {
            Ok(()) => Finish::Nothing,
            Err(code) => Finish::Failed(origin.clone(), code),
        };
        true
    }
}
