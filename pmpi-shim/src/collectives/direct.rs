//! Nonblocking broadcast and all-gather: the owner of the data sends it to all other ranks, encoded once.
//!
//! The blocking algorithms need each step to be continued when the previous one is complete, even while the rank is in another call;
//! otherwise a job could hang that would not with the MPI alone. Here all messages are started at once, and none are relayed. For many
//! ranks this is slower than the MPI's trees and rings if nothing can be compressed; then the operation is left to the MPI
//! ([`mpress::Spread`]).

use super::blocks::Blocks;
use crate::messages::agreed::How;
use crate::messages::peers::Peers;
use crate::mpi::span::Span;
use crate::mpi::sys::*;
use crate::operations::state::Shim;
use std::ffi::c_int;

/// Ibcast.
pub(crate) unsafe fn ibcast(
    shim: &Shim,
    span: Span,
    root: c_int,
    how: How,
    pass: impl Fn() -> c_int,
) -> c_int {
    let Some(peers) = shim.rooted_peers(how.comm(), root).filter(|peers| peers.spread.may_broadcast(root))
    else {
        return pass();
    };
    if !shim.is_long(&span) {
        return pass();
    }
    let refused = || span.ptr == IN_PLACE || shim.refuses(&span);
    shim.exchange(&peers, how, Ok(true), refused, pass, |start| {
        // SAFETY: the program's own span.
        unsafe {
            if start.group.rank() == root { start.send_to_others(&span) } else { start.receive(&span, root) }
        }
    })
}

/// Iallgather and Iallgatherv. `mine`: the block of this rank. All ranks know the lengths of all `blocks`.
pub(crate) unsafe fn iallgather<F: Fn(c_int) -> Span>(
    shim: &Shim,
    mine: Span,
    blocks: Blocks<F>,
    how: How,
    pass: impl Fn() -> c_int,
) -> c_int {
    let Some(peers) = shim.collective_peers(how.comm()).filter(|peers| peers.spread.may_gather()) else {
        return pass();
    };
    if !peers.ranks().any(|rank| shim.is_long(&blocks.of(rank))) {
        return pass();
    }
    let refused = || shim.refuses_gathered(&peers, &mine, &blocks);
    shim.exchange(&peers, how, Ok(true), refused, pass, |start| {
        let group = start.group;
        let own = blocks.of(group.rank());
        // SAFETY: the program's own blocks.
        unsafe {
            group.others().for_each(|rank| start.receive(&blocks.of(rank), rank));
            if mine.ptr == IN_PLACE {
                start.send_to_others(&own);
            } else {
                start.send_to_others(&mine);
                start.copy(&mine, &own);
            }
        }
    })
}

impl Shim {
    /// Whether the MPI refuses this rank's arguments of an all-gather.
    pub(super) fn refuses_gathered<F: Fn(c_int) -> Span>(
        &self,
        peers: &Peers,
        mine: &Span,
        blocks: &Blocks<F>,
    ) -> bool {
        self.refuses_any(blocks, peers.size(), Self::refuses_received)
            || mine.ptr != IN_PLACE
                && (self.refuses(mine)
                    || self.refuses_alias(blocks.buf, &blocks.of(peers.rank), mine, blocks.equal))
    }
}
