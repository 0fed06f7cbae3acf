//! Paths: the workspace, the target directories, the installed files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use mpress_cluster::Mpi;

use crate::error::Error;

/// The directories of the workspace, all absolute.
pub(crate) struct Paths {
    root: PathBuf,
    target: PathBuf,
}

impl Paths {
    /// Asks cargo, so that the current directory does not matter.
    pub(crate) fn find() -> Result<Self, Error> {
        let xtask =
            std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        let root = Path::new(&xtask).join("..");
        let root = root.canonicalize().map_err(Error::file(&root))?;
        let target = match std::env::var_os("CARGO_TARGET_DIR") {
            Some(dir) => std::path::absolute(&dir).map_err(Error::file(dir))?,
            None => root.join("target"),
        };
        Ok(Self { root, target })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A target directory next to the usual one, so that builds with different flags or MPIs do not overwrite each other.
    pub(crate) fn target(&self, name: &str) -> PathBuf {
        self.target.join(name)
    }

    /// A product of a release build in cargo's usual target directory.
    pub(crate) fn released(&self, name: &str) -> PathBuf {
        self.target.join("release").join(name)
    }

    /// A product of the build that the tests use, with overflow checks and debug assertions.
    pub(crate) fn tested(&self, name: &str) -> PathBuf {
        self.target.join("debug").join(name)
    }

    /// The `mpress` command, installed next to its libraries.
    pub(crate) fn mpress(&self) -> PathBuf {
        self.target("mpress").join("bin/mpress")
    }

    /// The folder in which the `mpress` command finds the preload library, which finds its shims there.
    pub(crate) fn libraries(&self) -> PathBuf {
        self.target("mpress").join("lib")
    }

    /// The example programs built for an MPI.
    pub(crate) fn examples(&self, mpi: Mpi) -> PathBuf {
        self.target("mpress/examples").join(mpi.name())
    }

    /// The cargo that runs this command, in the root of the workspace.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
        command.current_dir(&self.root);
        command
    }
}
