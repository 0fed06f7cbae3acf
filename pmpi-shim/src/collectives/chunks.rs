//! Broadcast and all-gather of long blocks: each block goes to all ranks in chunks ([`relay`](super::relay)).
//! A contiguous block is sent from the program's memory, any other from a copy.

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

/// Hands the blocks of these owners, with their lengths in bytes, to all ranks; the MPI must not refuse any
/// block. `source`: what this rank gives if it is an owner; `block`: the place of an owner's block in the
/// program's buffer; `call`: the number and the name of the collective.
pub(super) fn hand_on(
    shim: &Shim,
    group: &Group<'_>,
    call: (u32, &'static str),
    source: Span,
    owners: &[(c_int, usize)],
    block: impl Fn(c_int) -> Span,
) -> Handed {
    let own = group.rank();
    let place = |&(owner, len): &(c_int, usize)| match owner == own {
        true => Place::to_give(shim, source, len),
        false => Place::new(shim, block(owner), len),
    };
    let places: Vec<_> = owners.iter().map(place).collect();
    let part = |(&(owner, len), place): (&(c_int, usize), &Place)| Part {
        owner: owner.unsigned_abs() as usize,
        at: place.at,
        len,
    };
    let parts: Vec<_> = iter::zip(owners, &places).map(part).collect();
    let kind = iter::zip(owners, &places).find(|((owner, _), _)| *owner == own).map(|(_, place)| place.kind);
    // SAFETY: places for these numbers of bytes, which live until the collective is complete.
    let handed = unsafe { shim.hand_on(group, &parts, kind.unwrap_or(Kind::Other), call) };
    let others = || iter::zip(owners, &places).filter(|((owner, _), _)| *owner != own);
    handed.landing(|| others().try_for_each(|(_, place)| place.land(shim)))
}

impl Handed {
    /// The result after `land` has copied the blocks to the program's memory, which is skipped if the MPI
    /// must make the collective.
    pub(super) fn landing(self, land: impl FnOnce() -> Result<(), c_int>) -> Self {
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
