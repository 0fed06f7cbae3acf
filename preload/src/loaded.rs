//! Which MPIs the process has loaded, and what the program's calls would meet without this library.

use crate::elf::Object;
use std::ffi::{CStr, CString, c_void};
use std::ptr;
use std::sync::OnceLock;

/// What handles, constants and structs look like: there is a shim for each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Abi {
    OpenMpi,
    Mpich,
    /// That of the MPI 5.0 standard.
    Standard,
}

impl Abi {
    /// As in the name of the shim.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OpenMpi => "openmpi",
            Self::Mpich => "mpich",
            Self::Standard => "standard",
        }
    }
}

/// The names that the loader has for MPI libraries since MPI 3, and their ABI, if there is a shim for it.
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

/// An MPI library that is loaded.
#[derive(Clone)]
pub(crate) struct Mpi {
    /// By which the loader knows it: its name, or its path.
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
        // A thread that comes second has found the same.
        let _same = CHOSEN.set(self.clone());
    }

    /// The library, as it lies in memory.
    pub(crate) fn object(&self) -> Option<Object> {
        Object::of_handle(self.handle)
    }

    /// The function of this name, by that library itself; null if it has none.
    pub(crate) fn own(&self, name: &CStr) -> *mut c_void {
        // SAFETY: a handle that `dlopen` gave and that is never closed, and a C string.
        unsafe { libc::dlsym(self.handle, name.as_ptr()) }
    }
}

/// All that are loaded; also those that Python has loaded for one of its modules alone (`RTLD_LOCAL`).
pub(crate) fn mpis() -> Vec<Mpi> {
    let mut found: Vec<Mpi> = Vec::new();
    let mut add = |name: &CStr, abi: Option<Abi>| {
        // SAFETY: a C string; nothing is loaded by this, so no code runs.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        // One library may be known by two names.
        if !handle.is_null() && found.iter().all(|mpi| mpi.handle != handle) {
            found.push(Mpi { soname: name.to_owned(), abi, handle });
        }
    };
    KNOWN.iter().for_each(|(name, abi)| add(name, *abi));
    crays().iter().for_each(|path| add(path, Some(Abi::Mpich)));
    found
}

/// The paths of loaded libraries that are called as Cray's MPICH is, which has a library for each compiler: `libmpi_gnu_91.so.12`.
fn crays() -> Vec<CString> {
    let mut paths = Vec::new();
    Object::each(|path, object| {
        let name = path.to_bytes().rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        let is_named_so = name.starts_with(b"libmpi_") && name.windows(6).any(|part| part == b".so.12");
        if is_named_so && object.symbols().any(|symbol| symbol.name == c"PMPI_Send" && symbol.is_defined()) {
            paths.push(path.to_owned());
        }
    });
    paths
}

/// The function of this name that the shim shall call: of what comes between this library and the MPI, else of the chosen MPI; null if
/// there is none.
pub(crate) fn function(name: &CStr) -> *mut c_void {
    let next = next(name);
    if next.is_null() { CHOSEN.get().map_or(next, |mpi| mpi.own(name)) } else { next }
}

/// The function of this name that comes after this library's, where the loader looks; null if there is none, as where the MPI is
/// loaded for one module alone. A second preload library is left out: one is enough.
pub(crate) fn next(name: &CStr) -> *mut c_void {
    let found = following(name);
    let is_second = second().is_some_and(|second| object_of(found) == Some(second));
    if is_second { ptr::null_mut() } else { found }
}

/// As [`next`], whoever it is.
pub(crate) fn following(name: &CStr) -> *mut c_void {
    // SAFETY: a C string.
    unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) }
}

/// The address of another preload library after this one. It is there from the start of the program if at all, so it is looked for once:
/// the loader goes through all libraries for a name that none of them has.
pub(crate) fn second() -> Option<usize> {
    static SECOND: OnceLock<Option<usize>> = OnceLock::new();
    *SECOND.get_or_init(|| object_of(following(c"mpress_shim_is_active")))
}

/// The address of the library with this function.
fn object_of(function: *mut c_void) -> Option<usize> {
    // SAFETY: a struct of pointers, for which null is a value.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address may be asked about; a place for the answer.
    let found = unsafe { libc::dladdr(function, &raw mut info) };
    (found != 0 && !info.dli_fbase.is_null()).then(|| info.dli_fbase.addr())
}
