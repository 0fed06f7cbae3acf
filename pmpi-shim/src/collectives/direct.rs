//! Nonblocking broadcast and all-gather: the owner of the data sends it to all other ranks, encoded once.
//!
//! The blocking algorithms need each step to be continued when the previous one is complete, even while the
//! rank is in another call; otherwise a job could hang that would not with the MPI alone. Here all messages
//! are started at once, and none are relayed. For many ranks this is slower than the MPI's trees and rings if
//! nothing can be compressed; then the operation is left to the MPI ([`mpress::Spread`]).

use super::blocks::Blocks;
use crate::messages::agreed::{By, How};
use crate::mpi::span::Span;
use crate::mpi::sys::*;
use crate::operations::state::Shim;
use std::ffi::c_int;

/// Ibcast.
pub(super) unsafe fn ibcast(
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
    if !shim.is_long(&span) || shim.refuses_broadcast(&span) {
        return pass();
    }
    shim.exchange(&peers, how, &By::Tag, pass, |start| {
        // SAFETY: the program's own span.
        unsafe {
            if start.group.rank() == root { start.send_to_others(&span) } else { start.receive(&span, root) }
        }
    })
}

/// Iallgather and Iallgatherv. `mine`: the block of this rank. All ranks know the lengths of all `blocks`.
pub(super) unsafe fn iallgather<F: Fn(c_int) -> Span>(
    shim: &Shim,
    mine: Span,
    blocks: Blocks<F>,
    how: How,
    pass: impl Fn() -> c_int,
) -> c_int {
    let Some(peers) = shim.collective_peers(how.comm()).filter(|peers| peers.spread.may_gather()) else {
        return pass();
    };
    if !peers.ranks().any(|rank| shim.is_long(&blocks.of(rank)))
        || shim.refuses_gathered(&peers, &mine, &blocks)
    {
        return pass();
    }
    shim.exchange(&peers, how, &By::Tag, pass, |start| {
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
