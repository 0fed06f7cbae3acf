//! Where the shim is: in the folder of this library.

use std::ffi::{CStr, OsStr, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What cargo calls it; installed, it is called as this library, with `-shim` in addition.
const BUILT: &str = "libmpress_pmpi.so";

/// The file of the shim, or the one that is missing.
pub(crate) fn shim() -> Result<PathBuf, PathBuf> {
    let this = this_library().unwrap_or_default();
    // Only this library may be linked into the folder.
    let folders = [Some(this.clone()), this.canonicalize().ok()];
    let candidates =
        folders.iter().flatten().flat_map(|library| [installed(library), library.with_file_name(BUILT)]);
    let mut candidates = candidates.peekable();
    let first = candidates.peek().cloned().unwrap_or_default();
    candidates.find(|path| path.is_file()).ok_or(first)
}

fn installed(library: &Path) -> PathBuf {
    let mut name = library.file_stem().unwrap_or_default().to_owned();
    name.push("-shim.so");
    library.with_file_name(name)
}

fn this_library() -> Option<PathBuf> {
    // SAFETY: a struct of pointers, for which null is a value.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: an address of this library, and a place for the answer.
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
    fn the_shim_is_called_as_what_preloads_it() {
        let shim = installed(Path::new("/opt/lib/libmpress-mpich.so"));
        assert_eq!(shim, Path::new("/opt/lib/libmpress-mpich-shim.so"));
        assert_eq!(installed(Path::new("")), Path::new("-shim.so"));
    }

    #[test]
    fn this_test_is_in_a_file() {
        assert_eq!(this_library().unwrap().canonicalize().unwrap(), std::env::current_exe().unwrap());
    }
}
