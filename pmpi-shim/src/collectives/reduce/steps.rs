//! The steps of a reduction: contributions are combined, then the results are sent to the ranks that need them.
//!
//! Each rank owns a block of the result. Contributions to it are first reduced within each node, then between nodes. So each node sends a compressed
//! block once to each other node ([`mpress::Hierarchy`]), and the ranks share encoding and decoding. Then the blocks are sent to the ranks that need
//! them. The MPI performs the operations (`MPI_Reduce_local`).

use super::super::Group;
use super::super::start::Start;
use super::{Blocks, Call};
use crate::mpi::fatal::{give_up, no_memory};
use crate::mpi::{span::Span, sys::*};
use crate::operations::state::Shim;
use mpress::{Buffer, Hierarchy};
use std::iter;

/// A reduction in progress.
pub(super) struct Reducing<'a> {
    shim: &'a Shim,
    group: &'a Group<'a>,
    hierarchy: &'a Hierarchy,
    call: &'a Call,
    blocks: &'a Blocks,
    /// Size of an element in bytes.
    size: usize,
    rank: usize,
    /// The ranks whose blocks this rank reduces within its node.
    aggregated: Vec<usize>,
    /// Their partial results.
    sums: Memory,
}

impl<'a> Reducing<'a> {
    /// # Safety
    /// The buffers of `call` must be the program's, with elements for these blocks.
    pub(super) unsafe fn new(
        shim: &'a Shim,
        group: &'a Group<'a>,
        call: &'a Call,
        (blocks, size): (&'a Blocks, usize),
    ) -> Self {
        let (hierarchy, rank) = (group.peers.spread.hierarchy(), group.rank().unsigned_abs() as usize);
        let aggregated: Vec<_> = hierarchy.aggregated_by(rank).collect();
        let sums = Memory::new(shim, (blocks, size), &aggregated);
        Self { shim, group, hierarchy, call, blocks, size, rank, aggregated, sums }
    }

    /// The block of a rank in a buffer of the program that holds all blocks.
    fn all(&self, buf: *const c_void, rank: usize) -> Span {
        let start = (self.blocks.starts[rank] as usize).wrapping_mul(self.size);
        // SAFETY: the caller of `new` vouches for the buffer.
        unsafe { self.call.span(buf.wrapping_byte_add(start), self.blocks.counts[rank]) }
    }

    /// The block of a rank in one of our own buffers.
    fn ours(&self, memory: &Memory, rank: usize) -> Span {
        // SAFETY: it has room for the block, and is kept until the reduction is complete.
        unsafe { self.call.span(memory.at(rank).cast(), self.blocks.counts[rank]) }
    }

    fn memory(&self, ranks: &[usize]) -> Memory {
        Memory::new(self.shim, (self.blocks, self.size), ranks)
    }

    /// The ranks `step` after and `step` before this one in its node.
    fn neighbours(&self, step: usize) -> (usize, usize) {
        let back = self.hierarchy.beside(self.rank) - step;
        (self.hierarchy.neighbour(self.rank, step), self.hierarchy.neighbour(self.rank, back))
    }

    /// The nodes `step` after and `step` before that of this rank.
    fn nodes(&self, step: usize) -> (usize, usize) {
        let (node, nodes) = (self.hierarchy.node(self.rank), self.hierarchy.nodes());
        ((node + step) % nodes, (node + nodes - step) % nodes)
    }

    /// The ranks of a node whose blocks this rank reduces within its own node.
    fn aggregated_of(&self, node: usize) -> impl Iterator<Item = usize> {
        self.aggregated.iter().copied().filter(move |&rank| self.hierarchy.node(rank) == node)
    }

    /// Reduces the contributions of all ranks to this rank's block, those within each node first.
    pub(super) fn bring_together(&self, start: &mut Start<'_>) {
        let from = self.call.source();
        let (steps, nodes) = (self.hierarchy.beside(self.rank), self.hierarchy.nodes());
        for &rank in &self.aggregated {
            start.copy(&self.all(from, rank), &self.ours(&self.sums, rank));
        }
        let incoming: Vec<_> = (1..steps).map(|_| self.memory(&self.aggregated)).collect();
        for (step, memory) in (1..steps).zip(&incoming) {
            let (dest, source) = self.neighbours(step);
            let receives = self.aggregated.iter().map(|&rank| (self.ours(memory, rank), source));
            let sends = self.hierarchy.aggregated_by(dest).map(|rank| (self.all(from, rank), dest));
            start.in_turn(receives, sends);
        }
        self.add(start, &incoming, &self.aggregated);

        let incoming: Vec<_> = (1..nodes).map(|_| self.memory(&[self.rank])).collect();
        for (step, memory) in (1..nodes).zip(&incoming) {
            let (dest, source) = self.nodes(step);
            let source = self.hierarchy.aggregator(source, self.rank);
            let receives = iter::once((self.ours(memory, self.rank), source));
            let sends = self.aggregated_of(dest).map(|rank| (self.ours(&self.sums, rank), rank));
            start.in_turn(receives, sends);
        }
        self.add(start, &incoming, &[self.rank]);
    }

    /// Waits for incoming contributions, and adds them to these ranks' blocks. If one is missing, the owners of these blocks must not take the rest
    /// for the result.
    fn add(&self, start: &mut Start<'_>, incoming: &[Memory], ranks: &[usize]) {
        start.wait();
        if let Err(code) = start.messages.outcome {
            give_up("a part of a reduction has not come", code);
        }
        for (memory, &rank) in incoming.iter().flat_map(|memory| ranks.iter().map(move |rank| (memory, rank)))
        {
            let (from, to) = (self.ours(memory, rank), self.ours(&self.sums, rank));
            start.messages.note(reduce_local(&from, &to, self.call.op, self.size));
        }
    }

    /// Copies the block of this rank to the program's buffer.
    pub(super) fn take(&self, start: &mut Start<'_>) {
        let own = self.ours(&self.sums, self.rank);
        // SAFETY: the caller of `new` vouches for the buffer.
        start.copy(&own, &unsafe { self.call.span(self.call.to, own.count()) });
    }

    /// Gathers all blocks at the root.
    pub(super) fn gather(&self, start: &mut Start<'_>, root: c_int) {
        let own = self.ours(&self.sums, self.rank);
        if self.group.rank() != root {
            return start.send(&own, root);
        }
        start.copy(&own, &self.all(self.call.to, self.rank));
        for rank in self.group.others() {
            start.receive(&self.all(self.call.to, rank.unsigned_abs() as usize), rank);
        }
    }

    /// Sends all blocks to all ranks: first to one rank of each node.
    pub(super) fn spread(&self, start: &mut Start<'_>) {
        let (own, to) = (self.ours(&self.sums, self.rank), self.call.to);
        let (steps, nodes) = (self.hierarchy.beside(self.rank), self.hierarchy.nodes());
        start.copy(&own, &self.all(to, self.rank));
        let aggregator = |node| self.hierarchy.aggregator(node, self.rank) as c_int;
        start.send_to_each(&own, (1..nodes).map(|step| aggregator(self.nodes(step).0)));
        for rank in (1..nodes).flat_map(|step| self.aggregated_of(self.nodes(step).1)) {
            start.receive(&self.all(to, rank), rank as c_int);
        }
        start.wait();
        for step in 1..steps {
            let (dest, source) = self.neighbours(step);
            let receives = self.hierarchy.aggregated_by(source).map(|rank| (self.all(to, rank), source));
            let sends = self.aggregated.iter().map(|&rank| (self.all(to, rank), dest));
            start.in_turn(receives, sends);
        }
    }
}

/// Blocks of some ranks, one after the other.
struct Memory {
    at: *mut u8,
    _buffer: Buffer,
    /// The ranks in ascending order, each with the offset of its block in bytes.
    starts: Vec<(usize, usize)>,
}

impl Memory {
    /// Ends the job if there is no memory, since other ranks would wait for ever.
    fn new(shim: &Shim, (blocks, size): (&Blocks, usize), ranks: &[usize]) -> Self {
        let mut len = 0;
        let mut place = |rank: usize| {
            let start = len;
            len += (blocks.counts[rank] as usize).saturating_mul(size);
            (rank, start)
        };
        let starts = ranks.iter().map(|&rank| place(rank)).collect();
        let mut buffer = shim.engine.buffer(len).unwrap_or_else(|| no_memory(len, "a reduction"));
        Self { at: buffer.room().as_mut_ptr().cast(), _buffer: buffer, starts }
    }

    /// The address of a rank's block.
    fn at(&self, rank: usize) -> *mut u8 {
        let found = self.starts.binary_search_by_key(&rank, |(rank, _)| *rank);
        let start = found.ok().and_then(|at| self.starts.get(at)).map_or(0, |(_, start)| *start);
        self.at.wrapping_add(start)
    }
}

/// Reduces contiguous elements of `size` bytes into the same number of others.
fn reduce_local(from: &Span, to: &Span, op: MPI_Op, size: usize) -> Result<(), c_int> {
    let (mut done, count) = (0, from.count());
    while done < count {
        let part = c_int::try_from(count - done).unwrap_or(1 << 30);
        let at = |span: &Span| span.ptr().wrapping_byte_add(done as usize * size);
        // SAFETY: both buffers are our own and hold this many elements, which have all been received.
        ok(unsafe { PMPI_Reduce_local(at(from), at(to), part, from.datatype(), op) })?;
        done += MPI_Count::from(part);
    }
    Ok(())
}
