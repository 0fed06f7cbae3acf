//! The functions of the MPI, by name, found through the preload library.

use std::borrow::Cow;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Returns the MPI's function of this name (a C string), or null if there is none.
type Find = unsafe extern "C" fn(*const c_char) -> *mut c_void;

/// Makes the program's calls bypass the shim (0), except those that may wake it, or go to it again.
type Lead = unsafe extern "C" fn(c_int);

/// The lookup function passed by the preload library.
static FIND: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// The bypass function passed by the preload library.
static LEAD: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Sets how functions of the MPI are found; called before any other function, by the loader of the shim: the
/// preload library, which knows what else comes before the MPI, or `mpress calibrate`. The preload library
/// also passes `lead`, by which the shim releases and resumes the program's calls.
///
/// # Safety
/// `find` and `lead` must be functions of these types that can be called at any time.
#[cfg(shim)]
#[unsafe(no_mangle)]
unsafe extern "C" fn mpress_shim_attach(find: Find, lead: Option<Lead>) {
    LEAD.store(lead.map_or(ptr::null_mut(), |lead| lead as *mut c_void), Ordering::Release);
    FIND.store(find as *mut c_void, Ordering::Release);
}

/// Releases the program's calls: the shim handles none in this process from now on.
pub(crate) fn release() {
    lead(0);
}

/// Handles the program's calls again.
pub(crate) fn resume() {
    lead(1);
}

fn lead(to_shim: c_int) {
    let lead = LEAD.load(Ordering::Acquire);
    if !lead.is_null() {
        // SAFETY: only `mpress_shim_attach` stores here, a function of this type.
        let lead = unsafe { std::mem::transmute::<*mut c_void, Lead>(lead) };
        // SAFETY: the caller of `mpress_shim_attach` guarantees that it can be called.
        unsafe { lead(to_shim) };
    }
}

/// The MPI's function of this name; null if there is none.
fn find(name: &CStr) -> *mut c_void {
    let known = FIND.load(Ordering::Acquire);
    if known.is_null() {
        return if cfg!(shim) { ptr::null_mut() } else { find_linked(name) };
    }
    // SAFETY: only `mpress_shim_attach` stores here, a function of this type.
    let find = unsafe { std::mem::transmute::<*mut c_void, Find>(known) };
    // SAFETY: the caller of `mpress_shim_attach` guarantees that it can be called; the name is a C string.
    unsafe { find(name.as_ptr()) }
}

/// The function `MPI_X` for the name `PMPI_X`, so that tools that intercept `MPI_X` see the calls of the
/// layer, too; for any other name, the symbol of that name. Null if no loaded library has it.
fn find_linked(pmpi_name: &CStr) -> *mut c_void {
    let name = pmpi_name.to_bytes_with_nul();
    let name = CStr::from_bytes_with_nul(name.strip_prefix(b"P").unwrap_or(name));
    // SAFETY: a C string. The default scope has the libraries that the program is linked to.
    name.map_or(ptr::null_mut(), |name| unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) })
}

/// The address of a function of the MPI, or of a variable, looked up on the first call.
pub(crate) struct Symbol {
    name: &'static CStr,
    /// Null until it has been looked up, [`MISSING`] if there is none.
    address: AtomicPtr<c_void>,
}

/// The address of no function.
const MISSING: *mut c_void = ptr::without_provenance_mut(1);

impl Symbol {
    /// The function of this name, which must end in a NUL byte.
    pub(crate) const fn of(name: &'static str) -> Self {
        let name = match CStr::from_bytes_with_nul(name.as_bytes()) {
            Ok(name) => name,
            Err(_) => c"",
        };
        Self { name, address: AtomicPtr::new(ptr::null_mut()) }
    }

    pub(crate) fn name(&self) -> Cow<'static, str> {
        self.name.to_string_lossy()
    }

    /// `None` if the MPI has no such function.
    #[inline]
    pub(crate) fn get(&self) -> Option<*mut c_void> {
        let known = self.address.load(Ordering::Relaxed);
        let address = if known.is_null() { self.look_up() } else { known };
        (address != MISSING).then_some(address)
    }

    #[cold]
    fn look_up(&self) -> *mut c_void {
        let found = find(self.name);
        let found = if found.is_null() { MISSING } else { found };
        self.address.store(found, Ordering::Relaxed);
        found
    }
}
