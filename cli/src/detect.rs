//! Which MPI a program uses: by the libraries it is linked to, else by what launched it.

use std::path::Path;

use clap::ValueEnum;

use crate::{elf, launcher};

/// The MPI libraries there is a shim for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mpi {
    #[value(name = "openmpi")]
    OpenMpi,
    Mpich,
}

impl Mpi {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OpenMpi => "openmpi",
            Self::Mpich => "mpich",
        }
    }
}

impl std::fmt::Display for Mpi {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::OpenMpi => "Open MPI",
            Self::Mpich => "MPICH",
        })
    }
}

/// Why the MPI is not known.
#[derive(Debug, thiserror::Error)]
#[error(
    "no MPI found for `{program}`: it is linked to none, and no launcher has set {}, ... \
     (say --mpi openmpi or --mpi mpich)",
    launcher::EXAMPLES
)]
pub(crate) struct Error {
    program: String,
}

/// The MPI a program uses. A script, or Python, is linked to none: then that of the launcher.
pub(crate) fn mpi(program: &Path) -> Result<Mpi, Error> {
    let found = linked(program).or_else(launcher::mpi);
    found.ok_or_else(|| Error { program: program.display().to_string() })
}

fn linked(program: &Path) -> Option<Mpi> {
    let elf = elf::Elf::read(program)?;
    // Most are linked to it directly; asking the loader for the rest costs a process.
    by_libraries(&elf.needed).or_else(|| by_libraries(&elf.all_libraries(program)))
}

fn by_libraries(names: &[String]) -> Option<Mpi> {
    names.iter().find_map(|name| by_library(name))
}

/// The MPI a library's file name belongs to.
fn by_library(name: &str) -> Option<Mpi> {
    let (stem, version) = name.split_once(".so")?;
    match stem {
        // Debian's MPICH has names of its own; elsewhere all that keep MPICH's ABI call themselves 12.
        "libmpi" if version.starts_with(".12") => Some(Mpi::Mpich),
        "libmpi" if !version.is_empty() => Some(Mpi::OpenMpi),
        "libmpifort" | "libmpicxx" => Some(Mpi::Mpich),
        // The library of MPI's own ABI, which says nothing about who made it.
        "libmpi_abi" => None,
        _ if stem.starts_with("libmpich") => Some(Mpi::Mpich),
        _ if stem.starts_with("libmpi_") => Some(Mpi::OpenMpi),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_told_apart() {
        for name in ["libmpi.so.40", "libmpi.so.20.10.1", "libmpi_mpifh.so.40", "libmpi_usempif08.so.40"] {
            assert_eq!(by_library(name), Some(Mpi::OpenMpi), "{name}");
        }
        for name in
            ["libmpich.so.12", "libmpichfort.so.12", "libmpifort.so.12", "libmpi.so.12", "libmpicxx.so.12"]
        {
            assert_eq!(by_library(name), Some(Mpi::Mpich), "{name}");
        }
        for name in ["libc.so.6", "libmpi.so", "libmpfr.so.6", "libmpi_abi.so.0", "libmpi", "libmpiglue.so.1"]
        {
            assert_eq!(by_library(name), None, "{name}");
        }
    }

    #[test]
    fn this_test_is_linked_to_none() {
        let this = std::env::current_exe().unwrap();
        assert_eq!(linked(&this), None);
        assert_eq!(linked(Path::new("/etc/passwd")), None);
    }

    #[test]
    fn the_message_says_what_was_looked_at() {
        let error = Error { program: "./app".to_owned() }.to_string();
        assert!(
            error.contains("`./app`") && error.contains("PMI_RANK") && error.contains("--mpi mpich"),
            "{error}"
        );
        assert!(!error.contains('\n'));
    }
}
