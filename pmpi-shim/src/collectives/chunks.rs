//! Broadcast and all-gather of long blocks: each block goes to all ranks in chunks ([`relay`](super::relay)).
//! A contiguous block is sent from the program's memory, any other from a copy.

use super::blocks::Blocks;
use super::relay::Part;
use super::{Group, Handed};
use crate::messages::error::Error;
use crate::mpi::device;
use crate::mpi::span::Span;
use crate::operations::state::Shim;
use mpress::{Buffer, Kind};
use std::ffi::c_int;
use std::iter;
use std::ptr;

/// Bcast, on all ranks; the MPI must not refuse `span`. `id`: the number of the collective.
pub(super) fn bcast(shim: &Shim, group: &Group<'_>, id: u32, span: Span, root: c_int) -> Handed {
    let (len, own) = (span.bytes().unwrap_or(0), group.rank() == root);
    let place = match own {
        true => Place::to_give(shim, span, len),
        false => Place::new(shim, span, len),
    };
    let part = Part { owner: root.unsigned_abs() as usize, at: place.at, len };
    // SAFETY: a place for `len` bytes, which lives until the collective is complete.
    let handed = unsafe { shim.hand_on(group, &[part], place.kind, (id, "a broadcast")) };
    handed.landing(|| if own { Ok(()) } else { place.land(shim) })
}

/// Allgather and Allgatherv, on all ranks. `mine`: the block of this rank; `lens`: those of all `blocks`, in
/// bytes.
pub(super) fn allgather(
    shim: &Shim,
    group: &Group<'_>,
    id: u32,
    mine: Span,
    (blocks, lens): (&Blocks, &[usize]),
) -> Handed {
    let own = blocks.of(group.rank());
    let (source, copied) = match mine.is_in_place() {
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
    let kind = places.get(group.rank().unsigned_abs() as usize).map_or(Kind::Other, |place| place.kind);
    // SAFETY: places for these numbers of bytes, which live until the collective is complete.
    let handed = unsafe { shim.hand_on(group, &parts, kind, (id, "an all-gather")) };
    handed.landing(|| {
        iter::zip(group.peers.ranks(), &places)
            .filter(|(rank, _)| *rank != group.rank())
            .try_for_each(|(_, place)| place.land(shim))?;
        copied
    })
}

impl Handed {
    /// The result after `land` has copied the blocks to the program's memory, which is skipped if the MPI
    /// must make the collective.
    fn landing(self, land: impl FnOnce() -> Result<(), c_int>) -> Self {
        let outcome = match self.outcome {
            Ok(true) => land().map(|()| true).map_err(Error::from),
            other => other,
        };
        Self { outcome, ..self }
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
    /// For a block of this rank. Its address is null if it must be left to the MPI: there is no memory for a
    /// copy, it is in device memory, or its length is not the one that the others expect.
    fn to_give(shim: &Shim, span: Span, len: usize) -> Self {
        shim.sample_collective(&span, None);
        let mut place = Self::new(shim, span, len);
        if span.bytes() != Some(len) || device::is_device(span.ptr()) {
            place.at = ptr::null_mut();
        } else if let Some(ours) = &mut place.ours
            && len > 0
            && shim.gather(&span, ours).is_err()
        {
            place.at = ptr::null_mut();
        }
        place
    }

    /// For a block of another rank. Its address is null if there is no memory for `len` bytes.
    fn new(shim: &Shim, span: Span, len: usize) -> Self {
        let layout = shim.layout(&span);
        let kind = layout.kind;
        if layout.contiguous {
            let is_there = span.bytes() == Some(len);
            let at = if is_there { span.ptr().cast() } else { ptr::null_mut() };
            return Self { span, kind, at, ours: None };
        }
        let mut ours = shim.engine.buffer(len);
        let at = ours.as_mut().map_or(ptr::null_mut(), |ours| {
            ours.set_len(len);
            ours.as_mut_ptr()
        });
        Self { span, kind, at, ours }
    }

    /// Copies the received block to the program's buffer.
    fn land(&self, shim: &Shim) -> Result<(), c_int> {
        match &self.ours {
            Some(ours) if !ours.is_empty() => shim.scatter(ours, &self.span),
            _ => Ok(()),
        }
    }
}
