//! The commands in pages: each block states which test runs it, or why none does, and the project's own commands are valid.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser as _;

use crate::Cli;
use crate::links::tests::pages;
use crate::paths::Paths;

/// A block of commands, and the line before it.
struct Block {
    page: PathBuf,
    mark: String,
    lines: Vec<String>,
}

fn blocks() -> Vec<Block> {
    let mut found = Vec::new();
    for page in pages(Paths::find().unwrap().root()) {
        let text = fs::read_to_string(&page).unwrap();
        let (mut before, mut inside) = (String::new(), None);
        for line in text.lines() {
            match &mut inside {
                None if line == "```sh" => {
                    inside = Some(Block { page: page.clone(), mark: before.clone(), lines: Vec::new() });
                }
                Some(_) if line == "```" => found.extend(inside.take()),
                Some(block) => block.lines.push(line.to_owned()),
                None => {}
            }
            line.clone_into(&mut before);
        }
    }
    found
}

/// Describes the error in the mark of a block, if there is one.
fn wrong(root: &Path, mark: &str) -> Option<String> {
    let text = mark.strip_prefix("<!-- ").and_then(|mark| mark.strip_suffix(" -->"));
    let Some(text) = text else {
        return Some("no `<!-- run by FILE -->` or `<!-- not run: WHY -->` before it".to_owned());
    };
    match (text.strip_prefix("run by "), text.strip_prefix("not run: ")) {
        (Some(by), _) => {
            let file = by.split(' ').next().unwrap_or_default();
            (!root.join(file).is_file()).then(|| format!("there is no {file}"))
        }
        (_, Some(why)) if !why.is_empty() => None,
        _ => Some(format!("`{text}` states neither what runs it nor why nothing does")),
    }
}

#[test]
fn every_block_of_commands_says_what_runs_it() {
    let root = Paths::find().unwrap().root().to_owned();
    let blocks = blocks();
    assert!(blocks.len() > 20, "{} blocks were found", blocks.len());
    let errors: Vec<_> = blocks
        .iter()
        .filter_map(|block| {
            Some(format!("{}: {:?}: {}", block.page.display(), block.lines, wrong(&root, &block.mark)?))
        })
        .collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

/// The pages with which users begin: those with programs in C and Fortran, Python, Rust; those with an MPI layer; those who need a codec alone. In a crate's page, what is
/// before the first heading.
const WAYS_IN: [&str; 6] = [
    "docs/start.md",
    "docs/python.md",
    "rsmpi-adapter/README.md",
    "engine/README.md",
    "capi/README.md",
    "diffpack/README.md",
];

#[test]
fn every_way_in_fits_a_screen_and_has_a_program() {
    let root = Paths::find().unwrap().root().to_owned();
    for page in WAYS_IN {
        let text = fs::read_to_string(root.join(page)).unwrap();
        let opening = text.split("\n## ").next().unwrap();
        let (lines, words) = (opening.lines().count(), opening.split_whitespace().count());
        assert!(lines <= 70 && words <= 350, "{page} has {lines} lines and {words} words");
        assert!(["```c\n", "```python\n", "```rust"].iter().any(|start| opening.contains(start)), "{page}");
    }
}

#[test]
fn commands_of_xtask_are_shown_as_they_are() {
    let mut count = 0;
    for Block { page, lines, .. } in blocks() {
        for line in lines {
            let Some((_, command)) = line.split_once("cargo xtask") else { continue };
            let command = command.split('#').next().unwrap_or_default();
            let words = ["cargo xtask"].into_iter().chain(command.split_whitespace());
            let parsed = Cli::try_parse_from(words);
            assert!(parsed.is_ok(), "{}: {line}: {}", page.display(), parsed.err().unwrap());
            count += 1;
        }
    }
    assert!(count > 5, "{count} commands were found");
}

#[test]
fn a_block_without_a_mark_is_found() {
    let root = Paths::find().unwrap().root().to_owned();
    assert_eq!(wrong(&root, "<!-- run by xtask/src/demo.rs -->"), None);
    assert_eq!(wrong(&root, "<!-- not run: needs Slurm -->"), None);
    for mark in ["", "text", "<!-- run by no/such.rs -->", "<!-- not run:  -->", "<!-- run -->"] {
        assert!(wrong(&root, mark).is_some(), "{mark}");
    }
}
