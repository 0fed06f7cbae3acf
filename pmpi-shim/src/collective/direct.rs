//! Nonblocking broadcast and all-gather: messages from where the data is to all who want it, encoded once.
//!
//! In the way of the blocking forms somebody has to go on with the next step when the one before is done, also while the rank is
//! in another call, or a job hangs that would not by the MPI alone. Here all messages are under way at once. They pass through no
//! hands, so that many ranks would be reached slower than by the MPI's trees and rings, if nothing can be compressed: then the MPI
//! does it ([`mpress::Spread`]).

use super::{Blocks, How};
use crate::span::Span;
use crate::state::Shim;
use crate::sys::*;
use std::ffi::c_int;

/// Ibcast.
pub(crate) unsafe fn ibcast(
    shim: &Shim,
    span: Span,
    root: c_int,
    how: How,
    pass: impl Fn() -> c_int,
) -> c_int {
    let Some(peers) = shim
        .rooted_peers(how.comm(), root, Some(span))
        .filter(|peers| peers.collectives.allow(how) && peers.spread.may_broadcast(root))
    else {
        return pass();
    };
    if shim.refused(&span) {
        return pass();
    }
    shim.exchange(&peers.collectives, how, |start| {
        // SAFETY: the program's own span.
        unsafe {
            if start.group.rank == root { start.send_to_others(&span) } else { start.receive(&span, root) }
        }
    })
}

/// Iallgather and Iallgatherv. `mine`: the block of this rank. All ranks know the lengths of all `blocks`.
pub(crate) unsafe fn iallgather(
    shim: &Shim,
    mine: Span,
    blocks: impl Blocks,
    how: How,
    pass: impl Fn() -> c_int,
) -> c_int {
    let Some(peers) = shim
        .collective_peers(how.comm())
        .filter(|peers| peers.collectives.allow(how) && peers.spread.may_gather())
    else {
        return pass();
    };
    let refused = mine.ptr != IN_PLACE && shim.refused(&mine);
    if refused || !(0..peers.size()).any(|rank| shim.is_long(&blocks(rank))) {
        return pass();
    }
    shim.exchange(&peers.collectives, how, |start| {
        let group = start.group;
        let own = blocks(group.rank);
        // SAFETY: the program's own blocks.
        unsafe {
            group.others().for_each(|rank| start.receive(&blocks(rank), rank));
            if mine.ptr == IN_PLACE {
                start.send_to_others(&own);
            } else {
                start.send_to_others(&mine);
                start.copy(&mine, &own);
            }
        }
    })
}
