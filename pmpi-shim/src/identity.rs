//! Whether the MPI that is loaded is the one that the shim was built for, as far as the preload library has not seen to that: another
//! version goes by the same name, and may have calls through which a message would pass the shim by.

use crate::symbol;
use crate::sys::*;
use std::ffi::{CStr, c_char};

// Calls of the table that the `mpi.h` of the build does not declare: `UNWRAPPED`.
include!(concat!(env!("OUT_DIR"), "/unwrapped.rs"));

/// MPICH's limit; Open MPI's is less.
const LONGEST: usize = 8192;

/// Why messages must pass through in this process, if they must. The MPI is initialised.
pub(crate) fn doubt() -> Option<String> {
    let version = library_version();
    if !is_built_for(&version) {
        let version = version.split([',', '\n']).next().unwrap_or_default();
        return Some(format!("the MPI is \"{version}\", and mpress was built for {BUILT_FOR} {MAJOR}"));
    }
    let unknown = UNWRAPPED.iter().find(|name| !symbol::find(name).is_null())?;
    let name = unknown.to_string_lossy();
    Some(format!("the MPI has {}, which mpress was built without", name.trim_start_matches('P')))
}

fn library_version() -> String {
    let (mut version, mut len) = ([0 as c_char; LONGEST + 1], 0);
    // SAFETY: a place that is longer than any version; its last byte stays 0.
    unsafe {
        PMPI_Get_library_version(version.as_mut_ptr(), &raw mut len);
        CStr::from_ptr(version.as_ptr()).to_string_lossy().into_owned()
    }
}

#[cfg(open_mpi)]
const BUILT_FOR: &str = "Open MPI";
#[cfg(open_mpi)]
const MAJOR: u32 = OMPI_MAJOR_VERSION;

#[cfg(not(open_mpi))]
const BUILT_FOR: &str = "MPICH";
#[cfg(not(open_mpi))]
const MAJOR: u32 = MPICH_NUMVERSION / 10_000_000;

/// Whether this is the family and the major version of the build: `Open MPI v4.1.4, ...`, `MPICH Version: 4.0.2 ...`.
fn is_built_for(version: &str) -> bool {
    let number = version.strip_prefix(BUILT_FOR).map(|rest| {
        let rest = rest.trim_start().trim_start_matches("Version:").trim_start();
        rest.trim_start_matches('v').split('.').next().unwrap_or_default().parse()
    });
    number == Some(Ok(MAJOR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn family_and_major_version_count() {
        let like = |major: u32| match BUILT_FOR {
            "Open MPI" => format!("Open MPI v{major}.1.4, package: Debian OpenMPI, ident: {major}.1.4"),
            _ => format!("MPICH Version:\t{major}.0.2\nMPICH Release date:\tThu Apr  7 12:34:45 CDT 2022"),
        };
        assert!(is_built_for(&like(MAJOR)));
        assert!(!is_built_for(&like(MAJOR + 1)) && !is_built_for(&like(10 * MAJOR)));
        for other in [
            "",
            "Open MPI",
            "MPICH Version:",
            "Intel(R) MPI Library 2021.18 for Linux* OS",
            "MVAPICH2 Version: 2.3.7",
        ] {
            assert!(!is_built_for(other), "{other}");
        }
    }
}
