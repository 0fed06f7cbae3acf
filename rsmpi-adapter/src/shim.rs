//! Whether compressing is the affair of the PMPI shim in this job: then it is left to it, so that nothing is compressed twice.

use std::ffi::c_int;

/// Asks the shim, if it is loaded. After `MPI_Init`.
pub(crate) fn is_active() -> bool {
    // SAFETY: a name that ends in 0; the default scope has everything that was preloaded.
    let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"mpress_shim_is_active".as_ptr()) };
    if symbol.is_null() {
        return false;
    }
    // SAFETY: the shim exports a function of this type under that name (`docs/shim.md`), and nothing else does.
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
