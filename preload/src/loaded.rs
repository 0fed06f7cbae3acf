//! The MPIs that the process has loaded, and the functions that the program's calls would reach without this
//! library.

use crate::elf::Object;
use std::ffi::{CStr, CString, c_void};
use std::ptr;
use std::sync::OnceLock;

/// The layout of handles, constants and structs: there is a shim for each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Abi {
    OpenMpi,
    Mpich,
    /// The ABI of the MPI 5.0 standard.
    Standard,
}

impl Abi {
    /// As in the file name of the shim.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OpenMpi => "openmpi",
            Self::Mpich => "mpich",
            Self::Standard => "standard",
        }
    }
}

/// The loader's names of MPI libraries since MPI 3, and their ABI, if there is a shim for it.
const KNOWN: [(&CStr, Option<Abi>); 6] = [
    (c"libmpi_abi.so.1", Some(Abi::Standard)),
    (c"libmpi.so.40", Some(Abi::OpenMpi)),
    (c"libmpi.so.12", Some(Abi::Mpich)),
    (c"libmpich.so.12", Some(Abi::Mpich)),
    (c"libmpi.so.20", None),
    (c"libmpi.so.15", None),
];

/// The MPI that the shim works with.
static CHOSEN: OnceLock<Mpi> = OnceLock::new();

/// A loaded MPI library.
#[derive(Clone)]
pub(crate) struct Mpi {
    /// The name or path by which the loader knows it.
    pub(crate) soname: CString,
    pub(crate) abi: Option<Abi>,
    handle: *mut c_void,
}

// SAFETY: the loader's handles may be used by any thread.
unsafe impl Send for Mpi {}
// SAFETY: as above.
unsafe impl Sync for Mpi {}

impl Mpi {
    /// Makes this the MPI of the process.
    pub(crate) fn choose(&self) {
        // A second thread has found the same MPI.
        let _same = CHOSEN.set(self.clone());
    }

    /// The library in memory.
    pub(crate) fn object(&self) -> Option<Object> {
        Object::of_handle(self.handle)
    }

    /// The function of this name in that library itself; null if it has none.
    pub(crate) fn own(&self, name: &CStr) -> *mut c_void {
        // SAFETY: a handle that `dlopen` returned and that is never closed, and a C string.
        unsafe { libc::dlsym(self.handle, name.as_ptr()) }
    }
}

/// All loaded MPIs, including those that Python has loaded privately for one of its modules (`RTLD_LOCAL`),
/// in the order of the table.
///
/// The loader is asked only for paths of what is loaded: for other names it would search all folders of
/// libraries, which on large machines are on a file system that all ranks share.
pub(crate) fn mpis() -> Vec<Mpi> {
    let mut seen = Vec::new();
    Object::each(|path, object| {
        let file = path.to_bytes().rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        let names = [file, object.soname().map_or(&[][..], CStr::to_bytes)];
        let known = KNOWN.iter().enumerate().find(|(_, (name, _))| names.contains(&name.to_bytes()));
        if let Some((place, (name, abi))) = known {
            seen.push((place, (*name).to_owned(), *abi, path.to_owned()));
        } else if names.into_iter().any(is_crays) && defines_mpi(object) {
            seen.push((KNOWN.len(), path.to_owned(), Some(Abi::Mpich), path.to_owned()));
        }
    });
    seen.sort_by_key(|(place, ..)| *place);
    let open = |(_, soname, abi, path): (usize, CString, Option<Abi>, CString)| {
        // SAFETY: a C string; nothing is loaded by this, so no code runs.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        (!handle.is_null()).then_some(Mpi { soname, abi, handle })
    };
    seen.into_iter().filter_map(open).collect()
}

/// Whether a library has the name of Cray's MPICH, which has a library for each compiler:
/// `libmpi_gnu_91.so.12`.
fn is_crays(name: &[u8]) -> bool {
    name.starts_with(b"libmpi_") && name.windows(6).any(|part| part == b".so.12")
}

fn defines_mpi(object: Object) -> bool {
    object.symbols().any(|symbol| symbol.name == c"PMPI_Send" && symbol.is_defined())
}

/// The function of this name that the shim must call: that of a library between this one and the MPI, or else
/// that of the chosen MPI; null if there is none.
pub(crate) fn function(name: &CStr) -> *mut c_void {
    let next = next(name);
    if next.is_null() { CHOSEN.get().map_or(next, |mpi| mpi.own(name)) } else { next }
}

/// The next function of this name after this library in the loader's search order; null if there is none, for
/// example if the MPI is loaded privately for one module. Ignores a second preload library, because one is
/// enough.
pub(crate) fn next(name: &CStr) -> *mut c_void {
    let found = following(name);
    let is_second = second().is_some_and(|second| object_of(found) == Some(second));
    if is_second { ptr::null_mut() } else { found }
}

/// As [`next`], including a second preload library.
pub(crate) fn following(name: &CStr) -> *mut c_void {
    // SAFETY: a C string.
    unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) }
}

/// The address of another preload library after this one. It can only be present from the start of the
/// program, so the search is done once: the loader goes through all libraries if none of them has the name.
pub(crate) fn second() -> Option<usize> {
    static SECOND: OnceLock<Option<usize>> = OnceLock::new();
    *SECOND.get_or_init(|| object_of(following(c"mpress_shim_is_active")))
}

/// The address of the library with this function.
fn object_of(function: *mut c_void) -> Option<usize> {
    // SAFETY: a struct of pointers, for which null is a valid value.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address may be looked up; a place for the result.
    let found = unsafe { libc::dladdr(function, &raw mut info) };
    (found != 0 && !info.dli_fbase.is_null()).then(|| info.dli_fbase.addr())
}
