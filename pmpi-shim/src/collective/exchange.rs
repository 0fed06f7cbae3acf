//! All-to-all, scatter and gather: messages between two ranks each, as by the send and receive calls.

use super::under_way::UnderWay;
use super::{Blocks, Collectives, Group, How};
use crate::recv;
use crate::send::{self, Mode};
use crate::span::{Envelope, Layout, Span};
use crate::state::Shim;
use crate::sys::*;
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
    how: How,
    pass: impl Fn() -> c_int,
) -> c_int {
    let Some(peers) = shim.collective_peers(how.comm()).filter(|peers| peers.collectives.allow(how)) else {
        return pass();
    };
    if buf == IN_PLACE || (equal && !shim.is_long(&to(0))) {
        return pass();
    }
    shim.exchange(&peers.collectives, how, |start| {
        let group = start.group;
        // SAFETY: the program's own blocks. In each step one rank sends to another, which receives from it in the same step.
        unsafe {
            start.copy(&from(group.rank), &to(group.rank));
            for step in 1..group.size {
                let source = (group.rank + group.size - step) % group.size;
                start.receive(&to(source), source);
                let dest = (group.rank + step) % group.size;
                start.send(&from(dest), dest);
            }
        }
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
    how: How,
    pass: impl Fn() -> c_int,
) -> c_int {
    let in_place = mine.ptr == IN_PLACE;
    // Only a root may have it in place.
    let equal = equal.then(|| if in_place { blocks(root) } else { mine });
    let Some(peers) = shim.rooted_peers(how.comm(), root, equal).filter(|peers| peers.collectives.allow(how))
    else {
        return pass();
    };
    shim.exchange(&peers.collectives, how, |start| {
        let group = start.group;
        // SAFETY: the program's own blocks.
        unsafe {
            if group.rank == root {
                if !in_place {
                    start.copy(&mine, &blocks(root));
                }
                group.others().for_each(|rank| start.receive(&blocks(rank), rank));
            } else {
                start.send(&mine, root);
            }
        }
    })
}

/// Scatter and Scatterv, the other way round.
pub(crate) unsafe fn scatter(
    shim: &Shim,
    blocks: impl Blocks,
    mine: Span,
    equal: bool,
    root: c_int,
    how: How,
    pass: impl Fn() -> c_int,
) -> c_int {
    let in_place = mine.ptr == IN_PLACE;
    let equal = equal.then(|| if in_place { blocks(root) } else { mine });
    let Some(peers) = shim.rooted_peers(how.comm(), root, equal).filter(|peers| peers.collectives.allow(how))
    else {
        return pass();
    };
    shim.exchange(&peers.collectives, how, |start| {
        let group = start.group;
        // SAFETY: the program's own blocks.
        unsafe {
            if group.rank == root {
                group.others().for_each(|rank| start.send(&blocks(rank), rank));
                if !in_place {
                    start.copy(&blocks(root), &mine);
                }
            } else {
                start.receive(&mine, root);
            }
        }
    })
}

/// A collective that is being started.
pub(super) struct Start<'a> {
    shim: &'a Shim,
    pub(super) group: &'a Group,
    messages: UnderWay,
    /// As many may be under way at a time in each direction, where the call may wait.
    at_most: Option<usize>,
}

impl<'a> Start<'a> {
    fn new(shim: &'a Shim, group: &'a Group, how: How) -> Self {
        let at_most = matches!(how, How::Blocking(_)).then_some(UNDER_WAY);
        Self { shim, group, messages: UnderWay::new(), at_most }
    }

    /// # Safety
    /// `span` must be what the program gave to send from.
    unsafe fn send(&mut self, span: &Span, dest: c_int) {
        let message = Envelope::new(*span, dest, TAG, self.group.own);
        if span.bytes() != Some(0) {
            // SAFETY: the caller vouches for the span.
            match unsafe { send::start(self.shim, Mode::Standard, &message, false) } {
                Ok(active) => self.messages.sends(active),
                Err(error) => self.messages.note(Err(error.code())),
            }
        }
        self.pause();
    }

    /// The same to all others.
    ///
    /// # Safety
    /// As for `send`.
    pub(super) unsafe fn send_to_others(&mut self, span: &Span) {
        let message = Envelope::new(*span, PROC_NULL, TAG, self.group.own);
        let messages = &mut self.messages;
        if span.bytes() != Some(0) {
            // SAFETY: the caller vouches for the span.
            unsafe {
                send::start_to_each(self.shim, &message, self.group.others(), |started| match started {
                    Ok(active) => messages.sends(active),
                    Err(error) => messages.note(Err(error.code())),
                });
            }
        }
    }

    /// # Safety
    /// `span` must be what the program gave to receive into.
    pub(super) unsafe fn receive(&mut self, span: &Span, source: c_int) {
        let message = Envelope::new(*span, source, TAG, self.group.own);
        if span.bytes() != Some(0) {
            // SAFETY: the caller vouches for the span.
            match unsafe { recv::start_any(self.shim, &message, false) } {
                Ok(active) => self.messages.receives(active),
                Err(error) => self.messages.note(Err(error.code())),
            }
        }
        self.pause();
    }

    /// What a rank sends to itself.
    ///
    /// # Safety
    /// The spans must be what the program gave.
    pub(super) unsafe fn copy(&mut self, from: &Span, to: &Span) {
        let bytes = from.bytes();
        let contiguous = |span: &Span| matches!(self.shim.layout(span), Layout::Contiguous(_));
        if bytes.is_some() && bytes == to.bytes() && contiguous(from) && contiguous(to) {
            // SAFETY: contiguous elements of so many bytes. Buffers must not overlap, but programs get away with it.
            unsafe { ptr::copy(from.ptr.cast::<u8>(), to.ptr.cast::<u8>(), bytes.unwrap_or(0)) };
        } else {
            // SAFETY: the caller vouches for the spans.
            self.messages.note(unsafe { self.shim.copy(from, to) });
        }
    }

    fn pause(&mut self) {
        if let Some(at_most) = self.at_most {
            self.messages.wait(self.shim, at_most);
        }
    }
}

impl Shim {
    /// Makes a collective of messages between two ranks each.
    pub(super) fn exchange(
        &self,
        collectives: &Collectives,
        how: How,
        start: impl FnOnce(&mut Start<'_>),
    ) -> c_int {
        self.collectively(how.comm(), collectives, |group| {
            let mut started = Start::new(self, group, how);
            start(&mut started);
            let mut messages = started.messages;
            match how {
                How::Blocking(_) => {
                    messages.wait(self, 0);
                    messages.outcome()
                }
                How::Nonblocking(comm, request) => {
                    let active = messages.into_request(comm)?;
                    // SAFETY: the place the program gave.
                    unsafe { *request = self.requests.hand_out(active) };
                    Ok(())
                }
            }
        })
    }
}
