//! A library for MPICH, whose ranks otherwise spin while they wait.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Error, Family, Mpi};

const SOURCE: &str = include_str!("yield.c");

/// Builds the library into a folder, for ranks to preload before other libraries: with it, a waiting rank lets others run. `None` for MPIs whose
/// ranks need no such help. `linked`: with this `PATH`, the library is linked to the MPI, for programs that load their MPI without exporting its
/// symbols; otherwise it brings nothing into a process. Not for measurements.
///
/// # Errors
/// If the folder cannot be written, or the compiler fails.
pub fn yielding(mpi: Mpi, dir: &Path, linked: Option<&OsStr>) -> Result<Option<PathBuf>, Error> {
    if mpi.family() != Family::Mpich {
        return Ok(None);
    }
    let source = dir.join("yield.c");
    fs::create_dir_all(dir).and_then(|()| fs::write(&source, SOURCE)).map_err(Error::file(&source))?;
    // Other tests may use the library while this one builds it.
    let (library, half_done) = (dir.join("yield.so"), dir.join(format!("yield-{}.so", std::process::id())));
    let compiler = if linked.is_some() { mpi.mpicc() } else { "cc" };
    let mut build = Command::new(compiler);
    if let Some(path) = linked {
        build.env("PATH", path).arg("-Wl,--no-as-needed");
    }
    build.args(["-O1", "-shared", "-fPIC", "-o"]).arg(&half_done).arg(&source).arg("-ldl");
    let command = format!("{compiler} -shared {}", source.display());
    let output = build.output().map_err(|source| Error::Start { command: command.clone(), source })?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(Error::Command { command, message });
    }
    fs::rename(&half_done, &library).map_err(Error::file(&library))?;
    Ok(Some(library))
}
