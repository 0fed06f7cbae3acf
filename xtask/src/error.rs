//! Errors, each with a message of one line.

use std::path::PathBuf;

/// An error of a command of the project.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("setup: packages are missing and installing them needs root; run\n\n    {0}\n")]
    NeedsRoot(String),
    #[error(
        "setup: packages are missing, and they are installed on Debian and Ubuntu only. Not found: {missing}\n\
             Install them; their Debian names: {packages}"
    )]
    OtherSystem { missing: String, packages: String },
    #[error("{what}: `{command}` failed ({status})")]
    Failed { what: String, command: String, status: String },
    #[error("{what}: cannot start `{command}`: {source}")]
    Start { what: String, command: String, source: std::io::Error },
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error("{run}: {message}")]
    Program { run: String, message: String },
    #[error("no step has `{word}` in its name; there are\n  {names}")]
    NoStep { word: String, names: String },
    #[error(
        "cargo is told to build for {0} by name (CARGO_BUILD_TARGET, build.target or --target), into a folder of its own where \
         nothing here looks; take that away"
    )]
    OwnFolder(String),
    #[error("the results differ")]
    ResultsDiffer,
    #[error(transparent)]
    Cluster(#[from] mpress_cluster::Error),
}

impl Error {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }

    pub(crate) fn is_interrupt(&self) -> bool {
        matches!(self, Self::Cluster(mpress_cluster::Error::Interrupted))
    }
}
