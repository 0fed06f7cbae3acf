//! The loaded MPI, as it describes itself.

use crate::mpi::family::Family;
use crate::mpi::symbol::Symbol;
use crate::mpi::sys::*;
use std::ffi::{CStr, c_char, c_int};

/// MPICH's limit; Open MPI's is less.
const LONGEST: usize = 8192;

/// The family of the loaded MPI. May be called before the MPI is initialised.
pub(crate) fn family() -> Family {
    Family::of(&library_version())
}

/// Why calls must be passed on in this process, if they must. The MPI must be initialised.
pub(crate) fn doubt() -> Option<String> {
    let (mut version, mut subversion) = (0, 0);
    // SAFETY: valid output pointers.
    unsafe { PMPI_Get_version(&raw mut version, &raw mut subversion) };
    if let Some(missing) = NEEDED.iter().find(|function| function.get().is_none()) {
        return Some(format!("the MPI has no {}", missing.name()));
    }
    let is_known = (version, subversion) <= KNOWN;
    (!is_known).then(|| {
        format!(
            "the MPI is of the standard {version}.{subversion}, and mpress knows it up to {}.{}",
            KNOWN.0, KNOWN.1
        )
    })
}

/// The calls that report message lengths; they exist since MPI 3.0, and are deprecated since 4.1.
static NEEDED: [Symbol; 4] = [
    Symbol::of("PMPI_Type_size_x\0"),
    Symbol::of("PMPI_Get_elements_x\0"),
    Symbol::of("PMPI_Status_set_elements_x\0"),
    Symbol::of("PMPI_Imrecv\0"),
];

/// The version of the standard whose calls the table has.
const KNOWN: (c_int, c_int) = (5, 0);

fn library_version() -> String {
    let (mut version, mut len) = ([0 as c_char; LONGEST + 1], 0);
    // SAFETY: the buffer is longer than any version string; its last byte stays 0.
    unsafe {
        PMPI_Get_library_version(version.as_mut_ptr(), &raw mut len);
        CStr::from_ptr(version.as_ptr()).to_string_lossy().into_owned()
    }
}
