//! The links that jobs have measured, kept for later jobs on the same nodes. Format: `docs/format/heuristics.md`.

use crate::knowledge::{self, File};
use mpress_selector::Link;
use serde::{Deserialize, Serialize};
use std::io::{ErrorKind, Write as _};
use std::path::Path;

/// The maximum number of links in a file; beyond it, the oldest are dropped.
const MOST: usize = 256;

/// A file of links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Links {
    format: String,
    version: u32,
    /// In the order in which they were kept.
    #[serde(default)]
    link: Vec<Known>,
}

/// The link between the nodes of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    /// The nodes and the number of ranks on each, as a number in hexadecimal digits.
    nodes: String,
    #[serde(flatten)]
    link: Link,
}

impl File for Links {
    const FORMAT: &str = "mpress links";

    fn head(&self) -> (&str, u32) {
        (&self.format, self.version)
    }
}

impl Links {
    /// Reads a file. A missing file has no links.
    ///
    /// # Errors
    /// One line: why the file cannot be read or is not a file of links.
    pub(crate) fn read(file: &Path) -> Result<Self, String> {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Self { format: Self::FORMAT.into(), version: Self::VERSION, link: Vec::new() });
            }
            Err(error) => return Err(error.to_string()),
        };
        let links: Self = knowledge::parse(&text)?;
        match links.link.iter().find(|known| !known.link.is_sane()) {
            Some(known) => Err(format!("no link is like that of nodes {}", known.nodes)),
            None => Ok(links),
        }
    }

    /// The link between these nodes.
    pub(crate) fn find(&self, nodes: u64) -> Option<Link> {
        self.link.iter().find(|known| known.nodes == name(nodes)).map(|known| known.link)
    }

    /// Keeps the link between these nodes in a file, in place of an earlier one. Other processes find the file as it was, or complete; of two
    /// that keep a link at the same time, one may be lost.
    ///
    /// # Errors
    /// One line: why the file cannot be read or written.
    pub(crate) fn keep(file: &Path, nodes: u64, link: Link) -> Result<(), String> {
        let mut links = Self::read(file)?;
        links.link.retain(|known| known.nodes != name(nodes));
        links.link.push(Known { nodes: name(nodes), link });
        links.link.drain(..links.link.len().saturating_sub(MOST));
        let text = toml::to_string(&links).map_err(|error| error.to_string())?;
        let mut new = file.as_os_str().to_owned();
        new.push(format!(".{}", std::process::id()));
        let written = std::fs::File::create(&new)
            .and_then(|mut to| to.write_all(text.as_bytes()))
            .and_then(|()| std::fs::rename(&new, file));
        written.map_err(|error| {
            // The file may not exist.
            let _ = std::fs::remove_file(&new);
            error.to_string()
        })
    }
}

fn name(nodes: u64) -> String {
    format!("{nodes:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: Link = Link { latency_us: 20.5, bandwidth_mb_s: 117.25 };

    #[test]
    fn a_link_is_found_by_its_nodes() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("links.toml");
        assert_eq!(Links::read(&file).unwrap().find(7), None, "no file yet");
        let other = Link { bandwidth_mb_s: 1000.0, ..LINK };
        for (nodes, link) in [(7, LINK), (8, LINK), (7, other)] {
            Links::keep(&file, nodes, link).unwrap();
        }
        let links = Links::read(&file).unwrap();
        assert_eq!([7, 8, 9].map(|nodes| links.find(nodes)), [Some(other), Some(LINK), None]);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
    }

    #[test]
    fn the_file_stays_short() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("links.toml");
        let most = MOST as u64;
        (0..most + 3).for_each(|nodes| Links::keep(&file, nodes, LINK).unwrap());
        let links = Links::read(&file).unwrap();
        assert_eq!([2, 3, most + 2].map(|nodes| links.find(nodes)), [None, Some(LINK), Some(LINK)]);
    }

    #[test]
    fn what_is_no_file_of_links_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("links.toml");
        let head = "format = \"mpress links\"\nversion = 1\n";
        for (text, why) in [
            ("Dear diary\n".to_owned(), ""),
            ("format = \"mpress decisions\"\nversion = 1\n".into(), "not a file of mpress links"),
            (head.replace('1', "2"), "version 2 of mpress links; this is for version 1"),
            (
                format!("{head}[[link]]\nnodes = \"07\"\nlatency_us = 1.0\nbandwidth_mb_s = -3.0\n"),
                "no link is like that of nodes 07",
            ),
        ] {
            std::fs::write(&file, &text).unwrap();
            let error = Links::keep(&file, 1, LINK).unwrap_err();
            assert!(error.contains(why) && !error.contains('\n'), "{error}");
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        }
        assert!(Links::keep(&folder.path().join("none/links.toml"), 1, LINK).is_err());
    }
}
