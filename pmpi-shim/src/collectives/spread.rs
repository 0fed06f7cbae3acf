//! Broadcast and all-gather: in chunks ([`relay`]), as frames that the MPI relays ([`shared`]), or by the MPI alone, as the ranks decide for each
//! call. In the nonblocking ones, the owner of the data sends it to all other ranks, encoded once: a job might hang if a rank had to start a second
//! step while it is in another call.

use super::{Group, Handed, blocks::Blocks, relay, shared};
use crate::messages::agreed::{By, How, Raced, Way};
use crate::messages::{context::Context, error::Error, error::raise, peers::Peers};
use crate::mpi::{span::Span, sys::*};
use crate::operations::state::Shim;
use mpress::waiting;
use std::slice;

/// Bcast and Ibcast.
pub(crate) fn bcast(shim: &Shim, span: Span, root: c_int, how: How, pass: impl Fn() -> c_int) -> c_int {
    let Some(peers) = shim.rooted_peers(how.comm(), root).filter(|_| shim.is_long(&span)) else {
        return pass();
    };
    let may = |peers: &Peers| matches!(how, How::Blocking(_)) || peers.spread.may_broadcast(root);
    if !may(&peers) || span.is_in_place() || shim.refused(&span) {
        return pass();
    }
    let How::Blocking(comm) = how else {
        return shim.exchange(&peers, how, &By::Tag, pass, |start| {
            let group = start.group;
            match group.rank() == root {
                true => start.send_to_each(&span, group.others()),
                false => start.receive(&span, root),
            }
        });
    };
    let len = span.bytes().unwrap_or(0);
    let raced = (Raced::Bcast, slice::from_ref(&len));
    let in_chunks = |group: &Group<'_>, id| {
        relay::hand_on(shim, group, (id, "a broadcast"), span, &[(root, len)], |_| span)
    };
    let as_frames = || shared::bcast(shim, &peers, span, root, comm);
    shim.spread(&peers, comm, raced, in_chunks, as_frames, pass)
}

/// Allgather, Allgatherv, and their nonblocking forms. `mine`: the block of this rank. All ranks know the lengths of all blocks, `all`.
pub(crate) fn allgather(shim: &Shim, mine: Span, all: Blocks, how: How, pass: impl Fn() -> c_int) -> c_int {
    let Some(peers) = shim.collective_peers(how.comm()) else { return pass() };
    let lens: Option<Vec<usize>> = peers.ranks().map(|rank| all.of(rank).bytes()).collect();
    let may = |lens: &[usize]| match how {
        // The MPI's counts and displacements are ints.
        How::Blocking(_) => lens
            .iter()
            .try_fold(0_usize, |sum, len| sum.checked_add(*len))
            .is_some_and(|sum| c_int::try_from(sum).is_ok()),
        How::Nonblocking(..) => peers.spread.may_gather(),
    };
    let is_long = |lens: &[usize]| lens.iter().any(|len| *len >= shim.threshold);
    let Some(lens) = lens.filter(|lens| is_long(lens) && may(lens)) else { return pass() };
    let refuses_mine = || shim.refused(&mine) || shim.refuses_alias(&all, peers.rank, &mine);
    if shim.refuses_any(&all, peers.size(), Context::refuses_received)
        || !mine.is_in_place() && refuses_mine()
    {
        return pass();
    }
    let How::Blocking(comm) = how else {
        return shim.exchange(&peers, how, &By::Tag, pass, |start| {
            let (group, own) = (start.group, all.of(peers.rank));
            group.others().for_each(|rank| start.receive(&all.of(rank), rank));
            if mine.is_in_place() {
                return start.send_to_each(&own, group.others());
            }
            start.send_to_each(&mine, group.others());
            start.copy(&mine, &own);
        });
    };
    let (all, lens) = (&all, &lens[..]);
    let in_chunks = |group: &Group<'_>, id| {
        let own = all.of(peers.rank);
        let (source, copied) = match mine.is_in_place() {
            true => (own, Ok(())),
            false => (mine, shim.copy_block(&mine, &own)),
        };
        let owners: Vec<_> = peers.ranks().zip(lens.iter().copied()).collect();
        let call = (id, "an all-gather");
        relay::hand_on(shim, group, call, source, &owners, |rank| all.of(rank)).landing(|| copied)
    };
    let as_frames = || shared::allgather(shim, &peers, mine, (all, lens), comm);
    shim.spread(&peers, comm, (Raced::Allgather, lens), in_chunks, as_frames, pass)
}

impl Shim {
    /// Makes a collective of blocks of these lengths in one of two ways, or by the MPI, as the ranks decide now; returns the program's result. The
    /// MPI must not refuse this rank's arguments: the decision counts for the ranks' next calls.
    fn spread(
        &self,
        peers: &Peers,
        comm: MPI_Comm,
        (raced, lens): (Raced, &[usize]),
        in_chunks: impl FnOnce(&Group<'_>, u32) -> Handed,
        as_frames: impl FnOnce() -> Result<Handed, Error>,
        pass: impl Fn() -> c_int,
    ) -> c_int {
        let by = self.race(raced, lens.iter().sum());
        // In chunks, if there are any. Along many nodes, a few of them would take longer than the MPI's own algorithm.
        let chunks_of = |&len: &usize| self.engine.chunk(len).map(|chunk| len.div_ceil(chunk));
        let chunks: usize = lens.iter().filter_map(chunks_of).sum();
        let fits = chunks > 0 && self.hierarchy(peers).nodes().saturating_sub(2) <= chunks / 4;
        let turn = match peers.collectives.spread((&self.private, comm), raced, fits.then_some(&by)) {
            Ok(turn) => turn,
            Err(code) => return code,
        };
        let result = turn.make(&self.engine, |way, here| {
            let Handed { outcome, shorter } = match (way, here) {
                (Way::Mpi, _) => Handed { outcome: Ok(false), shorter: None },
                (_, Some(here)) => {
                    waiting::during(&self.engine, || in_chunks(&Group::of(self, peers, here), here.number))
                }
                (_, None) => waiting::during(&self.engine, as_frames)
                    .unwrap_or_else(|error| Handed { outcome: Err(error), shorter: Some(true) }),
            };
            (outcome.map(|made| if made { SUCCESS } else { pass() }), shorter)
        });
        // Last, since a handler of the program may leave the call.
        result.unwrap_or_else(|error| raise(comm, error))
    }
}
