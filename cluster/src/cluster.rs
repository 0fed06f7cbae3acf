//! The cluster itself: created by `new`, removed by `drop`.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};

use crate::names::{MOST_NODES, Tag};
use crate::{Error, Job, Launcher, Mpi, Rate, Traffic, job, net, process, registry, sweep};

/// Replaces `ssh`: drops the options, takes the host, and runs the rest there.
const AGENT: &str = r#"#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
exec ip netns exec TAG-"$host" unshare --uts --ipc /bin/sh -c 'BECOME' "$host" /bin/sh -c "$*"
"#;

/// The configuration of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The number of nodes, named `n0`, `n1`, ...
    pub nodes: usize,
    /// The rate of each link in each direction; without one, as fast as the machine allows.
    pub rate: Option<Rate>,
}

/// Nodes connected by a switch, for the lifetime of this value.
#[derive(Debug)]
pub struct Cluster {
    tag: Tag,
    config: Config,
}

impl Cluster {
    /// Creates a cluster, after removing the remains of killed processes' clusters.
    ///
    /// # Errors
    /// [`Error::NotPermitted`], [`Error::Nodes`], or the first system command that failed; then nothing is left behind.
    pub fn new(config: Config) -> Result<Self, Error> {
        may_try().map_err(Error::NotPermitted)?;
        if !(1..=MOST_NODES).contains(&config.nodes) {
            return Err(Error::Nodes { asked: config.nodes, most: MOST_NODES });
        }
        // Failure to remove something does no harm; another process may be sweeping at the same time.
        let _as_far_as_it_went: Result<(), Error> = sweep();
        let tag = Tag::new();
        registry::build(tag, || {
            write_agent(tag)?;
            net::raise(tag, config.nodes, config.rate)
        })?;
        Ok(Self { tag, config })
    }

    /// Checks that this process may create namespaces, connect them and cap links, by briefly doing so.
    ///
    /// # Errors
    /// [`Error::NotPermitted`] with the reason; [`Error::Interrupted`].
    pub fn permitted() -> Result<(), Error> {
        match Self::new(Config { nodes: 1, rate: Some(Rate::mbit(100)) }) {
            Ok(_) => Ok(()),
            Err(error @ (Error::NotPermitted(_) | Error::Interrupted)) => Err(error),
            Err(error) => Err(Error::NotPermitted(error.to_string())),
        }
    }

    /// An MPI job on this cluster, as in [`Launcher::mpirun`].
    #[must_use]
    pub fn mpirun(&self, mpi: Mpi, ranks_per_node: usize) -> Job {
        Launcher::Cluster(self).mpirun(mpi, ranks_per_node)
    }

    /// The number of nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.config.nodes
    }

    /// The rate of each link.
    #[must_use]
    pub fn rate(&self) -> Option<Rate> {
        self.config.rate
    }

    /// Changes the rate of a node's link, in both directions. With two nodes only what it sends is capped: the other node's cap limits what it
    /// receives.
    ///
    /// # Errors
    /// [`Error::Command`] if there is no such node.
    pub fn set_rate(&self, node: usize, rate: Rate) -> Result<(), Error> {
        net::limit(self.tag, node, self.config.nodes, rate)
    }

    /// The number of bytes that a node has sent on its link so far.
    ///
    /// # Errors
    /// [`Error::Command`] if there is no such node.
    pub fn bytes_sent(&self, node: usize) -> Result<u64, Error> {
        net::bytes_sent(self.tag, node)
    }

    /// The number of bytes that each node has sent so far; the difference between two calls is the traffic in between.
    ///
    /// # Errors
    /// [`Error::Command`] if a counter cannot be read.
    pub fn traffic(&self) -> Result<Traffic, Error> {
        (0..self.nodes()).map(|node| self.bytes_sent(node)).collect::<Result<_, _>>().map(Traffic::new)
    }

    /// Removes the cluster and reports errors; `drop` does the same silently.
    ///
    /// # Errors
    /// The first part that could not be removed; the others are attempted anyway.
    pub fn tear_down(self) -> Result<(), Error> {
        registry::remove(self.tag)
    }

    /// The network namespace of a node, for `ip netns exec` and `setns`.
    #[must_use]
    pub fn namespace(&self, node: usize) -> String {
        self.tag.node(node)
    }

    pub(crate) fn tag(&self) -> Tag {
        self.tag
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // The next cluster removes what is left.
        let _cannot_be_reported: Result<(), Error> = registry::remove(self.tag);
    }
}

/// Detects known obstacles, for a clearer message than the failure itself would give.
fn may_try() -> Result<(), String> {
    if !nix::unistd::geteuid().is_root() {
        return Err("making network namespaces needs root".to_owned());
    }
    for (tool, version) in [("ip", "-V"), ("tc", "-V"), ("unshare", "-V")] {
        if let Err(Error::Start { .. }) = process::call(tool, &[version]) {
            return Err(format!("`{tool}` is not installed (packages iproute2 and util-linux)"));
        }
    }
    Ok(())
}

fn write_agent(tag: Tag) -> Result<(), Error> {
    let (dir, path) = (tag.dir(), tag.agent());
    fs::DirBuilder::new().mode(0o700).create(&dir).map_err(Error::file(&dir))?;
    let mut file = fs::OpenOptions::new();
    let file = file.write(true).create_new(true).mode(0o700).open(&path);
    let text = AGENT.replace("TAG", &tag.to_string()).replace("BECOME", job::BECOME);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(Error::file(&path))
}
