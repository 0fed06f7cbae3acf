//! The predefined datatypes without gaps: the kinds of their elements, and their sizes, so that the MPI is not asked for each message.

use crate::mpi::handle::Handle;
use crate::mpi::sys::*;
use mpress::Kind;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Known {
    key: usize,
    kind: Kind,
    /// In bytes; 0 before the MPI has been asked, and if it lacks the type.
    size: AtomicUsize,
}

/// Room for all, half of it empty: each is looked for from a place that its handle gives, in a few instructions.
const PLACES: usize = 256;
const _: () = assert!(PREDEFINED.len() <= PLACES / 2);

fn place(key: usize) -> usize {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15; // 2^64 divided by the golden ratio
    ((key as u64).wrapping_mul(ODD) >> 56) as usize
}

fn table() -> Box<[Option<Known>; PLACES]> {
    let mut all = Box::new([const { None }; PLACES]);
    for &(datatype, kind) in PREDEFINED {
        let mut at = place(datatype.key());
        while all[at % PLACES].is_some() {
            at += 1;
        }
        all[at % PLACES] = Some(Known { key: datatype.key(), kind, size: 0.into() });
    }
    all
}

#[inline]
fn known(datatype: MPI_Datatype) -> Option<&'static Known> {
    static ALL: OnceLock<Box<[Option<Known>; PLACES]>> = OnceLock::new();
    let (all, key) = (ALL.get_or_init(table), datatype.key());
    let mut at = place(key);
    loop {
        match &all[at % PLACES] {
            Some(known) if known.key == key => return Some(known),
            Some(_) => at += 1,
            None => return None,
        }
    }
}

/// The kind of the elements; `None` for any other datatype.
pub(crate) fn kind(datatype: MPI_Datatype) -> Option<Kind> {
    known(datatype).map(|known| known.kind)
}

/// The size in bytes, if it is known.
#[inline]
pub(crate) fn size(datatype: MPI_Datatype) -> Option<usize> {
    let size = known(datatype)?.size.load(Ordering::Relaxed);
    (size > 0).then_some(size)
}

/// Asks the MPI for all sizes, with a communicator whose error handler returns errors: an MPI need not have all types.
pub(crate) fn learn_sizes(comm: MPI_Comm) {
    for &(datatype, _) in PREDEFINED {
        let mut packed = 0;
        // SAFETY: a handle for the MPI to examine, and a valid output pointer.
        let is_there = unsafe { PMPI_Pack_size(1, datatype, comm, &raw mut packed) } == SUCCESS;
        if let (true, Some(known)) = (is_there, known(datatype)) {
            known.size.store(type_size(datatype).unwrap_or(0), Ordering::Relaxed);
        }
    }
}
