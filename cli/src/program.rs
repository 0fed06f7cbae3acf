//! Finds the file of a program's name, by the rules of `execvp`.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::similar;

/// Why a program cannot be run.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Error {
    #[error("no program given")]
    None,
    #[error("`{0}` is not found{hint}", hint = similar::program(.0.as_ref()))]
    NotFound(String),
    #[error("`{0}` is not found in PATH{hint}", hint = similar::program(.0.as_ref()))]
    NotInPath(String),
    #[error("`{0}` cannot be executed: {1}")]
    NotExecutable(String, String),
}

impl Error {
    pub(crate) fn exit_status(&self) -> u8 {
        match self {
            Self::None => 125,
            Self::NotExecutable(..) => 126,
            Self::NotFound(_) | Self::NotInPath(_) => 127,
        }
    }

    /// The error of a failed `exec`. A file whose interpreter does not exist also counts as not found.
    pub(crate) fn of_exec(program: &OsStr, error: &std::io::Error) -> Self {
        match error.kind() {
            ErrorKind::NotFound => Self::NotFound(shown(program)),
            _ => Self::NotExecutable(shown(program), error.to_string()),
        }
    }
}

/// The file that `exec` will use.
pub(crate) fn find(program: &OsStr) -> Result<PathBuf, Error> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/bin:/usr/bin".into());
    find_in(program, &path)
}

fn find_in(program: &OsStr, path: &OsStr) -> Result<PathBuf, Error> {
    if program.as_encoded_bytes().contains(&b'/') {
        let file = PathBuf::from(program);
        return match executable(&file) {
            Some(true) => Ok(file),
            Some(false) => Err(refused(program)),
            None => Err(Error::NotFound(shown(program))),
        };
    }
    let found = std::env::split_paths(path).map(|dir| dir.join(program));
    let found: Vec<_> = found.filter_map(|file| executable(&file).map(|can| (can, file))).collect();
    match found.iter().find(|(can, _)| *can) {
        Some((_, file)) if !program.is_empty() => Ok(file.clone()),
        _ if program.is_empty() || found.is_empty() => Err(Error::NotInPath(shown(program))),
        _ => Err(refused(program)),
    }
}

/// Whether any user may execute a file; `None` if it does not exist. Only `exec` can tell for certain.
pub(crate) fn executable(file: &Path) -> Option<bool> {
    let metadata = file.metadata().ok()?;
    Some(metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

fn refused(program: &OsStr) -> Error {
    Error::NotExecutable(shown(program), "not a file with execute permission".to_owned())
}

fn shown(program: &OsStr) -> String {
    program.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_looked_up_as_exec_does() {
        let find = |program: &str, path: &str| find_in(OsStr::new(program), OsStr::new(path));
        assert_eq!(find("sh", "/nowhere:/bin").unwrap(), Path::new("/bin/sh"));
        assert_eq!(find("/bin/sh", "").unwrap(), Path::new("/bin/sh"));
        assert_eq!(find("no-such", "/bin"), Err(Error::NotInPath("no-such".to_owned())));
        assert_eq!(find("", "/bin"), Err(Error::NotInPath(String::new())));
        assert_eq!(find("./no-such", "/bin").unwrap_err().exit_status(), 127);
        // A plain file and a directory.
        assert_eq!(find("/etc/passwd", "").unwrap_err().exit_status(), 126);
        assert_eq!(find("passwd", "/etc").unwrap_err().exit_status(), 126);
        assert_eq!(find("/bin", "").unwrap_err().exit_status(), 126);
        // An executable later in the path is preferred to an earlier plain file.
        assert!(find("sh", "/etc:/bin").is_ok());
    }
}
