//! The predefined datatypes without gaps: the kinds of their elements, and their sizes, so that the MPI is not asked for each message.

use crate::mpi::{handle::Handle, handle::HandleMap, sys::*};
use mpress::Kind;
use std::{cell::Cell, sync::OnceLock, sync::atomic::AtomicUsize, sync::atomic::Ordering};

struct Known {
    key: usize,
    kind: Kind,
    /// In bytes; 0 before the MPI has been asked, and if it lacks the type.
    size: AtomicUsize,
}

fn known(datatype: MPI_Datatype) -> Option<&'static Known> {
    /// The types, and the place of each by its key.
    static ALL: OnceLock<(Vec<Known>, HandleMap<usize>)> = OnceLock::new();
    thread_local! {
        /// The place of the type that was asked for last: programs use few.
        static LATEST: Cell<usize> = const { Cell::new(0) };
    }
    let key = datatype.key();
    let (all, places) = ALL.get_or_init(|| {
        let size = AtomicUsize::default;
        let known = PREDEFINED.iter().map(|&(of, kind)| Known { key: of.key(), kind, size: size() });
        let all: Vec<_> = known.collect();
        let places = all.iter().enumerate().map(|(place, known)| (known.key, place)).collect();
        (all, places)
    });
    let latest = all.get(LATEST.get()).filter(|known| known.key == key);
    latest.or_else(|| {
        let place = *places.get(&key)?;
        LATEST.set(place);
        all.get(place)
    })
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
