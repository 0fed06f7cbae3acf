//! Broadcast and all-gather of long blocks, which are handed on in chunks ([`relay`](super::relay)).
//!
//! They cost no message more than the MPI's own. Whether they or the MPI's own are faster depends on network, processors and data, so both are
//! tried ([`Race`](crate::agreed::Race)). With a fixed codec they are left to the MPI for some calls where nothing got shorter: all ranks learn that from
//! the blocks themselves, and count alike.

use super::Group;
use super::blocks::Blocks;
use super::relay::{Outcome, Part};
use crate::agreed::Chunked;
use crate::error::raise;
use crate::peers::Peers;
use crate::span::{Layout, Span};
use crate::state::Shim;
use crate::sys::*;
use crate::waiting;
use mpress::{Buffer, Kind};
use std::ffi::c_int;
use std::iter;
use std::ptr;
use std::time::Instant;

impl Shim {
    /// The tag of a broadcast in chunks; `None` if it is not made so. Along a line of many nodes few chunks would take longer than the MPI's
    /// tree.
    pub(super) fn broadcast_tag(&self, peers: &Peers, span: &Span) -> Option<c_int> {
        let len = span.bytes()?;
        let chunks = len.div_ceil(self.engine.chunk(len)?);
        let hops = peers.spread.hierarchy().nodes().saturating_sub(2);
        peers.collectives.known_tag().filter(|_| hops <= chunks / 4)
    }
}

/// Bcast.
///
/// # Safety
/// `span` must be what the program gave, and the MPI must not refuse it. All ranks must make this call.
pub(super) unsafe fn bcast(
    shim: &Shim,
    group: &Group<'_>,
    span: Span,
    root: c_int,
    pass: impl Fn() -> c_int,
) -> c_int {
    let (len, own) = (span.bytes().unwrap_or(0), group.rank() == root);
    let spread = || {
        // SAFETY: the program's own span, which lasts for this call.
        unsafe {
            let place = match own {
                true => Place::to_give(shim, span, len),
                false => Place::new(shim, span, len),
            };
            let part = Part { owner: root.unsigned_abs() as usize, at: place.at, len };
            let id = group.peers.collectives.next_in_chunks();
            let outcome = shim.hand_on(group, &[part], place.kind, (id, "a broadcast"))?;
            if !own && outcome != Outcome::Nothing {
                place.land(shim)?;
            }
            Ok(outcome)
        }
    };
    shim.spread(&group.peers.collectives.long_bcast, group, len, spread, pass)
}

/// Allgather and Allgatherv. `mine`: the block of this rank; `lens`: of all `blocks`, in bytes.
///
/// # Safety
/// As for [`bcast`].
pub(super) unsafe fn allgather<F: Fn(c_int) -> Span>(
    shim: &Shim,
    group: &Group<'_>,
    mine: Span,
    blocks: &Blocks<F>,
    lens: &[usize],
    pass: impl Fn() -> c_int,
) -> c_int {
    let spread = || {
        let own = blocks.of(group.rank());
        // SAFETY: the program's own blocks, which last for this call.
        unsafe {
            let (source, copied) = match mine.ptr == IN_PLACE {
                true => (own, Ok(())),
                false => (mine, shim.copy_block(&mine, &own)),
            };
            let places: Vec<_> = iter::zip(group.peers.ranks(), lens)
                .map(|(rank, &len)| match rank == group.rank() {
                    true => Place::to_give(shim, source, len),
                    false => Place::new(shim, blocks.of(rank), len),
                })
                .collect();
            let part = |(owner, (place, &len)): (usize, (&Place, &usize))| Part { owner, at: place.at, len };
            let parts: Vec<_> = iter::zip(&places, lens).enumerate().map(part).collect();
            let kind =
                places.get(group.rank().unsigned_abs() as usize).map_or(Kind::Other, |place| place.kind);
            let id = group.peers.collectives.next_in_chunks();
            let outcome = shim.hand_on(group, &parts, kind, (id, "an all-gather"))?;
            if outcome != Outcome::Nothing {
                for (_, place) in
                    iter::zip(group.peers.ranks(), &places).filter(|(rank, _)| *rank != group.rank())
                {
                    place.land(shim)?;
                }
                copied?;
            }
            Ok(outcome)
        }
    };
    let len = lens.iter().sum();
    shim.spread(&group.peers.collectives.long_allgather, group, len, spread, pass)
}

impl Shim {
    /// Makes a collective of so many bytes in chunks, or leaves it to the MPI; gives what the program gets.
    fn spread(
        &self,
        chunked: &Chunked,
        group: &Group<'_>,
        bytes: usize,
        spread: impl FnOnce() -> Result<Outcome, c_int>,
        pass: impl Fn() -> c_int,
    ) -> c_int {
        let comm = group.program;
        let here = if self.races { chunked.race.is_made_here(comm) } else { Ok(!chunked.pause.takes()) };
        let start = Instant::now();
        let (here, outcome) = match here {
            Ok(true) => (true, waiting::during(&self.engine, spread)),
            Ok(false) => (false, Ok(Outcome::Nothing)),
            Err(code) => return code,
        };
        if here && !self.races {
            // An error comes of what has been compressed.
            chunked.pause.learn(!matches!(outcome, Ok(Outcome::AsLong | Outcome::Nothing)));
        }
        let code = match outcome {
            Ok(Outcome::Nothing) => pass(),
            Ok(_) => SUCCESS,
            Err(code) => raise(comm, code),
        };
        if self.races {
            chunked.race.took(here, bytes, start.elapsed());
        }
        code
    }
}

/// The bytes of a block: in the program's memory if they lie there one after the other, else in ours.
struct Place {
    span: Span,
    kind: Kind,
    at: *mut u8,
    ours: Option<Buffer>,
}

impl Place {
    /// Of a block of this rank's own. Without memory for it, it is at no place.
    ///
    /// # Safety
    /// The span must be what the program gave, and have so many bytes.
    unsafe fn to_give(shim: &Shim, span: Span, len: usize) -> Self {
        // SAFETY: the caller vouches for the span.
        unsafe {
            shim.sample_collective(&span, None);
            let mut place = Self::new(shim, span, len);
            if let Some(ours) = &mut place.ours
                && len > 0
                && shim.gather(&span, ours).is_err()
            {
                place.at = ptr::null_mut();
            }
            place
        }
    }

    /// Of a block that another rank gives. Without memory for it, it is at no place.
    fn new(shim: &Shim, span: Span, len: usize) -> Self {
        if let Layout::Contiguous(kind) = shim.layout(&span) {
            return Self { span, kind, at: span.ptr.cast(), ours: None };
        }
        let mut ours = shim.engine.buffer(len);
        let at = ours.as_mut().map_or(ptr::null_mut(), |ours| {
            ours.set_len(len);
            ours.as_mut_ptr()
        });
        Self { span, kind: Kind::Other, at, ours }
    }

    /// Puts what has come where the program wants it.
    ///
    /// # Safety
    /// As for `to_give`.
    unsafe fn land(&self, shim: &Shim) -> Result<(), c_int> {
        match &self.ours {
            // SAFETY: the caller vouches for the span.
            Some(ours) if !ours.is_empty() => unsafe { shim.scatter(ours, &self.span) },
            _ => Ok(()),
        }
    }
}
