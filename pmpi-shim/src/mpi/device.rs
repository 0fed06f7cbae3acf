//! GPU memory, which the host must not access. The GPU libraries that the program has loaded say whether an address is in such memory. The shim loads
//! none of them.
//!
//! A program may load them at any time, also privately (`RTLD_LOCAL`). The dynamic linker counts the objects that it has loaded, so one look at that
//! number tells whether there are new ones to examine.

mod runtime;

use runtime::Runtime;
use std::ffi::{CStr, CString, c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

/// The GPU libraries found, by full name. They stay loaded, since we hold a reference.
static RUNTIMES: RwLock<Vec<(CString, Option<Runtime>)>> = RwLock::new(Vec::new());

/// Whether there is a library that can be asked.
static ANY: AtomicBool = AtomicBool::new(false);

/// Number of objects that had been loaded at the last look.
static SEEN: AtomicU64 = AtomicU64::new(0);

/// Whether only a GPU, or the GPU's library, may access this address. Memory that host and GPU share counts, too: the MPI knows best how to transfer
/// it.
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

/// Whether such memory may exist.
pub(crate) fn is_any() -> bool {
    is_device(std::ptr::null()) || ANY.load(Ordering::Acquire)
}

/// Shows `see` the objects that this process has loaded, at least one, the program, until it returns true.
fn each_object<F: FnMut(&libc::dl_phdr_info) -> bool>(mut see: F) {
    unsafe extern "C" fn pass_on<F: FnMut(&libc::dl_phdr_info) -> bool>(
        info: *mut libc::dl_phdr_info,
        _: usize,
        see: *mut c_void,
    ) -> c_int {
        // SAFETY: `dl_iterate_phdr` passes a valid object, and the pointer that it was given.
        unsafe { c_int::from((*see.cast::<F>())(&*info)) }
    }
    // SAFETY: a callback of the right type, and a closure that it accepts.
    unsafe { libc::dl_iterate_phdr(Some(pass_on::<F>), (&raw mut see).cast()) };
}

/// Number of objects that this process has loaded so far.
fn loaded() -> u64 {
    let mut count = 0;
    each_object(|object| {
        count = object.dlpi_adds;
        true // all objects report the same number
    });
    count
}

/// Looks for GPU libraries among the `loaded` objects.
fn look(loaded: u64) {
    // Hold none of our locks while the dynamic linker takes its own: it may be calling a constructor that sends a message.
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

/// The full names of the loaded GPU libraries.
fn gpu_libraries() -> Vec<CString> {
    let mut names = Vec::new();
    each_object(|object| {
        if !object.dlpi_name.is_null() {
            // SAFETY: the name of an object is a C string.
            let name = unsafe { CStr::from_ptr(object.dlpi_name) };
            names.extend(runtime::find(name).map(|_| name.to_owned()));
        }
        false
    });
    names
}
