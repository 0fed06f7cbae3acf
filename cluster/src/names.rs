//! The names of a cluster's parts: they contain the id of the process that owns them, so that leftovers can be
//! recognised.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The maximum number of nodes in a cluster, so that their addresses fit in one /24.
pub(crate) const MOST_NODES: usize = 250;

/// The directory in which `ip netns` keeps the names of namespaces.
pub(crate) const NETNS_DIR: &str = "/var/run/netns";

/// The directory in which `ip netns exec` looks for files to mount over those in `/etc`.
pub(crate) const NETNS_ETC: &str = "/etc/netns";

const PREFIX: &str = "mpress-";

/// The common prefix of all names of a cluster: `mpress-PID-SERIAL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tag {
    pid: u32,
    serial: u32,
}

impl Tag {
    /// A tag that no other cluster of this or another living process has.
    pub(crate) fn new() -> Self {
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        Self { pid: std::process::id(), serial: SERIAL.fetch_add(1, Ordering::Relaxed) }
    }

    /// The tag in the name of a namespace or a directory; `None` if the name is not a cluster's.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let mut parts = name.strip_prefix(PREFIX)?.splitn(3, '-');
        let tag = Self { pid: number(parts.next()?)?, serial: number(parts.next()?)? };
        match parts.next() {
            None | Some("switch") => Some(tag),
            Some(node) => node.strip_prefix('n').and_then(number).map(|_| tag),
        }
    }

    /// Whether the process that created these parts is still alive.
    pub(crate) fn is_owned(self) -> bool {
        Path::new("/proc").join(self.pid.to_string()).exists()
    }

    /// Whether this process created these parts.
    pub(crate) fn is_this_process(self) -> bool {
        self.pid == std::process::id()
    }

    /// The network namespace of a node.
    pub(crate) fn node(self, node: usize) -> String {
        format!("{self}-{}", host(node))
    }

    /// The network namespace with the bridge that connects the nodes.
    pub(crate) fn switch(self) -> String {
        format!("{self}-switch")
    }

    /// The directory of the cluster's own files.
    pub(crate) fn dir(self) -> PathBuf {
        std::env::temp_dir().join(self.to_string())
    }

    /// The script that replaces `ssh`.
    pub(crate) fn agent(self) -> PathBuf {
        self.dir().join("agent")
    }
}

impl std::fmt::Display for Tag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{PREFIX}{}-{}", self.pid, self.serial)
    }
}

/// The host name of a node, the same in every cluster.
pub(crate) fn host(node: usize) -> String {
    format!("n{node}")
}

/// The address of a node. Clusters are isolated from each other, so all use the same addresses.
pub(crate) fn address(node: usize) -> String {
    format!("10.77.0.{}", node + 1)
}

/// Accepts only digits: `parse` alone would accept a sign, too.
fn number(digits: &str) -> Option<u32> {
    if digits.bytes().all(|b| b.is_ascii_digit()) { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_tag() {
        let tag = Tag { pid: 4_194_304, serial: 12 };
        assert_eq!(tag.node(3), "mpress-4194304-12-n3");
        for name in [tag.node(0), tag.node(249), tag.switch(), tag.to_string()] {
            assert_eq!(Tag::parse(&name), Some(tag), "{name}");
        }
    }

    #[test]
    fn foreign_names_are_left_alone() {
        for name in [
            "",
            "mpress",
            "mpress-",
            "mpress-1",
            "mpress-1-",
            "mpress-x-1-n0",
            "mpress-+1-1-n0",
            "mpress-1-1-x",
        ] {
            assert_eq!(Tag::parse(name), None, "{name}");
        }
        for name in ["mpress-1-1-n", "mpress-1-1-nx", "mpress-1-1-n0-more", "cni-1-1-n0", "xmpress-1-1-n0"] {
            assert_eq!(Tag::parse(name), None, "{name}");
        }
    }

    #[test]
    fn tags_differ_and_know_their_owner() {
        let (a, b) = (Tag::new(), Tag::new());
        assert_ne!(a, b);
        assert!(a.is_owned());
        // Above Linux's maximum process id.
        assert!(!Tag { pid: 4_194_305, serial: 0 }.is_owned());
    }

    #[test]
    fn the_last_node_has_an_address() {
        assert_eq!(address(0), "10.77.0.1");
        assert_eq!(address(MOST_NODES - 1), "10.77.0.250");
    }
}
