//! The functions of the MPI, by their names: where the preload library says they are, else in the MPI that the shim is linked to.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The name by which the loader knows the MPI that the shim is linked to.
const SONAME: &[u8] = concat!(env!("MPRESS_MPI_SONAME"), "\0").as_bytes();

/// Finds the function of this name (a C string) that the shim shall call; null if there is none.
type Find = unsafe extern "C" fn(*const c_char) -> *mut c_void;

/// The way of finding functions that the preload library gave.
static FIND: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Takes over from the preload library, before its first call, how functions of the MPI are found: other libraries may come before
/// the MPI. Without it they are looked up in the MPI itself.
///
/// # Safety
/// `find` must be a function of this type that can be called at any time.
#[unsafe(no_mangle)]
unsafe extern "C" fn mpress_shim_attach(find: Find) {
    FIND.store(find as *mut c_void, Ordering::Release);
}

/// The function of this name that the shim shall call; null if the MPI has none.
pub(crate) fn find(name: &CStr) -> *mut c_void {
    let known = FIND.load(Ordering::Acquire);
    if known.is_null() {
        return in_mpi(name);
    }
    // SAFETY: only `mpress_shim_attach` stores here, a function of this type.
    let find = unsafe { std::mem::transmute::<*mut c_void, Find>(known) };
    // SAFETY: its caller has promised that it can be called; the name is a C string.
    unsafe { find(name.as_ptr()) }
}

fn in_mpi(name: &CStr) -> *mut c_void {
    let Ok(soname) = CStr::from_bytes_with_nul(SONAME) else { return ptr::null_mut() };
    // SAFETY: C strings. Nothing is loaded by this: the shim is linked to that library.
    unsafe {
        let mpi = libc::dlopen(soname.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        if mpi.is_null() { mpi } else { libc::dlsym(mpi, name.as_ptr()) }
    }
}

/// The address of a function of the MPI, looked up at the first call.
pub(crate) struct Symbol {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Symbol {
    /// The function of this name, which must end in a zero byte.
    pub(crate) const fn of(name: &'static str) -> Self {
        let name = match CStr::from_bytes_with_nul(name.as_bytes()) {
            Ok(name) => name,
            Err(_) => c"",
        };
        Self { name, address: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Null if the MPI has no such function.
    pub(crate) fn get(&self) -> *mut c_void {
        let known = self.address.load(Ordering::Relaxed);
        if !known.is_null() {
            return known;
        }
        let found = find(self.name);
        self.address.store(found, Ordering::Relaxed);
        found
    }
}
