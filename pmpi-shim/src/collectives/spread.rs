//! Broadcast and all-gather of long blocks, which are relayed in chunks ([`relay`](super::relay)).
//!
//! They need no more messages than the MPI's own. Whether they or the MPI's own are faster, and whether compression makes them faster still,
//! depends on network, processors and data, so all three are tried ([`Race`](crate::messages::agreed::Race)). With a fixed codec they are left to the MPI for some calls if nothing got shorter: all ranks
//! learn that from the blocks themselves, and count the same.

use super::Group;
use super::blocks::Blocks;
use super::relay::{Handed, Part};
use crate::messages::agreed::{Chunked, Way};
use crate::messages::error::raise;
use crate::messages::peers::Peers;
use crate::messages::waiting;
use crate::mpi::device;
use crate::mpi::span::Span;
use crate::mpi::sys::*;
use crate::operations::state::Shim;
use mpress::{Buffer, Kind};
use std::ffi::c_int;
use std::iter;
use std::ptr;
use std::time::Instant;

impl Shim {
    /// The tag of a collective of blocks of these lengths, if it is to be made in chunks. Along many nodes, a few chunks would take longer
    /// than the MPI's own algorithm. The result is the same on all ranks.
    pub(super) fn chunked_tag(&self, peers: &Peers, lens: impl Iterator<Item = usize>) -> Option<c_int> {
        let chunks: usize =
            lens.filter_map(|len| self.engine.chunk(len).map(|chunk| len.div_ceil(chunk))).sum();
        if chunks == 0 {
            return None;
        }
        let hops = self.hierarchy(peers).nodes().saturating_sub(2);
        peers.collectives.known_tag().filter(|_| hops <= chunks / 4)
    }
}

/// Bcast.
///
/// # Safety
/// `span` must be the program's, and the MPI must not refuse it. All ranks must make this call.
pub(super) unsafe fn bcast(
    shim: &Shim,
    group: &Group<'_>,
    span: Span,
    root: c_int,
    pass: impl Fn() -> c_int,
) -> c_int {
    let (len, own) = (span.bytes().unwrap_or(0), group.rank() == root);
    let spread = |group: &Group<'_>| {
        // SAFETY: the program's own span, which lives for this call.
        unsafe {
            let place = match own {
                true => Place::to_give(shim, span, len),
                false => Place::new(shim, span, len),
            };
            let part = Part { owner: root.unsigned_abs() as usize, at: place.at, len };
            let id = group.peers.collectives.next_in_chunks();
            shim.hand_on(group, &[part], place.kind, (id, "a broadcast")).landing(|| match own {
                true => Ok(()),
                false => place.land(shim),
            })
        }
    };
    shim.spread(&group.peers.collectives.long_bcast, group, len, spread, pass)
}

/// Allgather and Allgatherv. `mine`: the block of this rank; `lens`: those of all `blocks`, in bytes.
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
    let spread = |group: &Group<'_>| {
        let own = blocks.of(group.rank());
        // SAFETY: the program's own blocks, which live for this call.
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
            shim.hand_on(group, &parts, kind, (id, "an all-gather")).landing(|| {
                iter::zip(group.peers.ranks(), &places)
                    .filter(|(rank, _)| *rank != group.rank())
                    .try_for_each(|(_, place)| place.land(shim))?;
                copied
            })
        }
    };
    let len = lens.iter().sum();
    shim.spread(&group.peers.collectives.long_allgather, group, len, spread, pass)
}

impl Shim {
    /// Makes a collective of this number of bytes in chunks, or leaves it to the MPI; returns the program's result.
    fn spread(
        &self,
        chunked: &Chunked,
        group: &Group<'_>,
        bytes: usize,
        spread: impl FnOnce(&Group<'_>) -> Handed,
        pass: impl Fn() -> c_int,
    ) -> c_int {
        let comm = group.program;
        let way = if self.races {
            chunked.race.way(comm)
        } else if chunked.pause.takes() {
            Ok(Way::Mpi)
        } else {
            Ok(Way::Compressed)
        };
        let began = (Instant::now(), self.engine.is_on_trial());
        let (way, outcome) = match way {
            Ok(Way::Mpi) => (Way::Mpi, Ok(false)),
            Ok(way) => {
                let Handed { outcome, shorter } =
                    waiting::during(&self.engine, || spread(&group.made(self, way)));
                if !self.races {
                    chunked.pause.learn(shorter);
                }
                (way, outcome)
            }
            Err(code) => return code,
        };
        let code = match outcome {
            Ok(true) => SUCCESS,
            Ok(false) => pass(),
            Err(code) => raise(comm, code),
        };
        if self.races {
            self.raced(&chunked.race, way, bytes, began);
        }
        code
    }
}

/// The bytes of a block: in the program's memory if contiguous, otherwise in ours.
struct Place {
    span: Span,
    kind: Kind,
    at: *mut u8,
    ours: Option<Buffer>,
}

impl Place {
    /// For a block of this rank. Its address is null if it must be left to the MPI: there is no memory for a copy, it is in device memory,
    /// or its length is not the one that the others expect.
    ///
    /// # Safety
    /// The span must be the program's, and have `len` bytes.
    unsafe fn to_give(shim: &Shim, span: Span, len: usize) -> Self {
        // SAFETY: the caller vouches for the span.
        unsafe {
            shim.sample_collective(&span, None);
            let mut place = Self::new(shim, span, len);
            if span.bytes() != Some(len) || device::is_device(span.ptr) {
                place.at = ptr::null_mut();
            } else if let Some(ours) = &mut place.ours
                && len > 0
                && shim.gather(&span, ours).is_err()
            {
                place.at = ptr::null_mut();
            }
            place
        }
    }

    /// For a block of another rank. Its address is null if there is no memory for it.
    fn new(shim: &Shim, span: Span, len: usize) -> Self {
        let layout = shim.layout(&span);
        let kind = layout.kind();
        if layout.is_contiguous() {
            return Self { span, kind, at: span.ptr.cast(), ours: None };
        }
        let mut ours = shim.engine.buffer(len);
        let at = ours.as_mut().map_or(ptr::null_mut(), |ours| {
            ours.set_len(len);
            ours.as_mut_ptr()
        });
        Self { span, kind, at, ours }
    }

    /// Copies the received block to the program's buffer.
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
