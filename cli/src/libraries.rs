//! Finds the libraries: the preload library, and next to it a shim for each ABI.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use crate::detect::Abi;

/// The variable with the folder of the libraries; if set, no other folder is searched.
const LIBDIR: &str = "MPRESS_LIBDIR";

/// The file name for `LD_PRELOAD`.
pub(crate) const PRELOAD: &str = "libmpress.so";

/// Why there is no library.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("there is no library {}, which --preload names", .0.display())]
    Given(PathBuf),
    #[error("there is no {PRELOAD}: looked in {0} (set {LIBDIR} or give --preload)")]
    Installed(String),
    #[error("there is no {PRELOAD} in {}, which {LIBDIR} names", .0.display())]
    InDir(PathBuf),
    #[error("all libraries of mpress belong in one folder, but there is no {}", .0.display())]
    Shim(PathBuf),
}

/// The library to preload: the one that the user gave, or the installed one.
pub(crate) fn preload(given: Option<&Path>) -> Result<PathBuf, Error> {
    // Absolute: the program may change its directory and start others.
    let absolute = |path: &Path| std::path::absolute(path).ok().filter(|path| path.is_file());
    if let Some(path) = given {
        return absolute(path).ok_or_else(|| Error::Given(path.to_owned()));
    }
    if let Some(dir) = std::env::var_os(LIBDIR).filter(|dir| !dir.is_empty()).map(PathBuf::from) {
        return absolute(&dir.join(PRELOAD)).ok_or(Error::InDir(dir));
    }
    // Follow links: the command may be linked into another directory of the PATH.
    let command = std::env::current_exe().and_then(|path| path.canonicalize()).unwrap_or_default();
    beside(&command)
}

/// The shim for an ABI, next to the preload library, which loads it.
pub(crate) fn shim(preload: &Path, abi: Abi) -> Result<PathBuf, Error> {
    let path = preload.with_file_name(format!("libmpress_shim_{}.so", abi.name()));
    if path.is_file() { Ok(path) } else { Err(Error::Shim(path)) }
}

/// Whether one of the files in a list is a library of mpress, such as in a value of `LD_PRELOAD`.
pub(crate) fn names_ours(list: &OsStr) -> bool {
    list.as_encoded_bytes().split(|byte| b" :=".contains(byte)).any(is_ours)
}

/// The list without the libraries of mpress; `None` if nothing else is in it.
pub(crate) fn without_ours(list: &OsStr) -> Option<OsString> {
    let others = list.as_encoded_bytes().split(|byte| b" :".contains(byte));
    let others: Vec<_> = others.filter(|file| !file.is_empty() && !is_ours(file)).collect();
    (!others.is_empty()).then(|| OsString::from_vec(others.join(&b':')))
}

fn is_ours(file: &[u8]) -> bool {
    let name = file.rsplit(|byte| *byte == b'/').next().unwrap_or(file);
    name.starts_with(b"libmpress") && name.ends_with(b".so")
}

fn beside(command: &Path) -> Result<PathBuf, Error> {
    let prefix = command.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
    let dirs = [prefix.join("lib"), prefix.join("lib/mpress")];
    let found = dirs.iter().map(|dir| dir.join(PRELOAD)).find(|path| path.is_file());
    found.ok_or_else(|| Error::Installed(dirs.map(|dir| dir.display().to_string()).join(" and ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn ours_are_told_from_other_libraries() {
        for (list, others) in [
            ("/lib/libmpress.so", None),
            ("/a.so:/lib/libmpress.so /b.so", Some("/a.so:/b.so")),
            ("libmpress.so:/lib/libmpress_shim_mpich.so", None),
            ("/opt/libmpress/libc.so", Some("/opt/libmpress/libc.so")),
        ] {
            assert_eq!(without_ours(list.as_ref()), others.map(OsString::from), "{list}");
            assert_eq!(names_ours(list.as_ref()), others != Some(list), "{list}");
        }
        assert!(names_ours("LD_PRELOAD=/lib/libmpress.so".as_ref()));
    }

    #[test]
    fn they_are_beside_the_command() {
        let prefix = std::env::temp_dir().join(format!("mpress-libraries-{}", std::process::id()));
        let command = prefix.join("bin/mpress");
        fs::create_dir_all(prefix.join("lib/mpress")).unwrap();
        let error = beside(&command).unwrap_err().to_string();
        let lib = prefix.join("lib").display().to_string();
        assert!(
            error.starts_with(&format!("there is no libmpress.so: looked in {lib} and {lib}/mpress (")),
            "{error}"
        );

        let (first, second) = (prefix.join("lib/libmpress.so"), prefix.join("lib/mpress/libmpress.so"));
        fs::write(&second, "").unwrap();
        assert_eq!(beside(&command).unwrap(), second);
        fs::write(&first, "").unwrap();
        assert_eq!(beside(&command).unwrap(), first);

        assert!(shim(&first, Abi::Mpich).unwrap_err().to_string().ends_with("lib/libmpress_shim_mpich.so"));
        let file = prefix.join("lib/libmpress_shim_mpich.so");
        fs::write(&file, "").unwrap();
        assert_eq!(shim(&first, Abi::Mpich).unwrap(), file);
        fs::remove_dir_all(&prefix).unwrap();
    }
}
