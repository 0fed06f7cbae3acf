//! Whether the PMPI shim compresses in this job. If so, the adapter does not, so that nothing is compressed twice.

use std::ffi::c_int;

/// Whether the shim is loaded and active. Valid after `MPI_Init`.
pub(crate) fn is_active() -> bool {
    // SAFETY: the name is NUL-terminated; the default scope includes preloaded libraries.
    let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"mpress_shim_is_active".as_ptr()) };
    if symbol.is_null() {
        return false;
    }
    // SAFETY: only the shim exports this name, as a function of this type (`pmpi-shim/src/README.md`, "edge").
    let is_active = unsafe { std::mem::transmute::<*mut libc::c_void, extern "C" fn() -> c_int>(symbol) };
    is_active() != 0
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_shim_is_not_active() {
        assert!(!super::is_active());
    }
}
