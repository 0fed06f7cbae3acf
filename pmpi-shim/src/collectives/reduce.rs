//! Reduce, Allreduce, Reduce_scatter and Reduce_scatter_block, where the result does not depend on the order of the operations: for integers, and for
//! floating-point numbers only if the settings allow another order.
//!
//! All ranks give the same count, datatype and operation (MPI 3.1, section 5.9), so their decisions are the same.

use super::{Group, start::Start};
use crate::messages::agreed::{By, How, Raced};
use crate::mpi::{
    arguments::Numbers, fatal::give_up, fatal::no_memory, handle::Handle, predefined, real, span::Span,
    span::packed_len, sys::*,
};
use crate::operations::state::Shim;
use mpress::{Buffer, Hierarchy, Kind, Reduce};
use std::{collections::HashMap, iter, sync::LazyLock, sync::Mutex};

/// If the average block has fewer bytes, the reduction is left to the MPI, whose own algorithms take fewer steps.
const LEAST: usize = 8 << 10;

/// A reduction as called by the program.
#[derive(Clone, Copy)]
pub(super) struct Call {
    pub(super) from: *const c_void,
    pub(super) to: *mut c_void,
    pub(super) datatype: MPI_Datatype,
    pub(super) op: MPI_Op,
    pub(super) comm: MPI_Comm,
}

impl Call {
    /// The address of this rank's elements.
    fn source(&self) -> *const c_void {
        if self.from == IN_PLACE { self.to } else { self.from }
    }

    /// # Safety
    /// As for [`Span::new`].
    unsafe fn span(&self, ptr: *const c_void, count: MPI_Count) -> Span {
        // SAFETY: the caller vouches for the elements.
        unsafe { Span::new(ptr, count, self.datatype) }
    }
}

/// Which ranks get the result of a reduction, and how many elements it has.
#[derive(Clone, Copy)]
pub(super) enum Recipients<'a> {
    /// All ranks get all elements.
    All(MPI_Count),
    /// This root gets all elements.
    Root(c_int, MPI_Count),
    /// Each rank gets its own block, of the number of elements that the function gives for it.
    Each(&'a dyn Fn(usize) -> MPI_Count),
}

/// Allreduce, Reduce, Reduce_scatter and Reduce_scatter_block.
///
/// # Safety
/// The buffers must be the program's.
pub(super) unsafe fn reduce(shim: &Shim, call: Call, to: Recipients<'_>, pass: impl Fn() -> c_int) -> c_int {
    let peers = match to {
        // Most reductions are too short, so this is asked first.
        Recipients::All(count) | Recipients::Root(_, count) if shim.may_reduce(&call, count).is_none() => {
            None
        }
        Recipients::Root(root, _) => shim.rooted_peers(call.comm, root),
        Recipients::All(_) | Recipients::Each(_) => shim.collective_peers(call.comm),
    };
    let Some(peers) = peers else { return pass() };
    let blocks = match to {
        Recipients::All(count) | Recipients::Root(_, count) => Blocks::equal(count, peers.size()),
        Recipients::Each(count_of) => Blocks::new((0..peers.size().unsigned_abs() as usize).map(count_of)),
    };
    let total = blocks.total();
    // SAFETY: the caller vouches for the buffers.
    let refused = || match (to, unsafe { call.span(call.from, total) }) {
        (Recipients::All(count), _) => shim.refuses_reduced(&call, count),
        // Open MPI refuses aliased buffers here, though not elsewhere.
        (Recipients::Root(root, count), _) if peers.rank == root => {
            shim.refuses_reduced(&call, count) || call.from == call.to.cast_const()
        }
        (Recipients::Root(..), from) => from.is_in_place() || shim.refused(&from),
        (Recipients::Each(_), from) if from.is_in_place() => shim.refuses_reduced(&call, total),
        (Recipients::Each(count_of), from) => {
            shim.refuses_reduced(&call, count_of(peers.rank.unsigned_abs() as usize)) || shim.refused(&from)
        }
    };
    let elements = usize::try_from(total).unwrap_or(0);
    // Whether the blocks are long enough, and the MPI supports the operation.
    let is_worth = |size: &usize| {
        let average = elements.saturating_mul(*size) / blocks.counts.len();
        average >= LEAST.max(shim.threshold) && shim.has_operation(&call)
    };
    let size = shim.may_reduce(&call, total).filter(is_worth).filter(|_| !refused());
    let Some(size) = size else { return pass() };
    // If the result depends on the order, the order must not depend on timing, so it is always done here.
    let by = match predefined::kind(call.datatype) {
        Some(Kind::F32 | Kind::F64) => By::Tag,
        _ => shim.race(Raced::Reduction, elements.saturating_mul(size)),
    };
    shim.exchange(&peers, How::Blocking(call.comm), &by, pass, |start| {
        // SAFETY: the caller vouches for the buffers.
        let reducing = unsafe { Reducing::new(shim, start.group, &call, (&blocks, size)) };
        reducing.bring_together(start);
        match to {
            Recipients::All(_) => reducing.spread(start),
            Recipients::Root(root, _) => reducing.gather(start, root),
            Recipients::Each(_) => reducing.take(start),
        }
        start.wait(); // for sends from `reducing`'s memory
        if start.messages.outcome.is_err() {
            std::mem::forget(reducing); // the MPI may still use its memory
        }
    })
}

/// The number of elements for each rank, from an array of counts; without an array a negative number, which the MPI refuses.
///
/// # Safety
/// The array must be null or have an entry for each rank, and the function must not be called for others.
pub(super) unsafe fn counts(counts: Numbers) -> impl Fn(usize) -> MPI_Count {
    // SAFETY: guaranteed by the caller.
    move |rank| if counts.is_null() { -1 } else { unsafe { counts.at(rank) } }
}

/// The elements that each rank owns.
struct Blocks {
    counts: Vec<MPI_Count>,
    /// The start of each block.
    starts: Vec<MPI_Count>,
}

impl Blocks {
    fn new(counts: impl Iterator<Item = MPI_Count>) -> Self {
        let counts: Vec<_> = counts.collect();
        let starts = counts
            .iter()
            .scan(0, |start: &mut MPI_Count, count| {
                Some(std::mem::replace(start, start.wrapping_add(*count)))
            })
            .collect();
        Self { counts, starts }
    }

    fn equal(count: MPI_Count, ranks: c_int) -> Self {
        let ranks = MPI_Count::from(ranks);
        Self::new((0..ranks).map(|rank| count / ranks + MPI_Count::from(rank < count % ranks)))
    }

    /// Number of elements of all blocks; negative if the MPI will refuse one.
    fn total(&self) -> MPI_Count {
        let add = |sum: MPI_Count, count: &MPI_Count| sum.checked_add(*count).filter(|_| *count >= 0);
        self.counts.iter().try_fold(0, add).unwrap_or(-1)
    }
}

impl Shim {
    /// The size of an element in bytes, if the arguments permit a reduction of `count` elements here: the result is identical in any order, or any
    /// order is allowed.
    fn may_reduce(&self, call: &Call, count: MPI_Count) -> Option<usize> {
        let kind = predefined::kind(call.datatype)?;
        // Pairs of value and index, and complex numbers, are longer than an element of their kind.
        let size = kind.size();
        let bytes = packed_len(count, call.datatype)?;
        if self.reduce == Reduce::Off || bytes < 2 * LEAST || usize::try_from(count).ok()? != bytes / size {
            return None;
        }
        let arithmetic = [MAX, MIN, SUM, PROD].contains(&call.op);
        let bitwise = [BAND, BOR, BXOR].contains(&call.op);
        let in_any_order = match kind {
            Kind::Int8 | Kind::Int16 if call.op == SUM => self.family.wraps_short_sums(),
            Kind::Int8 | Kind::Int16 | Kind::Int32 | Kind::Int64 => {
                arithmetic || bitwise || [LAND, LOR, LXOR].contains(&call.op)
            }
            // Minimum and maximum depend on the order, too, because of signed zeros and NaNs.
            Kind::F32 | Kind::F64 => self.reduce == Reduce::Reorder && arithmetic,
            Kind::Other => call.datatype == BYTE && bitwise,
        };
        in_any_order.then_some(size)
    }

    /// Whether the MPI refuses this rank's arguments of a reduction that gives it `count` elements.
    fn refuses_reduced(&self, call: &Call, count: MPI_Count) -> bool {
        // SAFETY: the program's own arguments.
        let (from, to) = unsafe { (call.span(call.from, count), call.span(call.to, count)) };
        (to.is_in_place() && count > 0)
            || self.refused(&to)
            || !from.is_in_place()
                && (self.refused(&from) || (from.ptr() == to.ptr() && self.refuses_aliases()))
    }

    /// Whether the MPI supports this operation for elements of this datatype. Each combination is tested once.
    fn has_operation(&self, call: &Call) -> bool {
        static KNOWN: LazyLock<Mutex<HashMap<(usize, usize), bool>>> = LazyLock::new(Mutex::default);
        let key = (call.datatype.key(), call.op.key());
        let mut known = crate::locked(&KNOWN);
        *known.entry(key).or_insert_with(|| {
            let mut value = 0_u64;
            let at = (&raw mut value).cast();
            // SAFETY: an element of at most 8 bytes, on a communicator of one rank, which returns errors; one thread at a time.
            unsafe { real::MPI_Allreduce(IN_PLACE, at, 1, call.datatype, call.op, self.own_comm) == SUCCESS }
        })
    }
}

/// A reduction in progress. Each rank owns a block of the result. Contributions to it are first reduced within each node, then between nodes. So each
/// node sends a compressed block once to each other node ([`mpress::Hierarchy`]), and the ranks share encoding and decoding. Then the blocks are sent
/// to the ranks that need them. The MPI performs the operations (`MPI_Reduce_local`).
struct Reducing<'a> {
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
    unsafe fn new(
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
    fn bring_together(&self, start: &mut Start<'_>) {
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
    fn take(&self, start: &mut Start<'_>) {
        let own = self.ours(&self.sums, self.rank);
        // SAFETY: the caller of `new` vouches for the buffer.
        start.copy(&own, &unsafe { self.call.span(self.call.to, own.count()) });
    }

    /// Gathers all blocks at the root.
    fn gather(&self, start: &mut Start<'_>, root: c_int) {
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
    fn spread(&self, start: &mut Start<'_>) {
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
