//! Where in the program a call was made: the return address of the first frame on the stack that is neither ours nor the MPI's, as the distance
//! from where its file was loaded. Fortran's calls come by way of a library of the MPI's.

use crate::handle::HandleMap;
use std::ffi::{CStr, c_int, c_void};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

// The unwinder that Rust's own panics use (Itanium C++ ABI, "Exception Handling", level I).
unsafe extern "C" {
    fn _Unwind_Backtrace(
        step: extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
}

/// `_URC_NO_REASON`: the next frame, please.
const GO_ON: c_int = 0;
/// `_URC_NORMAL_STOP`
const STOP: c_int = 4;

/// Frames that are looked at, at most. Between the program and us are those of Fortran's bindings and of tools.
const DEPTH: usize = 32;

/// Above these bits stands the number of the library, 0 for the executable.
const LIBRARY: u32 = 48;

/// How files are called whose calls are not the program's.
const NOT_THE_PROGRAM: [&str; 3] = ["libmpress", "libmpi", "libfmpich"];

/// The call sites that are known.
#[derive(Default)]
pub(crate) struct Sites(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// By return address; `None` for one that is not the program's.
    sites: HandleMap<Option<u64>>,
    /// Where libraries are loaded that calls came from.
    libraries: Vec<usize>,
}

struct Search<'a> {
    known: &'a mut Known,
    depth: usize,
    found: Option<u64>,
}

impl Sites {
    /// The site of the call that this thread is in, 0 if it is not found.
    pub(crate) fn here(&self) -> u64 {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut search = Search { known: &mut known, depth: 0, found: None };
        // SAFETY: `step` gets this search, which lasts until the function returns, and contexts that it passes on.
        unsafe { _Unwind_Backtrace(step, (&raw mut search).cast()) };
        search.found.unwrap_or(0)
    }
}

extern "C" fn step(context: *mut c_void, search: *mut c_void) -> c_int {
    // SAFETY: the search that `here` gave, and the unwinder's own context.
    let (search, address) = unsafe { (&mut *search.cast::<Search<'_>>(), _Unwind_GetIP(context)) };
    search.depth += 1;
    search.found = search.known.site(address);
    if search.found.is_some() || search.depth >= DEPTH { STOP } else { GO_ON }
}

impl Known {
    fn site(&mut self, address: usize) -> Option<u64> {
        if let Some(site) = self.sites.get(&address) {
            return *site;
        }
        let site = self.find(address);
        self.sites.insert(address, site);
        site
    }

    fn find(&mut self, address: usize) -> Option<u64> {
        // The call is before the return address, which may be the end of a function.
        let (base, name) = object(address.checked_sub(1)?)?;
        let library = if executable() == Some(base) {
            0
        } else {
            let name = Path::new(&name).file_name()?.to_str()?;
            if NOT_THE_PROGRAM.iter().any(|front| name.starts_with(front)) {
                return None;
            }
            let at = self.libraries.iter().position(|known| *known == base).unwrap_or_else(|| {
                self.libraries.push(base);
                self.libraries.len() - 1
            });
            at as u64 + 1
        };
        Some(library << LIBRARY | (address - base) as u64)
    }
}

/// Where the file is loaded that has this address, and its name.
fn object(address: usize) -> Option<(usize, String)> {
    // SAFETY: a C struct of pointers.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address, and a place for the answer.
    if unsafe { libc::dladdr(address as *const c_void, &raw mut found) } == 0 || found.dli_fname.is_null() {
        return None;
    }
    // SAFETY: a string of the loader's.
    let name = unsafe { CStr::from_ptr(found.dli_fname) };
    Some((found.dli_fbase.addr(), name.to_string_lossy().into_owned()))
}

/// Where the executable is loaded: the kernel says where its table of segments is.
fn executable() -> Option<usize> {
    // SAFETY: no precondition.
    let table = unsafe { libc::getauxval(libc::AT_PHDR) };
    object(usize::try_from(table).ok()?).map(|(base, _)| base)
}
