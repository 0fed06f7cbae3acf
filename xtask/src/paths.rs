//! Where things are: the workspace, the target directories, the finished parts.

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
    /// By what cargo says, wherever the command was given.
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

    /// A target directory beside the usual one: builds that differ in flags or MPI do not undo each other.
    pub(crate) fn target(&self, name: &str) -> PathBuf {
        self.target.join(name)
    }

    /// What a release build of cargo in the usual target directory leaves.
    pub(crate) fn released(&self, name: &str) -> PathBuf {
        self.target.join("release").join(name)
    }

    /// The preload library as cargo builds it, beside the shims.
    pub(crate) fn built_preload(&self) -> PathBuf {
        self.released("libmpress_preload.so")
    }

    /// The `mpress` command, installed beside its libraries.
    pub(crate) fn mpress(&self) -> PathBuf {
        self.target("mpress").join("bin/mpress")
    }

    /// The folder in which the `mpress` command finds the preload library, and that its shims.
    pub(crate) fn libraries(&self) -> PathBuf {
        self.target("mpress").join("lib")
    }

    /// The example programs built for an MPI.
    pub(crate) fn examples(&self, mpi: Mpi) -> PathBuf {
        self.target("mpress/examples").join(mpi.name())
    }

    /// The cargo that runs this, at the root of the workspace.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
        command.current_dir(&self.root);
        command
    }
}
