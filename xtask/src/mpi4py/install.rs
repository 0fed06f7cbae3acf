//! mpi4py in a virtual environment per MPI, and the sources its tests come with, under `target/mpi4py`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use mpress_cluster::Mpi;

use crate::error::Error;
use crate::paths::Paths;
use crate::step;

const VERSION: &str = "4.1.2";

/// Where an MPI's mpi4py is.
pub(super) struct Installed {
    dir: PathBuf,
}

impl Installed {
    fn of(paths: &Paths, mpi: Mpi) -> Self {
        // A new version gets a folder of its own.
        Self { dir: paths.target("mpi4py").join(format!("{VERSION}-{mpi}")) }
    }

    /// The interpreter that finds this mpi4py.
    pub(super) fn python(&self) -> PathBuf {
        self.dir.join("bin/python")
    }

    /// The folder of the suite.
    pub(super) fn tests(&self) -> PathBuf {
        self.dir.join(format!("mpi4py-{VERSION}/test"))
    }

    /// A folder for what runs of the suite write.
    pub(super) fn outcomes(&self) -> PathBuf {
        self.dir.join("outcomes")
    }

    /// There once everything else is.
    fn mark(&self) -> PathBuf {
        self.dir.join("complete")
    }
}

/// Installs mpi4py for an MPI, if it is not. `Ok(Err(_))`: it cannot be had, for this reason.
pub(super) fn ensure(paths: &Paths, mpi: Mpi) -> Result<Result<Installed, String>, Error> {
    let installed = Installed::of(paths, mpi);
    if installed.mark().is_file() {
        return Ok(Ok(installed));
    }
    eprintln!("    installing mpi4py {VERSION} for {}", mpi.title());
    let dir = &installed.dir;
    // What an attempt left that did not come to its end.
    let _there_or_not: std::io::Result<()> = fs::remove_dir_all(dir);
    fs::create_dir_all(dir).map_err(Error::file(dir))?;
    step::run("python3 -m venv", Command::new("python3").args(["-m", "venv"]).arg(dir))?;
    let wanted = format!("mpi4py=={VERSION}");
    // Arrays of NumPy are among the buffers that the suite sends.
    let fetch: [&[&str]; 2] = [
        &["download", "--no-deps", "--no-binary=mpi4py", &wanted],
        &["install", "--only-binary=:all:", "numpy"],
    ];
    for words in fetch {
        if let Err(reason) = fetched(&mut pip(dir, words)) {
            return Ok(Err(reason));
        }
    }
    let archive = format!("mpi4py-{VERSION}.tar.gz");
    step::run("unpacking of mpi4py", Command::new("tar").current_dir(dir).args(["-xzf", &archive]))?;
    let mut install = pip(dir, &["install", "--no-cache-dir", "--no-binary=mpi4py", &archive]);
    // A wheel of another MPI's may lie in the cache.
    step::run(&format!("build of mpi4py for {}", mpi.title()), install.env("MPICC", mpi.mpicc()))?;
    fs::write(installed.mark(), "").map_err(Error::file(installed.mark()))?;
    Ok(Ok(installed))
}

fn pip(dir: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(dir.join("bin/pip"));
    command.current_dir(dir).args(words).args(["--quiet", "--disable-pip-version-check"]);
    command
}

/// Runs what needs the network. `Err`: why it is of no use.
fn fetched(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("pip cannot be started: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let line = stderr.lines().find(|line| line.starts_with("ERROR")).unwrap_or("no reason given");
    Err(format!("PyPI does not give what is needed: {line}"))
}
