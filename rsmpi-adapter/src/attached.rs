//! Maps a communicator to its context through an attribute. Each thread caches the context of the communicator that it used last, because an
//! attribute lookup takes some 50 ns in the MPIs, a long time for a short message.

use crate::context::Context;
use crate::error::{Error, Result, mpi_error};
use mpi::attribute::CommAttribute;
use mpi::ffi::{self, MPI_Comm};
use mpi::raw::AsRaw;
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// The attribute. Duplicates of the communicator do not have it.
#[derive(Clone)]
pub(crate) struct Attached(pub(crate) Arc<Context>);

impl CommAttribute for Attached {}

/// Number of attributes deleted. A thread's cached context is valid as long as this has not changed.
static GONE: AtomicU64 = AtomicU64::new(0);

impl Drop for Attached {
    fn drop(&mut self) {
        GONE.fetch_add(1, Ordering::AcqRel);
    }
}

/// The communicator a thread used last, and its context.
#[derive(Clone, Copy)]
struct Last {
    comm: MPI_Comm,
    context: *const Context,
    gone: u64,
}

thread_local! {
    static LAST: Cell<Option<Last>> = const { Cell::new(None) };
}

impl Context {
    /// The context of a live communicator.
    pub(crate) fn of(comm: MPI_Comm) -> Result<Arc<Self>> {
        let gone = GONE.load(Ordering::Acquire);
        if let Some(last) = LAST.get().filter(|last| last.comm == comm && last.gone == gone) {
            // SAFETY: the pointer is from `Arc::as_ptr` of an attribute. No attribute has been deleted since. So that attribute still holds
            // its context, and the handle still refers to its communicator, which cannot be freed while the caller borrows it.
            return Ok(unsafe {
                Arc::increment_strong_count(last.context);
                Arc::from_raw(last.context)
            });
        }
        static KEY: OnceLock<c_int> = OnceLock::new();
        let key = *KEY.get_or_init(|| Attached::get_key().as_raw());
        let (mut value, mut found) = (std::ptr::null_mut::<c_void>(), 0);
        // SAFETY: a live communicator, our own key, and valid output pointers. Under this key rsmpi keeps a box of `Attached` that lives as
        // long as the communicator.
        let context = unsafe {
            let code = ffi::MPI_Comm_get_attr(comm, key, (&raw mut value).cast(), &raw mut found);
            if code != mpress_layer::SUCCESS {
                return Err(mpi_error(code));
            }
            let attached = value.cast::<Attached>().as_ref().filter(|_| found != 0);
            attached.map(|attached| Arc::clone(&attached.0)).ok_or(Error::NotCompressed)?
        };
        LAST.set(Some(Last { comm, context: Arc::as_ptr(&context), gone }));
        Ok(context)
    }
}
