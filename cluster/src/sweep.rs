//! Removal of clusters: one that is no longer needed, and the leftovers of killed processes.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::names::{NETNS_DIR, NETNS_ETC, Tag};
use crate::{Error, net, registry};

/// The existing parts of one cluster.
#[derive(Default)]
struct Parts {
    namespaces: Vec<String>,
    dirs: Vec<PathBuf>,
}

/// Removes the clusters of processes that have died without removing them.
///
/// # Errors
/// The first part that could not be removed; the others are attempted anyway.
pub fn sweep() -> Result<(), Error> {
    let stale = |tag: Tag| !tag.is_owned() || (tag.is_this_process() && !registry::knows(tag));
    let mut first = Ok(());
    for (_, parts) in find(stale) {
        first = first.and(parts.remove());
    }
    first
}

/// Removes all existing parts of one cluster.
pub(crate) fn remove(tag: Tag) -> Result<(), Error> {
    find(|found| found == tag).into_values().try_for_each(|parts| parts.remove())
}

fn find(wanted: impl Fn(Tag) -> bool) -> BTreeMap<Tag, Parts> {
    let mut found = BTreeMap::<Tag, Parts>::new();
    let mut look = |dir: &Path, add: fn(&mut Parts, String, PathBuf)| {
        // A directory that does not exist contains no parts.
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            if let Some(tag) = Tag::parse(&name).filter(|&tag| wanted(tag)) {
                add(found.entry(tag).or_default(), name, entry.path());
            }
        }
    };
    look(Path::new(NETNS_DIR), |parts, name, _| parts.namespaces.push(name));
    look(Path::new(NETNS_ETC), |parts, _, path| parts.dirs.push(path));
    look(&std::env::temp_dir(), |parts, _, path| parts.dirs.push(path));
    found
}

impl Parts {
    fn remove(&self) -> Result<(), Error> {
        let mut first = if self.namespaces.is_empty() { Ok(()) } else { net::remove(&self.namespaces) };
        for dir in &self.dirs {
            let removed = match fs::remove_dir_all(dir) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::file(dir)(error)),
                _ => Ok(()),
            };
            first = first.and(removed);
        }
        // Removes the directory, unless other processes have put something there; then it fails, as intended.
        let _in_use: std::io::Result<()> = fs::remove_dir(NETNS_ETC);
        first
    }
}
