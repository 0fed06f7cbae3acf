//! What can go wrong, each as one clear line.

use crate::Partial;
use std::path::PathBuf;
use std::time::Duration;

/// An error of the cluster or of a job on it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// This process may not make namespaces or cap links; the text says what is missing.
    #[error("an emulated cluster is not possible here: {0}")]
    NotPermitted(String),
    /// The number of nodes is outside what one cluster can have.
    #[error("a cluster has 1 to {most} nodes, not {asked}")]
    Nodes {
        /// What was asked for.
        asked: usize,
        /// The most there can be.
        most: usize,
    },
    /// A command of the system ended with an error.
    #[error("`{command}` failed: {message}")]
    Command {
        /// The command line.
        command: String,
        /// Its message, or its exit status where it gave none.
        message: String,
    },
    /// A command could not be started.
    #[error("cannot start `{command}`: {source}")]
    Start {
        /// The command line.
        command: String,
        /// Why.
        source: std::io::Error,
    },
    /// A file of the cluster could not be read, written or removed.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A job had not ended within its time limit, and not in the way MPICH is known to hang.
    #[error("`{command}` had not ended after {limit:?}; its last words: {last}")]
    TimedOut {
        /// The command line.
        command: String,
        /// The limit.
        limit: Duration,
        /// The last line it had written.
        last: String,
    },
    /// A job did all its work but hung in `MPI_Finalize` every time.
    #[error("`{command}` did its work but hung in MPI_Finalize {tries} times in a row")]
    HungInFinalize {
        /// The command line.
        command: String,
        /// How often it was tried.
        tries: u32,
        /// What it had written the last time.
        partial: Partial,
    },
    /// [`crate::tear_down_all`] was called: nothing is started any more.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}
