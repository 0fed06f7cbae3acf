//! The place in the program where a call was made: the return address of the first stack frame that is neither in mpress nor in the MPI, as an offset
//! from the load address of its file. Fortran calls come through a library of the MPI.

use crate::mpi::handle::HandleMap;
use std::ffi::{CStr, c_int, c_void};
use std::{path::Path, sync::Mutex};

// The unwinder that Rust's own panics use (Itanium C++ ABI, "Exception Handling", level I).
unsafe extern "C" {
    fn _Unwind_Backtrace(
        step: extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
}

/// `_URC_NO_REASON`: go on to the next frame.
const GO_ON: c_int = 0;
/// `_URC_NORMAL_STOP`
const STOP: c_int = 4;

/// Greatest number of frames looked at. Between the program and us are frames of Fortran bindings and of tools.
const DEPTH: usize = 32;

/// The bits from this one on are the number of the library, 0 for the executable.
const LIBRARY: u32 = 48;

/// How the names of libraries begin whose calls are not the program's.
const NOT_THE_PROGRAM: [&str; 3] = ["libmpress", "libmpi", "libfmpich"];

/// The known call sites.
#[derive(Default)]
pub(crate) struct Sites(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// By return address; `None` for an address outside the program.
    sites: HandleMap<Option<u64>>,
    /// Load addresses of libraries that calls came from.
    libraries: Vec<usize>,
}

struct Search<'a> {
    known: &'a mut Known,
    depth: usize,
    found: Option<u64>,
}

impl Sites {
    /// The site of the current call of this thread, 0 if it is not found.
    pub(crate) fn here(&self) -> u64 {
        let mut known = crate::locked(&self.0);
        let mut search = Search { known: &mut known, depth: 0, found: None };
        // SAFETY: `step` gets this search, which lives until the function returns, and contexts that the unwinder passes.
        unsafe { _Unwind_Backtrace(step, (&raw mut search).cast()) };
        search.found.unwrap_or(0)
    }
}

extern "C" fn step(context: *mut c_void, search: *mut c_void) -> c_int {
    // SAFETY: the search that `here` passed, and the unwinder's own context.
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

/// Load address and name of the file that contains this address.
fn object(address: usize) -> Option<(usize, String)> {
    // SAFETY: a C struct of pointers and integers; all zero is valid.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address, and a valid output pointer.
    if unsafe { libc::dladdr(address as *const c_void, &raw mut found) } == 0 || found.dli_fname.is_null() {
        return None;
    }
    // SAFETY: a C string of the loader.
    let name = unsafe { CStr::from_ptr(found.dli_fname) };
    Some((found.dli_fbase.addr(), name.to_string_lossy().into_owned()))
}

/// Load address of the executable, from the address of its program headers that the kernel provides.
fn executable() -> Option<usize> {
    // SAFETY: no precondition.
    let table = unsafe { libc::getauxval(libc::AT_PHDR) };
    object(usize::try_from(table).ok()?).map(|(base, _)| base)
}
