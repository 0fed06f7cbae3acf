//! The functions of the MPI, by name, found through the preload library.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::{borrow::Cow, ptr, sync::OnceLock, sync::atomic::AtomicPtr, sync::atomic::Ordering};

/// Returns the MPI's function of this name (a C string), or null if there is none.
type Find = unsafe extern "C" fn(*const c_char) -> *mut c_void;

/// Makes the program's calls bypass the shim (0), except those that may wake it, or go to it again.
type Lead = unsafe extern "C" fn(c_int);

/// What the preload library has passed.
static ATTACHED: OnceLock<(Find, Lead)> = OnceLock::new();

/// Sets how functions of the MPI are found; called once, before any other function, by the preload library, which knows what else
/// comes before the MPI. By `lead` the shim releases and resumes the program's calls.
///
/// # Safety
/// `find` and `lead` must be functions of these types that can be called at any time.
#[cfg(shim)]
#[unsafe(no_mangle)]
unsafe extern "C" fn mpress_shim_attach(find: Find, lead: Lead) {
    let _ = ATTACHED.set((find, lead));
}

/// From now on, the shim handles the program's calls in this process, or none of them.
pub(crate) fn lead(to_shim: bool) {
    if let Some((_, lead)) = ATTACHED.get() {
        // SAFETY: the caller of `mpress_shim_attach` guarantees that it can be called.
        unsafe { lead(to_shim.into()) };
    }
}

/// The MPI's function of this name; null if there is none.
fn find(name: &CStr) -> *mut c_void {
    match ATTACHED.get() {
        // SAFETY: the caller of `mpress_shim_attach` guarantees that it can be called; the name is a C string.
        Some((find, _)) => unsafe { find(name.as_ptr()) },
        None if cfg!(shim) => ptr::null_mut(),
        None => find_linked(name),
    }
}

/// The function `MPI_X` for the name `PMPI_X`, so that tools that intercept `MPI_X` see the calls of the layer, too; for any other name, the symbol
/// of that name. Null if no loaded library has it.
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
