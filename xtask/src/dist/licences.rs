//! The licences of the libraries that are built into the command, the preload library and the shims.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::Error;
use crate::paths::Paths;

/// The crates in the packages.
const SHIPPED: [&str; 5] =
    ["mpress-cli", "mpress-preload", "mpress-shim-openmpi", "mpress-shim-mpich", "mpress-shim-standard"];

/// The maximum depth below a crate at which C libraries and their licences are found.
const DEPTH: usize = 3;

/// A table of the crates, then each licence text once.
pub(super) fn text(paths: &Paths) -> Result<String, Error> {
    let packages = shipped(&metadata(paths)?);
    let mut text = "Libraries that are built into mpress, with the licences that their authors name.\n\
         Rust's standard library (https://www.rust-lang.org) is under MIT OR Apache-2.0.\n\n"
        .to_owned();
    let mut texts: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for package in &packages {
        let _ = writeln!(text, "{:32} {}", package.name, package.licence);
        for file in files(&package.dir, DEPTH) {
            let licence = fs::read(&file).map_err(Error::file(&file))?;
            let licence = String::from_utf8_lossy(&licence).trim().to_owned();
            texts.entry(licence).or_default().push(&package.name);
        }
    }
    for (licence, mut names) in texts {
        names.dedup();
        let rule = "-".repeat(80);
        let _ = write!(text, "\n{rule}\n{}\n{rule}\n\n{licence}\n", names.join(", "));
    }
    Ok(text)
}

/// A third-party crate.
struct Package {
    /// The name with the version.
    name: String,
    licence: String,
    dir: PathBuf,
}

fn metadata(paths: &Paths) -> Result<Value, Error> {
    let run = "cargo metadata";
    let mut cargo = paths.cargo();
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    cargo.args(["metadata", "--locked", "--format-version", "1", "--filter-platform", &platform]);
    let output = cargo.output().map_err(|source| Error::Start {
        what: "licences".to_owned(),
        command: run.to_owned(),
        source,
    })?;
    let failed = |message: String| Error::Program { run: run.to_owned(), message };
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| failed(error.to_string()))
}

/// The third-party crates that the shipped crates need at run time, sorted. Macros and optional crates add a few too many.
fn shipped(metadata: &Value) -> Vec<Package> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let nodes: BTreeMap<_, _> = list(&metadata["resolve"]["nodes"])
        .into_iter()
        .map(|node| (text(&node["id"]), list(&node["deps"])))
        .collect();
    let packages = list(&metadata["packages"]);
    let mut todo: Vec<_> = packages
        .iter()
        .filter(|package| SHIPPED.contains(&package["name"].as_str().unwrap_or_default()))
        .map(|package| text(&package["id"]))
        .collect();
    let mut seen = BTreeSet::new();
    while let Some(id) = todo.pop() {
        let deps = nodes.get(&id).cloned().unwrap_or_default();
        if seen.insert(id) {
            let normal = |dep: &&Value| list(&dep["dep_kinds"]).iter().any(|kind| kind["kind"].is_null());
            todo.extend(deps.iter().filter(normal).map(|dep| text(&dep["pkg"])));
        }
    }
    let of_others = packages
        .iter()
        .filter(|package| !package["source"].is_null() && seen.contains(&text(&package["id"])));
    let mut all: Vec<_> = of_others
        .map(|package| Package {
            name: format!("{} {}", text(&package["name"]), text(&package["version"])),
            licence: text(&package["license"]),
            dir: Path::new(&text(&package["manifest_path"])).parent().unwrap_or(Path::new("")).to_owned(),
        })
        .collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

/// The files with licence texts in a folder and its subfolders, sorted.
fn files(dir: &Path, depth: usize) -> Vec<PathBuf> {
    let mut entries: Vec<_> = fs::read_dir(dir).into_iter().flatten().flatten().map(|e| e.path()).collect();
    entries.sort();
    let mut found = Vec::new();
    for path in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        if path.is_dir() {
            if depth > 0 && !["TESTS", "EXAMPLES", "BENCHES"].contains(&name.as_str()) {
                found.extend(files(&path, depth - 1));
            }
        } else if ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"]
            .iter()
            .any(|start| name.starts_with(start))
            && !name.ends_with(".RS")
        {
            found.push(path);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licences_of_what_is_built_in_are_there_and_of_nothing_else() {
        let text = text(&Paths::find().unwrap()).unwrap();
        for word in ["zstd-sys ", "clap ", "Permission is hereby granted", "Apache License"] {
            assert!(text.contains(word), "{word}");
        }
        // The project's own crates, and crates that only tests or builds need.
        for word in ["\nmpress-", "\ncriterion ", "\nproptest ", "\nbindgen "] {
            assert!(!text.contains(word), "{word}");
        }
    }
}
