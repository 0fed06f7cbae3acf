//! Reduce, Allreduce, Reduce_scatter and Reduce_scatter_block, where the result does not depend on the order of the operations: for integers, and for
//! floating-point numbers only if the settings allow another order.
//!
//! All ranks give the same count, datatype and operation (MPI 3.1, section 5.9), so their decisions are the same.

mod steps;

use crate::messages::agreed::{By, How, Raced};
use crate::mpi::span::{Span, packed_len};
use crate::mpi::{arguments::Numbers, handle::Handle, predefined, real, sys::*};
use crate::operations::state::Shim;
use mpress::{Kind, Reduce};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};
use steps::Reducing;

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
