//! Memory of a GPU: the host must not touch it. Whether an address is such memory is asked of the GPU libraries that the program
//! has loaded. The shim loads none of them.
//!
//! A program may load them at any time, also privately (`RTLD_LOCAL`). The dynamic linker counts the objects that it has loaded, so
//! one look at that number tells whether there is anything new to look through.

mod runtime;

use runtime::Runtime;
use std::ffi::{CStr, CString, c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

/// The GPU libraries that have been found, with their full names. They stay loaded: we hold a reference.
static RUNTIMES: RwLock<Vec<(CString, Option<Runtime>)>> = RwLock::new(Vec::new());

/// Whether one of them can be asked.
static ANY: AtomicBool = AtomicBool::new(false);

/// How many objects had been loaded at the last look.
static SEEN: AtomicU64 = AtomicU64::new(0);

/// Whether only a GPU, or the GPU's library, may read and write at this address. Memory that host and GPU share counts as well: what
/// is best done with it the MPI knows better.
pub(crate) fn is_device(ptr: *const c_void) -> bool {
    let loaded = loaded();
    if SEEN.load(Ordering::Acquire) != loaded {
        look(loaded);
    }
    if ptr.is_null() || !ANY.load(Ordering::Acquire) {
        return false;
    }
    let runtimes = RUNTIMES.read().unwrap_or_else(PoisonError::into_inner);
    runtimes.iter().filter_map(|(_, runtime)| runtime.as_ref()).any(|runtime| runtime.owns(ptr))
}

/// Whether there may be such memory at all.
pub(crate) fn is_any() -> bool {
    is_device(std::ptr::null()) || ANY.load(Ordering::Acquire)
}

/// How many objects this process has loaded so far. Never 0: there is at least the program.
fn loaded() -> u64 {
    unsafe extern "C" fn first(info: *mut libc::dl_phdr_info, _: usize, count: *mut c_void) -> c_int {
        // SAFETY: `dl_iterate_phdr` gives a valid object, and the place that it was given.
        unsafe { *count.cast() = (*info).dlpi_adds };
        1 // every object has the same number
    }
    let mut count = 0_u64;
    // SAFETY: a callback of the right kind, and the place that it takes.
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut count).cast()) };
    count
}

/// Looks for GPU libraries among the loaded objects, which were this many.
fn look(loaded: u64) {
    // No lock of ours is held while the dynamic linker's are taken: it may be calling a constructor that sends a message.
    for name in gpu_libraries() {
        if RUNTIMES.read().unwrap_or_else(PoisonError::into_inner).iter().any(|(known, _)| *known == name) {
            continue;
        }
        let runtime = Runtime::open(&name);
        let mut runtimes = RUNTIMES.write().unwrap_or_else(PoisonError::into_inner);
        ANY.fetch_or(runtime.is_some(), Ordering::Release);
        runtimes.push((name, runtime));
    }
    SEEN.store(loaded, Ordering::Release);
}

/// The full names of the GPU libraries that are loaded.
fn gpu_libraries() -> Vec<CString> {
    unsafe extern "C" fn each(info: *mut libc::dl_phdr_info, _: usize, names: *mut c_void) -> c_int {
        // SAFETY: `dl_iterate_phdr` gives a valid object, whose name is a C string or null, and the list that it was given.
        unsafe {
            let name = (*info).dlpi_name;
            if !name.is_null() && runtime::is_gpu_library(CStr::from_ptr(name)) {
                (*names.cast::<Vec<CString>>()).push(CStr::from_ptr(name).to_owned());
            }
        }
        0
    }
    let mut names = Vec::new();
    // SAFETY: a callback of the right kind, and the list that it takes.
    unsafe { libc::dl_iterate_phdr(Some(each), (&raw mut names).cast()) };
    names
}
