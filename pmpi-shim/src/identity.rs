//! What is known of the MPI that is loaded, by its own words.

use crate::symbol::Symbol;
use crate::sys::*;
use std::ffi::{CStr, c_char, c_int};

/// MPICH's limit; Open MPI's is less.
const LONGEST: usize = 8192;

/// Whose library it is: where MPIs of one ABI differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Family {
    OpenMpi,
    /// MPICH, and what is made from it.
    Mpich,
    /// For these the way is taken that is right with all MPIs.
    Unknown,
}

impl Family {
    /// Whether a frame may be received into elements of several bytes, not all of the last of which it fills. MPICH takes that
    /// for an error. (Into a contiguous buffer of ours, Open MPI would write beyond the end where a message is too long.)
    pub(crate) fn takes_partial_elements(self) -> bool {
        self == Self::OpenMpi
    }

    /// Whether a message that is too long is written beyond the end of a buffer in one piece, as by Open MPI 4.1. In two pieces it
    /// is not.
    pub(crate) fn overruns(self) -> bool {
        self != Self::Mpich
    }

    /// Whether an error of a request goes to the handler of its communicator. With MPICH it does so for persistent requests
    /// only; of others the handler of `MPI_COMM_WORLD` hears. Open MPI frees a failed persistent request.
    pub(crate) fn calls_own_handler(self) -> bool {
        self == Self::OpenMpi
    }
}

/// Whose library is loaded.
pub(crate) fn family() -> Family {
    family_of(&library_version())
}

/// By the beginning of `MPI_Get_library_version`'s answer.
fn family_of(version: &str) -> Family {
    let begins = |names: &[&str]| names.iter().any(|name| version.starts_with(name));
    if begins(&["Open MPI"]) {
        Family::OpenMpi
    } else if begins(&["MPICH", "Intel(R) MPI", "MVAPICH"]) || version.contains("CRAY MPICH") {
        Family::Mpich
    } else {
        Family::Unknown
    }
}

/// Why messages must pass through in this process, if they must. The MPI is initialised.
pub(crate) fn doubt() -> Option<String> {
    let (mut version, mut subversion) = (0, 0);
    // SAFETY: places for the answers.
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

/// What tells how long messages are came with MPI 3.0, and is deprecated since 4.1.
static NEEDED: [Symbol; 4] = [
    Symbol::of("PMPI_Type_size_x\0"),
    Symbol::of("PMPI_Get_elements_x\0"),
    Symbol::of("PMPI_Status_set_elements_x\0"),
    Symbol::of("PMPI_Imrecv\0"),
];

/// The standard whose calls the table has.
const KNOWN: (c_int, c_int) = (5, 0);

fn library_version() -> String {
    let (mut version, mut len) = ([0 as c_char; LONGEST + 1], 0);
    // SAFETY: a place that is longer than any version; its last byte stays 0.
    unsafe {
        PMPI_Get_library_version(version.as_mut_ptr(), &raw mut len);
        CStr::from_ptr(version.as_ptr()).to_string_lossy().into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_name_themselves_at_the_beginning() {
        for (version, family) in [
            ("Open MPI v5.0.11, package: Open MPI", Family::OpenMpi),
            ("MPICH Version:      4.3.2\nMPICH Release date: Mon Oct  6", Family::Mpich),
            ("Intel(R) MPI Library 2021.18.0 for Linux* OS\n", Family::Mpich),
            ("MVAPICH2 Version      :\t2.3.7", Family::Mpich),
            ("MPI VERSION    : CRAY MPICH version 8.1.28.29 (ANL base 3.4a2)", Family::Mpich),
            ("", Family::Unknown),
            ("Some Open MPI", Family::Unknown),
        ] {
            assert_eq!(family_of(version), family, "{version}");
        }
    }
}
