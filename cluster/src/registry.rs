//! What this process must clean up before it ends: its clusters and running jobs.

use std::sync::{Mutex, MutexGuard, PoisonError};

use nix::sys::signal::Signal;

use crate::names::Tag;
use crate::process::{descendants, end, parent, signal, wait_until};
use crate::run::GRACE;
use crate::{Error, sweep};

struct Registry {
    clusters: Vec<Tag>,
    /// The number of jobs that run.
    jobs: usize,
    closed: bool,
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry { clusters: Vec::new(), jobs: 0, closed: false });

/// Held while a cluster is created or removed, so that a signal handler never removes one that is being created.
static BUILDING: Mutex<()> = Mutex::new(());

/// Tears down every cluster of this process and ends its jobs and every other process that it has started, such as cargo and what cargo has started;
/// no job or cluster can be started afterwards.
///
/// For a handler of Ctrl-C that then ends the process. Everything still waiting for a job gets [`Error::Interrupted`]. The next cluster on this host
/// removes the rest.
pub fn tear_down_all() {
    lock(&REGISTRY).closed = true;
    let processes = {
        // Not the commands that create or remove a cluster.
        let _building = lock(&BUILDING);
        descendants()
    };
    // On SIGTERM, mpirun ends its ranks and removes its files in shared memory.
    processes.iter().for_each(|&pid| signal(pid, Signal::SIGTERM));
    // Those whose parent has ended are no longer descendants.
    let left = || processes.iter().copied().filter(|&pid| parent(pid).is_some());
    let is_over = || lock(&REGISTRY).jobs == 0 && left().next().is_none();
    if !wait_until(GRACE * 2, is_over) {
        left().for_each(end);
        wait_until(GRACE, is_over);
    }
    let clusters = lock(&REGISTRY).clusters.clone();
    for tag in clusters {
        let _next_run_sweeps: Result<(), Error> = remove(tag);
    }
}

/// Whether [`tear_down_all`] has been called.
#[must_use]
pub fn interrupted() -> bool {
    lock(&REGISTRY).closed
}

/// Registers a cluster and builds it; removes the existing parts if that fails.
pub(crate) fn build(tag: Tag, build: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
    let result = {
        let _building = lock(&BUILDING);
        {
            let mut registry = lock(&REGISTRY);
            if registry.closed {
                return Err(Error::Interrupted);
            }
            registry.clusters.push(tag);
        }
        build()
    };
    if result.is_err() {
        let _first_error_counts: Result<(), Error> = remove(tag);
    }
    result
}

/// Removes a cluster; does nothing the second time.
pub(crate) fn remove(tag: Tag) -> Result<(), Error> {
    let _building = lock(&BUILDING);
    if !knows(tag) {
        return Ok(());
    }
    let result = sweep::remove(tag);
    lock(&REGISTRY).clusters.retain(|&known| known != tag);
    result
}

/// Whether a cluster of this process exists or is being created.
pub(crate) fn knows(tag: Tag) -> bool {
    lock(&REGISTRY).clusters.contains(&tag)
}

/// A job, for whose end [`tear_down_all`] waits, while this lives.
pub(crate) struct Running(());

impl Running {
    /// Starts a job, unless everything is being torn down.
    pub(crate) fn start<T>(start: impl FnOnce() -> Result<T, Error>) -> Result<(T, Self), Error> {
        // Started under the lock, so that nothing happens between the check and the registration.
        let mut registry = lock(&REGISTRY);
        if registry.closed {
            return Err(Error::Interrupted);
        }
        let started = start()?;
        registry.jobs += 1;
        Ok((started, Self(())))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        lock(&REGISTRY).jobs -= 1;
    }
}

/// A panic elsewhere leaves these lists consistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
