//! All-to-all, scatter and gather, made of point-to-point messages like those of the send and receive calls.

use super::{blocks::Blocks, start::Start};
use crate::messages::agreed::{By, How, Raced};
use crate::messages::context::Context;
use crate::mpi::{span::Span, sys::*};
use crate::operations::state::Shim;

/// From this length on, in bytes, an MPI asks the receiver before it sends a message. Two ranks that send each other such messages start at the same
/// time.
const LONG: usize = 64 << 10;

/// Alltoall, Alltoallv and Alltoallw. For the latter two, only the sender and the receiver of a block know its length, so the ranks vote. In-place
/// calls are left to the MPI.
pub(crate) fn alltoall(shim: &Shim, from: Blocks, to: Blocks, how: How, pass: impl Fn() -> c_int) -> c_int {
    let Some(peers) = shim.collective_peers(how.comm()) else { return pass() };
    if from.buf == IN_PLACE || (to.are_equal() && !shim.is_long(&to.of(0))) {
        return pass();
    }
    let size = peers.size();
    if shim.refuses_any(&from, size, Context::refused)
        || shim.refuses_any(&to, size, Context::refused)
        // The buffers must differ if counts and datatypes are given by the same arguments.
        || from.buf == to.buf && from.given_as(&to) && shim.refuses_aliases()
    {
        return pass();
    }
    let start = |start: &mut Start<'_>| {
        let (rank, size) = (start.group.rank(), start.group.size());
        // With an even number of ranks, each sends in one of the steps to the rank that it receives from.
        let partner = Some((rank + size / 2) % size).filter(|partner| size % 2 == 0 && *partner != rank);
        let is_long = |block: Span| block.bytes().is_some_and(|len| len >= LONG);
        let partner = partner.filter(|&rank| is_long(from.of(rank)) || is_long(to.of(rank)));
        if from.buf == to.buf && from.buf != BOTTOM {
            if let Some(partner) = partner {
                start.meet(partner, false);
            }
            // Most MPIs refuse aliased buffers. If one does not, all blocks are read first, so that no part of a frame is sent on.
            (1..size)
                .map(|step| (rank + step) % size)
                .for_each(|dest| start.start_send(&from.of(dest), dest, true));
            start.copy(&from.of(rank), &to.of(rank));
            (1..size)
                .map(|step| (rank + size - step) % size)
                .for_each(|source| start.receive(&to.of(source), source));
            return;
        }
        start.copy(&from.of(rank), &to.of(rank));
        // In each step a rank receives from the rank that sends to it.
        for step in 1..size {
            let (source, dest) = ((rank + size - step) % size, (rank + step) % size);
            if partner == Some(dest) {
                start.meet(dest, true);
            }
            start.receive(&to.of(source), source);
            start.send(&from.of(dest), dest);
        }
    };
    let len = to.of(0).bytes().filter(|_| to.are_equal());
    let any_long = || peers.ranks().any(|rank| shim.is_long(&from.of(rank)));
    let by = match (how, len.filter(|&len| shim.engine.chunk(len).is_none())) {
        (How::Blocking(_), Some(len)) => {
            shim.race(Raced::Alltoall, len.saturating_mul(size.unsigned_abs() as usize))
        }
        _ if to.are_equal() => By::Tag,
        _ => By::Vote(&any_long),
    };
    shim.exchange(&peers, how, &by, pass, start)
}

/// Gather and Gatherv. `mine`: the block of this rank. `blocks`: those of all ranks, at the root.
pub(crate) fn gather(
    shim: &Shim,
    mine: Span,
    blocks: Blocks,
    root: c_int,
    how: How,
    pass: impl Fn() -> c_int,
) -> c_int {
    let (own, all) = ((&mine, Context::refused as Judge), (&blocks, Context::refuses_received as Judge));
    rooted(shim, own, all, root, how, pass, |start| {
        if start.group.rank() != root {
            return start.send(&mine, root);
        }
        if !mine.is_in_place() {
            start.copy(&mine, &blocks.of(root));
        }
        start.group.others().for_each(|rank| start.receive(&blocks.of(rank), rank));
    })
}

/// Scatter and Scatterv, in the opposite direction.
pub(crate) fn scatter(
    shim: &Shim,
    blocks: Blocks,
    mine: Span,
    root: c_int,
    how: How,
    pass: impl Fn() -> c_int,
) -> c_int {
    let (own, all) = ((&mine, Context::refuses_received as Judge), (&blocks, Context::refused as Judge));
    rooted(shim, own, all, root, how, pass, |start| {
        if start.group.rank() != root {
            return start.receive(&mine, root);
        }
        start.group.others().for_each(|rank| start.send(&blocks.of(rank), rank));
        if !mine.is_in_place() {
            start.copy(&blocks.of(root), &mine);
        }
    })
}

/// Returns whether the MPI refuses a block.
type Judge = fn(&Context, &Span) -> bool;

/// A gather or scatter. `own` and `all` check this rank's block, and those of the root.
fn rooted(
    shim: &Shim,
    (mine, own): (&Span, Judge),
    (blocks, all): (&Blocks, Judge),
    root: c_int,
    how: How,
    pass: impl Fn() -> c_int,
    start: impl FnOnce(&mut Start<'_>),
) -> c_int {
    let Some(peers) = shim.rooted_peers(how.comm(), root) else { return pass() };
    // Equal blocks have the length of this rank's or, at a root with `MPI_IN_PLACE`, of one in its buffer.
    let (at_root, in_place) = (peers.rank == root, mine.is_in_place());
    let block = if at_root && in_place && blocks.are_equal() { blocks.of(0) } else { *mine };
    let refuses_all = || shim.refuses_any(blocks, peers.size(), all);
    let refuses = || match in_place {
        true => !at_root || refuses_all(), // only the root may use `MPI_IN_PLACE`
        false => own(shim, mine) || at_root && (refuses_all() || shim.refuses_alias(blocks, root, mine)),
    };
    if blocks.are_equal() && !shim.is_long(&block) || refuses() {
        return pass();
    }
    // The MPI, too, waits for the other end of a message of this length.
    let waits = blocks.are_equal() && block.bytes().is_some_and(|len| shim.engine.chunk(len).is_some());
    let by = if waits { By::Tag } else { By::EarlierTag };
    shim.exchange(&peers, how, &by, pass, start)
}
