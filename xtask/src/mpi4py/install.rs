//! Installs mpi4py in a virtual environment, and its sources with the tests, under `target/mpi4py`.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use mpress_cluster::{Abi, Mpi};

use crate::error::Error;
use crate::mpis;
use crate::paths::Paths;
use crate::step;
use crate::venv;

const VERSION: &str = "4.1.2";

/// The location of mpi4py for one MPI.
pub(crate) struct Installed {
    dir: PathBuf,
    mpi: Mpi,
    /// The folder in which the MPI's library has the name that the wheels look for.
    library: PathBuf,
    preloaded: Option<PathBuf>,
}

impl Installed {
    fn of(paths: &Paths, mpi: Mpi) -> Self {
        // A new version gets a new folder.
        let dir = paths.target("mpi4py").join(VERSION);
        Self { library: dir.join(format!("lib-{mpi}")), dir, mpi, preloaded: None }
    }

    /// The interpreter that finds this mpi4py.
    pub(crate) fn python(&self) -> PathBuf {
        self.dir.join("bin/python")
    }

    /// The folder of its packages, for another environment of the same Python.
    pub(crate) fn packages(&self) -> Result<PathBuf, Error> {
        let lib = self.dir.join("lib");
        let versions = fs::read_dir(&lib).map_err(Error::file(&lib))?;
        let found =
            versions.flatten().map(|entry| entry.path().join("site-packages")).find(|dir| dir.is_dir());
        found.ok_or_else(|| Error::file(lib)(std::io::ErrorKind::NotFound.into()))
    }

    /// The folder of the test suite.
    pub(super) fn tests(&self) -> PathBuf {
        self.dir.join(format!("mpi4py-{VERSION}/test"))
    }

    /// The folder for the output of runs of the suite.
    pub(super) fn outcomes(&self) -> PathBuf {
        self.dir.join(format!("outcomes-{}", self.mpi))
    }

    /// The variables that make mpi4py use this MPI: the wheels support several and identify them by the names of their libraries.
    pub(crate) fn env(&self) -> [(&'static str, PathBuf); 2] {
        [("MPI4PY_MPIABI", self.mpi.abi().name().into()), ("LD_LIBRARY_PATH", self.library.clone())]
    }

    fn libraries(&self) -> PathBuf {
        self.dir.join(format!("lib-{}", self.mpi))
    }

    /// The library to preload in addition to the shim: with MPICH, the one that stops it from spinning.
    pub(crate) fn preloaded(&self) -> Option<PathBuf> {
        self.preloaded.clone()
    }

    /// Gives the program's MPI library the name that the wheels look for; Debian's name for MPICH's library differs. A library that already has the
    /// name stays in place, because it may find other libraries relative to its path.
    fn link(&mut self, path: &OsStr) -> Result<(), Error> {
        let libraries = self.libraries();
        fs::create_dir_all(&libraries).map_err(Error::file(&libraries))?;
        let linked = libraries.join("linked.so");
        let mut build = Command::new(self.mpi.mpicc());
        build.env("PATH", path).args([
            "-shared",
            "-Wl,--no-as-needed",
            "-x",
            "c",
            "/dev/null",
            "-x",
            "none",
            "-o",
        ]);
        build.arg(&linked);
        step::run("build of what is linked to the MPI", &mut build)?;
        let output = Command::new("ldd").arg(&linked).output().map_err(Error::file(&linked))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let library = text.lines().map(str::trim).find(|line| line.starts_with("libmpi"));
        let library = Path::new(library.and_then(|line| line.split_whitespace().nth(2)).unwrap_or_default());
        let name = if self.mpi.abi() == Abi::Mpich { "libmpi.so.12" } else { "libmpi.so.40" };
        if let Some(folder) = library.parent().filter(|_| library.file_name() == Some(OsStr::new(name))) {
            self.library = folder.to_owned();
            return Ok(());
        }
        let name = libraries.join(name);
        let _there_or_not: std::io::Result<()> = fs::remove_file(&name);
        std::os::unix::fs::symlink(library, &name).map_err(Error::file(&name))
    }
}

/// Installs mpi4py if it is missing. `Ok(Err(_))`: it is not available, for this reason.
pub(crate) fn ensure(paths: &Paths, mpi: Mpi) -> Result<Result<Installed, String>, Error> {
    let mut installed = Installed::of(paths, mpi);
    if let Err(reason) = install(&installed.dir)? {
        return Ok(Err(reason));
    }
    let path = mpis::path(paths);
    installed.link(&path)?;
    installed.preloaded = mpress_cluster::yielding(mpi, &installed.libraries(), Some(&path))?;
    Ok(Ok(installed))
}

fn install(dir: &Path) -> Result<Result<(), String>, Error> {
    let wanted = format!("mpi4py=={VERSION}");
    // Only the sources contain the suite. It also sends NumPy arrays.
    let calls: [&[&str]; 2] = [
        &["install", "--only-binary=:all:", &wanted, "numpy"],
        &["download", "--no-deps", "--no-binary=mpi4py", &wanted],
    ];
    venv::ensure(dir, &wanted, &calls, || {
        let archive = format!("mpi4py-{VERSION}.tar.gz");
        step::run("unpacking of mpi4py", Command::new("tar").current_dir(dir).args(["-xzf", &archive]))
    })
}
