//! The cluster itself: raised by `new`, gone after `drop`.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};

use crate::names::{MOST_NODES, Tag};
use crate::{Error, Job, Launcher, Mpi, Rate, Traffic, job, net, process, registry, sweep};

/// Stands in for `ssh`: drops the options, takes the host, and runs the rest there.
const AGENT: &str = r#"#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
exec ip netns exec TAG-"$host" unshare --uts --ipc /bin/sh -c 'BECOME' "$host" /bin/sh -c "$*"
"#;

/// What a cluster is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// How many nodes, named `n0`, `n1`, ...
    pub nodes: usize,
    /// What each link carries in each direction; without one, what the machine can.
    pub rate: Option<Rate>,
}

/// Nodes joined by a switch, for as long as this lives.
#[derive(Debug)]
pub struct Cluster {
    tag: Tag,
    config: Config,
}

impl Cluster {
    /// Raises a cluster, after sweeping away what killed processes have left of theirs.
    ///
    /// # Errors
    /// [`Error::NotPermitted`], [`Error::Nodes`], the first command of the system that failed; nothing is left
    /// standing then.
    pub fn new(config: Config) -> Result<Self, Error> {
        may_try().map_err(Error::NotPermitted)?;
        if !(1..=MOST_NODES).contains(&config.nodes) {
            return Err(Error::Nodes { asked: config.nodes, most: MOST_NODES });
        }
        // What cannot be removed does no harm; another process may be sweeping at the same time.
        let _as_far_as_it_went: Result<(), Error> = sweep();
        let tag = Tag::new();
        registry::build(tag, || {
            write_agent(tag)?;
            net::raise(tag, config.nodes, config.rate)
        })?;
        Ok(Self { tag, config })
    }

    /// Whether this process may make namespaces, join them and cap links: tried for real, in a moment.
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

    /// An MPI job on this cluster, as [`Launcher::mpirun`].
    #[must_use]
    pub fn mpirun(&self, mpi: Mpi, ranks_per_node: usize) -> Job {
        Launcher::Cluster(self).mpirun(mpi, ranks_per_node)
    }

    /// How many nodes there are.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.config.nodes
    }

    /// What each link carries.
    #[must_use]
    pub fn rate(&self) -> Option<Rate> {
        self.config.rate
    }

    /// Bytes a node has sent onto its link so far.
    ///
    /// # Errors
    /// [`Error::Command`] where there is no such node.
    pub fn bytes_sent(&self, node: usize) -> Result<u64, Error> {
        net::bytes_sent(self.tag, node)
    }

    /// What all nodes have sent so far; two of them make a delta.
    ///
    /// # Errors
    /// [`Error::Command`] if a counter cannot be read.
    pub fn traffic(&self) -> Result<Traffic, Error> {
        (0..self.nodes()).map(|node| self.bytes_sent(node)).collect::<Result<_, _>>().map(Traffic::new)
    }

    /// Takes the cluster down and says what failed; `drop` does the same in silence.
    ///
    /// # Errors
    /// The first part that could not be removed; the others are tried all the same.
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
        // The next cluster sweeps up what this leaves.
        let _cannot_be_reported: Result<(), Error> = registry::remove(self.tag);
    }
}

/// What can be known without trying, said more clearly than the failure would.
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
