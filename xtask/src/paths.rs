//! Paths: the workspace, the target directories, the installed files; files are written together with the folders above them.

use std::ffi::OsString;
use std::fs;
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
    /// The root of the project, and `CARGO_TARGET_DIR` or else `target` in the root, wherever this command was called.
    pub(crate) fn find() -> Result<Self, Error> {
        let program = std::env::current_exe().map_err(Error::file("xtask"))?;
        if let Some(triple) = triple_of(&program) {
            return Err(Error::OwnFolder(triple.to_owned()));
        }
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

    /// The cargo that runs this command, in the root of the workspace. It builds into the folder where this command looks for the products, whatever
    /// else its settings say.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
        command.current_dir(&self.root).env("CARGO_TARGET_DIR", &self.target);
        command
    }
}

/// The platform in the path of a product of cargo, if cargo was told to build for a platform by name: then it does not use the folders above.
fn triple_of(product: &Path) -> Option<&str> {
    let folder = product.parent()?.parent()?.file_name()?.to_str()?;
    (folder.starts_with(std::env::consts::ARCH) && folder.contains("-linux-")).then_some(folder)
}

/// Creates a folder and those above it.
pub(crate) fn create_folder(folder: &Path) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(Error::file(folder))
}

/// Writes a file and creates the folders above it.
pub(crate) fn write(file: &Path, content: impl AsRef<[u8]>) -> Result<(), Error> {
    file.parent().map_or(Ok(()), create_folder)?;
    fs::write(file, content).map_err(Error::file(file))
}

/// Copies a file, creates the folders above its new path, and returns that path.
pub(crate) fn copied(file: &Path, place: PathBuf) -> Result<PathBuf, Error> {
    place.parent().map_or(Ok(()), create_folder)?;
    fs::copy(file, &place).map_err(Error::file(file))?;
    Ok(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_builds_where_the_products_are_looked_for() {
        let paths = Paths::find().unwrap();
        let cargo = paths.cargo();
        let mut variables = cargo.get_envs();
        let target = variables.find(|(name, _)| *name == "CARGO_TARGET_DIR").and_then(|(_, value)| value);
        assert_eq!(target.map(|target| Path::new(target).join("release/x")), Some(paths.released("x")));
    }

    #[test]
    fn a_platform_by_name_is_noticed() {
        let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
        let product = format!("/t/{triple}/xtask/xtask");
        assert_eq!(triple_of(Path::new(&product)), Some(&*triple));
        assert_eq!(triple_of(Path::new("/t/xtask/xtask")), None);
        assert_eq!(triple_of(Path::new("/t/debug/deps/xtask-12")), None);
    }
}
