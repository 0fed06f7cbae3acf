//! Where the shim is: the library that goes before the program's MPI, and the one that it loads.

use std::path::{Path, PathBuf};

use crate::detect::Mpi;

/// The variable that says where the shims are; nowhere else is looked then.
const LIBDIR: &str = "MPRESS_LIBDIR";

/// Why there is no shim.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("no shim at {}, given by --shim", .0.display())]
    Given(PathBuf),
    #[error("no shim for {mpi}: looked for {name} in {looked} (set {LIBDIR} or give --shim)")]
    Installed { mpi: Mpi, name: String, looked: String },
    #[error("no shim for {mpi}: there is no {name} in {}, given by {LIBDIR}", .dir.display())]
    InDir { mpi: Mpi, name: String, dir: PathBuf },
}

/// The one the user gave, as an absolute path: the program may change its directory and start others.
pub(crate) fn given(path: &Path) -> Result<PathBuf, Error> {
    let absolute = std::path::absolute(path).ok().filter(|path| path.is_file());
    absolute.ok_or_else(|| Error::Given(path.to_owned()))
}

/// The one installed for an MPI.
pub(crate) fn installed(mpi: Mpi) -> Result<PathBuf, Error> {
    if let Some(dir) = std::env::var_os(LIBDIR).filter(|dir| !dir.is_empty()).map(PathBuf::from) {
        let path = dir.join(file_name(mpi));
        return given(&path).map_err(|_| Error::InDir { mpi, name: file_name(mpi), dir });
    }
    // Through links: the command may be linked into another directory of the PATH.
    let command = std::env::current_exe().and_then(|path| path.canonicalize()).unwrap_or_default();
    beside(&command, mpi)
}

/// The library that does the work: the one that is preloaded loads it from its own folder, and `mpress calibrate` loads it, too. Where
/// there is none, the one given must be it.
pub(crate) fn behind(library: PathBuf) -> PathBuf {
    let mut name = library.file_stem().unwrap_or_default().to_owned();
    name.push("-shim.so");
    Some(library.with_file_name(name)).filter(|path| path.is_file()).unwrap_or(library)
}

fn beside(command: &Path, mpi: Mpi) -> Result<PathBuf, Error> {
    let prefix = command.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
    let dirs = [prefix.join("lib"), prefix.join("lib/mpress")];
    let found = dirs.iter().map(|dir| dir.join(file_name(mpi))).find(|path| path.is_file());
    found.ok_or_else(|| Error::Installed {
        mpi,
        name: file_name(mpi),
        looked: dirs.map(|dir| dir.display().to_string()).join(" and "),
    })
}

fn file_name(mpi: Mpi) -> String {
    format!("libmpress-{}.so", mpi.name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn it_is_beside_the_command() {
        let prefix = std::env::temp_dir().join(format!("mpress-shim-{}", std::process::id()));
        let command = prefix.join("bin/mpress");
        fs::create_dir_all(prefix.join("lib/mpress")).unwrap();
        let error = beside(&command, Mpi::Mpich).unwrap_err().to_string();
        let lib = prefix.join("lib").display().to_string();
        let expected =
            format!("no shim for MPICH: looked for libmpress-mpich.so in {lib} and {lib}/mpress (");
        assert!(error.starts_with(&expected), "{error}");

        let (first, second) =
            (prefix.join("lib/libmpress-mpich.so"), prefix.join("lib/mpress/libmpress-mpich.so"));
        fs::write(&second, "").unwrap();
        assert_eq!(beside(&command, Mpi::Mpich).unwrap(), second);
        fs::write(&first, "").unwrap();
        assert_eq!(beside(&command, Mpi::Mpich).unwrap(), first);
        assert!(beside(&command, Mpi::OpenMpi).is_err());

        let shim = prefix.join("lib/libmpress-mpich-shim.so");
        assert_eq!(behind(first.clone()), first);
        fs::write(&shim, "").unwrap();
        assert_eq!(behind(first), shim);
        assert_eq!(behind(shim.clone()), shim);
        fs::remove_dir_all(&prefix).unwrap();
    }
}
