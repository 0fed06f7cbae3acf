//! Probe and Iprobe. Only a received frame shows the length of its message, so a message in a frame moves to the unexpected queue.

use crate::messages::{error::Error, error::raise, peers::Peers};
use crate::mpi::{arguments, arguments::Out, span::is_tag, span::received_bytes, sys::*};
use crate::operations::state::Shim;
use crate::operations::unexpected::{Opened, Sight, look_into_the_mpi};
use crate::progress;
use std::sync::Arc;

impl Shim {
    /// The peers of a probe that may see a frame, or a message in the unexpected queue.
    pub(crate) fn probe_peers(&self, of: Match) -> Option<Arc<Peers>> {
        if !is_tag(of.tag) && of.tag != ANY_TAG {
            return None;
        }
        self.peers(of.comm).filter(|peers| peers.frames_with(of.source))
    }
}

handlers! {
    probe(Probe): |shim, call, pass| {
        let of = Match { source: call.source, tag: call.tag, comm: call.comm };
        let Some(peers) = shim.probe_peers(of) else { return pass() };
        wait_for(shim, of.comm, |block| find(shim, &peers, of, block), |found| call.status.store(&found.status))
    };
    iprobe(Iprobe): |shim, call, pass| {
        let of = Match { source: call.source, tag: call.tag, comm: call.comm };
        let Some(peers) = shim.probe_peers(of) else { return pass() };
        tell(call.flag, of.comm, find(shim, &peers, of, false), |found| call.status.store(&found.status))
    };
}

/// A call that waits: calls `look` until it sees something, which goes to `found`. `look` is told whether it may wait in the MPI.
pub(super) fn wait_for<T>(
    shim: &Shim,
    comm: MPI_Comm,
    look: impl Fn(bool) -> Result<Option<T>, Error>,
    found: impl FnOnce(T),
) -> c_int {
    // With threads the MPI must not block: another thread may move the awaited message to the unexpected queue.
    let seen = progress::until(shim, || look(!shim.multiple && shim.may_wait()).transpose());
    let tell = |seen| {
        found(seen);
        SUCCESS
    };
    seen.map_or_else(|error| raise(comm, error), tell)
}

/// Ends a call that does not wait: tells the program whether anything was `seen`, which goes to `found`.
pub(super) fn tell<T>(
    flag: Out<c_int>,
    comm: MPI_Comm,
    seen: Result<Option<T>, Error>,
    found: impl FnOnce(T),
) -> c_int {
    let tell = |seen: Option<T>| {
        flag.set(c_int::from(seen.is_some()));
        seen.map(found);
        SUCCESS
    };
    seen.map_or_else(|error| raise(comm, error), tell)
}

/// The first message that matches.
pub(super) struct Found<'a> {
    pub(super) status: MPI_Status,
    /// Whether it is in the unexpected queue. Otherwise it is with the MPI, and no frame.
    pub(super) is_here: bool,
    /// Until this is dropped, no other thread takes it.
    pub(super) unexpected: Opened<'a>,
}

/// Finds the message that a probe sees now, or, with `block`, as soon as there is one. Does not wait for a sender, except where the program's own
/// call may.
pub(super) fn find<'a>(
    shim: &'a Shim,
    peers: &Arc<Peers>,
    of: Match,
    block: bool,
) -> Result<Option<Found<'a>>, Error> {
    // Probes that find nothing must not keep others from receiving.
    let held = shim.unexpected.hold();
    let is_any_here = held.has(of);
    let seen = if is_any_here { None } else { look_into_the_mpi(of, block)? };
    if !is_any_here && seen.is_none() {
        return Ok(None);
    }
    drop(held);
    let mut unexpected = shim.unexpected.open();
    // Another thread may have taken it meanwhile.
    let mut seen = seen.filter(|_| !shim.multiple);
    loop {
        let is_any_coming = match unexpected.look(shim, of)? {
            Sight::Message(status) => return Ok(Some(Found { status, is_here: true, unexpected })),
            Sight::Coming if of.source != ANY_SOURCE => return Ok(None),
            Sight::Coming => true,
            Sight::Nothing => false,
        };
        if seen.is_none() {
            seen = look_into_the_mpi(of, false)?;
        }
        let Some(status) = seen.take() else { return Ok(None) };
        // It may be a frame; or a message is coming, which is of the same source, or which this one goes before.
        if !is_any_coming && !peers.may_be_frame(&status, received_bytes(&status)) {
            return Ok(Some(Found { status, is_here: false, unexpected }));
        }
        unexpected.pull(Match { source: status.MPI_SOURCE, tag: status.MPI_TAG, ..of }, peers)?;
    }
}
