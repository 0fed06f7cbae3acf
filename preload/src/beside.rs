//! Finds the shims, which are in the folder of this library.

use crate::loaded::Abi;
use std::ffi::{CStr, OsStr, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The file of the shim for this ABI; `Err` is the path of the missing file.
pub(crate) fn shim(abi: Abi) -> Result<PathBuf, PathBuf> {
    let name = format!("libmpress_shim_{}.so", abi.name());
    let this = this_library().unwrap_or_default();
    let first = this.with_file_name(&name);
    // This library may be a symbolic link, with the shims only beside the file that it leads to.
    let linked = this.canonicalize().map(|this| this.with_file_name(&name));
    let found = [Some(first.clone()), linked.ok()].into_iter().flatten().find(|path| path.is_file());
    found.ok_or(first)
}

fn this_library() -> Option<PathBuf> {
    // SAFETY: a struct of pointers, for which null is a valid value.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: an address of this library, and a place for the result.
    let found = unsafe { libc::dladdr(this_library as *const c_void, &raw mut info) };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the loader's name of a library that stays loaded, a C string.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    Some(PathBuf::from(OsStr::from_bytes(name.to_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shim_is_looked_for_beside_this_file() {
        // It may have been built beside this test.
        let (Ok(place) | Err(place)) = shim(Abi::Standard);
        let expected = std::env::current_exe().unwrap().with_file_name("libmpress_shim_standard.so");
        assert_eq!(place, expected);
    }

    #[test]
    fn this_test_is_in_a_file() {
        assert_eq!(this_library().unwrap().canonicalize().unwrap(), std::env::current_exe().unwrap());
    }
}
