//! Finds which MPI a program uses, from the libraries that it is linked to.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::elf;

/// The layout of handles, constants and structs. Each ABI has a shim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Abi {
    /// Open MPI 4 and 5.
    OpenMpi,
    /// MPICH from 3.1 on, Intel MPI, MVAPICH, Cray MPICH.
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

/// If the dynamic loader preloads nothing into a program, the reason. Scripts and other files that are not ELF are not
/// checked.
pub(crate) fn out_of_reach(program: &Path) -> Option<&'static str> {
    const SET_ID: u32 = 0o6000;
    if elf::Elf::read(program)?.is_static() {
        return Some("is linked statically");
    }
    let mode = std::fs::metadata(program).ok()?.permissions().mode();
    (mode & SET_ID != 0).then_some("runs with the rights of its owner or group (setuid, setgid)")
}

/// The ABI of a program that is linked to an MPI. Scripts and Python are not linked to one.
pub(crate) fn linked(program: &Path) -> Option<Abi> {
    let elf = elf::Elf::read(program)?;
    // Most are linked directly; asking the loader for indirect libraries needs a process.
    by_libraries(&elf.needed).or_else(|| by_libraries(&elf.all_libraries(program)))
}

/// The same, with the file of the MPI, if the program's loader finds it.
pub(crate) fn linked_to(program: &Path) -> Option<(Abi, Option<PathBuf>)> {
    let elf = elf::Elf::read(program)?;
    let files = elf.library_files(program);
    // Prefer the MPI itself to libraries that use it, such as its Fortran library.
    let of_mpi = |name: &str| {
        !name.starts_with("libmpi_mpifh")
            && !name.starts_with("libmpifort")
            && !name.starts_with("libmpi_use")
    };
    let mut known: Vec<_> =
        files.iter().filter_map(|(name, file)| Some((by_library(name)?, name, file))).collect();
    known.sort_by_key(|(_, name, _)| !of_mpi(name));
    let found =
        known.first().map(|(abi, _, file)| (*abi, Some((*file).clone()).filter(|file| file.is_file())));
    // A loader that does not find one of the libraries may list none.
    found.or_else(|| by_libraries(&elf.needed).map(|abi| (abi, None)))
}

fn by_libraries(names: &[String]) -> Option<Abi> {
    names.iter().find_map(|name| by_library(name))
}

/// The ABI of a library with this file name.
pub(crate) fn by_library(name: &str) -> Option<Abi> {
    let (stem, version) = name.split_once(".so")?;
    match stem {
        // Debian's MPICH has other names; elsewhere, all MPIs with MPICH's ABI have version 12.
        "libmpi" if version.starts_with(".12") => Some(Abi::Mpich),
        "libmpi" if version.starts_with(".40") => Some(Abi::OpenMpi),
        "libmpifort" | "libmpicxx" => Some(Abi::Mpich),
        "libmpi_abi" | "libmpifort_abi" => Some(Abi::Standard),
        _ if stem.starts_with("libmpich") => Some(Abi::Mpich),
        // Cray has one for each compiler.
        _ if stem.starts_with("libmpi_") && version.starts_with(".12") => Some(Abi::Mpich),
        _ if stem.starts_with("libmpi_") && version.starts_with(".40") => Some(Abi::OpenMpi),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_told_apart() {
        for name in ["libmpi.so.40", "libmpi.so.40.30.4", "libmpi_mpifh.so.40", "libmpi_usempif08.so.40"] {
            assert_eq!(by_library(name), Some(Abi::OpenMpi), "{name}");
        }
        for name in [
            "libmpich.so.12",
            "libmpichfort.so.12",
            "libmpifort.so.12",
            "libmpi.so.12",
            "libmpi_gnu_91.so.12",
        ] {
            assert_eq!(by_library(name), Some(Abi::Mpich), "{name}");
        }
        assert_eq!(by_library("libmpi_abi.so.1"), Some(Abi::Standard));
        for name in ["libc.so.6", "libmpi.so", "libmpfr.so.6", "libmpi.so.20", "libmpi", "libmpiglue.so.1"] {
            assert_eq!(by_library(name), None, "{name}");
        }
    }

    #[test]
    fn this_test_is_linked_to_none() {
        let this = std::env::current_exe().unwrap();
        assert_eq!(linked(&this), None);
        assert_eq!(linked(Path::new("/etc/passwd")), None);
    }
}
