//! Errors, each with a message of one line.

use crate::Partial;
use std::path::PathBuf;
use std::time::Duration;

/// An error of the cluster or of a job on it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// This process may not create namespaces or cap links; the text states what is missing.
    #[error("an emulated cluster is not possible here: {0}")]
    NotPermitted(String),
    /// The number of nodes is outside the limits of a cluster.
    #[error("a cluster has 1 to {most} nodes, not {asked}")]
    Nodes {
        /// The requested number.
        asked: usize,
        /// The maximum.
        most: usize,
    },
    /// A system command failed.
    #[error("`{command}` failed: {message}")]
    Command {
        /// The command line.
        command: String,
        /// Its message, or its exit status if there was none.
        message: String,
    },
    /// A command could not be started.
    #[error("cannot start `{command}`: {source}")]
    Start {
        /// The command line.
        command: String,
        /// The cause.
        source: std::io::Error,
    },
    /// A file of the cluster could not be read, written or removed.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A job had not ended within its time limit, and did not show MPICH's known hang.
    #[error("`{command}` had not ended after {limit:?}; its last words: {last}")]
    TimedOut {
        /// The command line.
        command: String,
        /// The limit.
        limit: Duration,
        /// The last line that it had written.
        last: String,
    },
    /// A job completed its work but hung in `MPI_Finalize` on every attempt.
    #[error("`{command}` did its work but hung in MPI_Finalize {tries} times in a row")]
    HungInFinalize {
        /// The command line.
        command: String,
        /// The number of attempts.
        tries: u32,
        /// The output of the last attempt.
        partial: Partial,
    },
    /// [`crate::tear_down_all`] was called: nothing can be started any more.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}
