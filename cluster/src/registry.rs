//! What this process has to put right before it ends: the clusters that stand and the jobs that run.

use std::sync::{Mutex, MutexGuard, PoisonError};

use nix::sys::signal::Signal;

use crate::names::Tag;
use crate::{Error, sweep};

struct Registry {
    clusters: Vec<Tag>,
    groups: Vec<u32>,
    closed: bool,
}

static REGISTRY: Mutex<Registry> =
    Mutex::new(Registry { clusters: Vec::new(), groups: Vec::new(), closed: false });

/// Held while a cluster is raised or removed, so that a signal handler never removes a half-raised one.
static BUILDING: Mutex<()> = Mutex::new(());

/// Tears down every cluster of this process and ends its jobs; nothing can be started afterwards.
///
/// For a handler of Ctrl-C, which ends the process next. Everything still waiting for a job gets
/// [`Error::Interrupted`]. What a failure leaves is swept by the next cluster on this host.
pub fn tear_down_all() {
    let groups = {
        let mut registry = lock(&REGISTRY);
        registry.closed = true;
        registry.groups.clone()
    };
    // mpirun ends its ranks and removes its files in shared memory when it is asked to.
    groups.into_iter().for_each(|group| crate::process::signal_group(group, Signal::SIGTERM));
    crate::process::wait_until(crate::run::GRACE * 2, || lock(&REGISTRY).groups.is_empty());
    let clusters = lock(&REGISTRY).clusters.clone();
    for tag in clusters {
        let _next_run_sweeps: Result<(), Error> = remove(tag);
    }
}

/// Whether [`tear_down_all`] was called.
#[must_use]
pub fn interrupted() -> bool {
    lock(&REGISTRY).closed
}

/// Enters a cluster and builds it; removes what there is of it if that fails.
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

/// Removes a cluster; a second time does nothing.
pub(crate) fn remove(tag: Tag) -> Result<(), Error> {
    let _building = lock(&BUILDING);
    if !knows(tag) {
        return Ok(());
    }
    let result = sweep::remove(tag);
    lock(&REGISTRY).clusters.retain(|&known| known != tag);
    result
}

/// Whether a cluster of this process stands or is being raised.
pub(crate) fn knows(tag: Tag) -> bool {
    lock(&REGISTRY).clusters.contains(&tag)
}

/// A process group that [`tear_down_all`] ends, until dropped.
pub(crate) struct Running(u32);

impl Running {
    /// Starts a process group by `start`, which gives its number, unless everything is being torn down.
    pub(crate) fn start<T>(start: impl FnOnce() -> Result<(T, u32), Error>) -> Result<(T, Self), Error> {
        // Started under the lock: nothing slips in between the check and the entry.
        let mut registry = lock(&REGISTRY);
        if registry.closed {
            return Err(Error::Interrupted);
        }
        let (started, group) = start()?;
        registry.groups.push(group);
        Ok((started, Self(group)))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        lock(&REGISTRY).groups.retain(|&group| group != self.0);
    }
}

/// A panic elsewhere does not make these lists wrong.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
