//! Nonblocking broadcast and all-gather: the owner of the data sends it to all other ranks, encoded once.
//!
//! The blocking algorithms need each step to be continued when the previous one is complete, even while the
//! rank is in another call; otherwise a job could hang that would not with the MPI alone. Here all messages
//! are started at once, and none are relayed. For many ranks this is slower than the MPI's trees and rings if
//! nothing can be compressed; then the operation is left to the MPI ([`mpress::Spread`]).

use super::blocks::Blocks;
use super::start::Start;
use crate::mpi::span::Span;
use crate::mpi::sys::*;
use std::ffi::c_int;

/// Ibcast.
///
/// # Safety
/// `span` must be the program's.
pub(super) unsafe fn broadcast(start: &mut Start<'_>, span: &Span, root: c_int) {
    // SAFETY: the caller vouches for the span.
    unsafe { if start.group.rank() == root { start.send_to_others(span) } else { start.receive(span, root) } }
}

/// Iallgather and Iallgatherv. `mine`: the block of this rank. All ranks know the lengths of all `blocks`.
///
/// # Safety
/// The blocks must be the program's.
pub(super) unsafe fn gather<F: Fn(c_int) -> Span>(start: &mut Start<'_>, mine: &Span, blocks: &Blocks<F>) {
    let group = start.group;
    let own = blocks.of(group.rank());
    // SAFETY: the caller vouches for the blocks.
    unsafe {
        group.others().for_each(|rank| start.receive(&blocks.of(rank), rank));
        if mine.ptr == IN_PLACE {
            start.send_to_others(&own);
        } else {
            start.send_to_others(mine);
            start.copy(mine, &own);
        }
    }
}
