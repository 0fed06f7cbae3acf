//! The predefined datatypes without gaps: the kinds of their elements, and their sizes, so that the MPI is not asked for each message.

use crate::mpi::{handle::Handle, handle::HandleMap, sys::*};
use mpress::Kind;
use std::{cell::Cell, sync::OnceLock, sync::atomic::AtomicUsize, sync::atomic::Ordering};

struct Known {
    kind: Kind,
    /// In bytes; 0 before the MPI has been asked, and if it lacks the type.
    size: AtomicUsize,
}

fn known(datatype: MPI_Datatype) -> Option<&'static Known> {
    static ALL: OnceLock<HandleMap<Known>> = OnceLock::new();
    thread_local! {
        /// The type that was asked for last, by its key: programs use few.
        static LATEST: Cell<Option<(usize, &'static Known)>> = const { Cell::new(None) };
    }
    let key = datatype.key();
    if let Some((latest, known)) = LATEST.get()
        && latest == key
    {
        return Some(known);
    }
    let all = || {
        let known =
            |&(of, kind): &(MPI_Datatype, Kind)| (of.key(), Known { kind, size: AtomicUsize::new(0) });
        PREDEFINED.iter().map(known).collect()
    };
    let known = ALL.get_or_init(all).get(&key)?;
    LATEST.set(Some((key, known)));
    Some(known)
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
        let is_there = PMPI_Pack_size(1, datatype, comm, &mut packed) == SUCCESS;
        if let (true, Some(known)) = (is_there, known(datatype)) {
            known.size.store(type_size(datatype).unwrap_or(0), Ordering::Relaxed);
        }
    }
}
