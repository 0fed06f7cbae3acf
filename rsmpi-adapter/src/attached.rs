//! How a communicator leads to its context: by an attribute, which each thread remembers of the communicator it used last.
//! Looking an attribute up takes the MPIs some 50 ns, of which a short message has not many to spare.

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

/// How many attributes have gone. As long as none has, what a thread remembers is true.
static GONE: AtomicU64 = AtomicU64::new(0);

impl Drop for Attached {
    fn drop(&mut self) {
        GONE.fetch_add(1, Ordering::AcqRel);
    }
}

/// What a thread remembers.
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
    /// The context of a communicator, which must live.
    pub(crate) fn of(comm: MPI_Comm) -> Result<Arc<Self>> {
        let gone = GONE.load(Ordering::Acquire);
        if let Some(last) = LAST.get().filter(|last| last.comm == comm && last.gone == gone) {
            // SAFETY: from `Arc::as_ptr` of an attribute. No attribute has gone since, so that one still holds its context, and
            // the handle is still that of its communicator, which nobody can free while the caller borrows it.
            return Ok(unsafe {
                Arc::increment_strong_count(last.context);
                Arc::from_raw(last.context)
            });
        }
        static KEY: OnceLock<c_int> = OnceLock::new();
        let key = *KEY.get_or_init(|| Attached::get_key().as_raw());
        let (mut value, mut found) = (std::ptr::null_mut::<c_void>(), 0);
        // SAFETY: a communicator that lives, a key of ours, and places for the answers. Under this key rsmpi keeps a box of
        // `Attached` that lasts as long as the communicator.
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
