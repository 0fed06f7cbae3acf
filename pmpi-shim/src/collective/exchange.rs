//! All-to-all, scatter and gather: messages between two ranks each, as by the send and receive calls.

use super::{Blocks, Group};
use crate::recv;
use crate::requests::Active;
use crate::send::{self, Mode};
use crate::span::{Envelope, Layout, Span};
use crate::state::Shim;
use crate::sys::*;
use std::collections::VecDeque;
use std::ffi::{c_int, c_void};
use std::ptr;

/// The tag of all of them: between two ranks messages keep their order, and so do the collectives of a communicator.
const TAG: c_int = 1;

/// Messages of a rank that are under way at a time, in each direction. More would not go faster, but need memory at both ends.
const UNDER_WAY: usize = 16;

/// Alltoall, and with blocks that are not `equal` in length Alltoallv and Alltoallw. Of these each length is known to two ranks only;
/// so they are done here whatever their lengths are. `buf`: what is sent from; in place is left to the MPI.
pub(crate) unsafe fn alltoall(
    shim: &Shim,
    buf: *const c_void,
    from: impl Blocks,
    to: impl Blocks,
    equal: bool,
    comm: MPI_Comm,
    pass: impl Fn() -> c_int,
) -> c_int {
    let Some(peers) = shim.collective_peers(comm) else { return pass() };
    if buf == IN_PLACE || (equal && !shim.is_long(&to(0))) {
        return pass();
    }
    shim.collectively(comm, &peers.collectives, |group| {
        let mut messages = Messages::new(shim, group);
        // SAFETY: the program's own blocks. In each step one rank sends to another, which receives from it in the same step.
        unsafe {
            messages.copy(&from(group.rank), &to(group.rank));
            for step in 1..group.size {
                let source = (group.rank + group.size - step) % group.size;
                messages.receive(&to(source), source);
                let dest = (group.rank + step) % group.size;
                messages.send(&from(dest), dest);
            }
        }
        messages.finish()
    })
}

/// Gather, and with blocks that are not `equal` in length Gatherv. `mine`: the block of this rank. `blocks`: those of all ranks, at
/// the root.
pub(crate) unsafe fn gather(
    shim: &Shim,
    mine: Span,
    blocks: impl Blocks,
    equal: bool,
    root: c_int,
    comm: MPI_Comm,
    pass: impl Fn() -> c_int,
) -> c_int {
    let in_place = mine.ptr == IN_PLACE;
    // Only a root may have it in place.
    let equal = equal.then(|| if in_place { blocks(root) } else { mine });
    let Some(peers) = shim.rooted_peers(comm, root, equal) else { return pass() };
    shim.collectively(comm, &peers.collectives, |group| {
        let mut messages = Messages::new(shim, group);
        // SAFETY: the program's own blocks.
        unsafe {
            if group.rank == root {
                if !in_place {
                    messages.copy(&mine, &blocks(root));
                }
                group.others().for_each(|rank| messages.receive(&blocks(rank), rank));
            } else {
                messages.send(&mine, root);
            }
        }
        messages.finish()
    })
}

/// Scatter and Scatterv, the other way round.
pub(crate) unsafe fn scatter(
    shim: &Shim,
    blocks: impl Blocks,
    mine: Span,
    equal: bool,
    root: c_int,
    comm: MPI_Comm,
    pass: impl Fn() -> c_int,
) -> c_int {
    let in_place = mine.ptr == IN_PLACE;
    let equal = equal.then(|| if in_place { blocks(root) } else { mine });
    let Some(peers) = shim.rooted_peers(comm, root, equal) else { return pass() };
    shim.collectively(comm, &peers.collectives, |group| {
        let mut messages = Messages::new(shim, group);
        // SAFETY: the program's own blocks.
        unsafe {
            if group.rank == root {
                group.others().for_each(|rank| messages.send(&blocks(rank), rank));
                if !in_place {
                    messages.copy(&blocks(root), &mine);
                }
            } else {
                messages.receive(&mine, root);
            }
        }
        messages.finish()
    })
}

/// The messages of a collective. The first error counts; the others are waited for all the same.
struct Messages<'a> {
    shim: &'a Shim,
    group: &'a Group,
    sends: VecDeque<Active>,
    receives: VecDeque<Active>,
    outcome: Result<(), c_int>,
}

impl<'a> Messages<'a> {
    fn new(shim: &'a Shim, group: &'a Group) -> Self {
        Self { shim, group, sends: VecDeque::new(), receives: VecDeque::new(), outcome: Ok(()) }
    }

    /// # Safety
    /// `span` must be what the program gave to send from.
    unsafe fn send(&mut self, span: &Span, dest: c_int) {
        let message = Envelope::new(*span, dest, TAG, self.group.own);
        if span.bytes() != Some(0) {
            // SAFETY: the caller vouches for the span.
            let started = unsafe { send::start(self.shim, Mode::Standard, &message, false) };
            match started {
                Ok(active) => self.sends.push_back(active),
                Err(error) => self.outcome = self.outcome.and(Err(error.code())),
            }
        }
        self.wait(UNDER_WAY);
    }

    /// # Safety
    /// `span` must be what the program gave to receive into.
    unsafe fn receive(&mut self, span: &Span, source: c_int) {
        let message = Envelope::new(*span, source, TAG, self.group.own);
        if span.bytes() != Some(0) {
            // SAFETY: the caller vouches for the span.
            let started = unsafe { recv::start_any(self.shim, &message, false) };
            match started {
                Ok(active) => self.receives.push_back(active),
                Err(error) => self.outcome = self.outcome.and(Err(error.code())),
            }
        }
        self.wait(UNDER_WAY);
    }

    /// What a rank sends to itself.
    ///
    /// # Safety
    /// The spans must be what the program gave.
    unsafe fn copy(&mut self, from: &Span, to: &Span) {
        let bytes = from.bytes();
        let contiguous = |span: &Span| matches!(self.shim.layout(span), Layout::Contiguous(_));
        if bytes.is_some() && bytes == to.bytes() && contiguous(from) && contiguous(to) {
            // SAFETY: contiguous elements of so many bytes. Buffers must not overlap, but programs get away with it.
            unsafe { ptr::copy(from.ptr.cast::<u8>(), to.ptr.cast::<u8>(), bytes.unwrap_or(0)) };
        } else {
            // SAFETY: the caller vouches for the spans.
            let copied = unsafe { self.shim.copy(from, to) };
            self.outcome = self.outcome.and(copied);
        }
    }

    /// Waits until no more than so many are under way in each direction, the earliest first.
    fn wait(&mut self, at_most: usize) {
        while self.receives.len() > at_most || self.sends.len() > at_most {
            let list = if self.receives.len() > at_most { &mut self.receives } else { &mut self.sends };
            if let Some(active) = list.pop_front() {
                // SAFETY: no status is wanted.
                let code = unsafe { recv::wait(self.shim, active, STATUS_IGNORE) };
                self.outcome = self.outcome.and(ok(code));
            }
        }
    }

    fn finish(mut self) -> Result<(), c_int> {
        self.wait(0);
        self.outcome
    }
}
