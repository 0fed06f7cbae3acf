//! The tree of the packages, laid out as below a prefix such as /usr/local.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Parts, VERSION, filled, glibc, licences, name};
use crate::build::{self, PRELOAD};
use crate::error::Error;
use crate::paths::{Paths, copied, write};
use crate::step;

/// Lays out the tree in this folder. The command itself generates man pages and completions.
pub(super) fn lay_out(paths: &Paths, parts: &Parts, out: &Path) -> Result<PathBuf, Error> {
    let tree = out.join(name());
    // Remove the files of an earlier version.
    if tree.exists() {
        fs::remove_dir_all(&tree).map_err(Error::file(&tree))?;
    }
    let mut binaries = vec![copied(&parts.command, tree.join("bin/mpress"))?];
    binaries.push(copied(&parts.preload, tree.join("lib").join(PRELOAD))?);
    for shim in build::shims() {
        binaries.push(copied(&parts.shims.join(&shim), tree.join("lib").join(&shim))?);
    }
    // Symbols that the loader needs are kept.
    step::run("strip", Command::new("strip").args(&binaries))?;

    let mut manual = Command::new(tree.join("bin/mpress"));
    step::run("man pages and completions", manual.args(["manual", "--prefix"]).arg(&tree))?;
    let root = paths.root();
    let source = |path: &str| {
        let path = root.join(path);
        fs::read_to_string(&path).map_err(Error::file(path))
    };
    // Without the marks that give the tests of its commands.
    let readme: String = source("xtask/dist/README.md")?
        .split_inclusive('\n')
        .filter(|line| !line.starts_with("<!--"))
        .collect();
    let readme = filled(&readme, &glibc::needed(&binaries)?);
    let doc = tree.join("share/doc/mpress");
    write(&tree.join("README.md"), &readme)?;
    write(&doc.join("README.md"), &readme)?;
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        write(&doc.join(licence), source(licence)?)?;
    }
    write(&doc.join("third-party.txt"), licences::text(paths)?)?;
    let module = filled(&source("xtask/dist/modulefile")?, "");
    write(&tree.join("share/modulefiles/mpress").join(VERSION), module)?;
    Ok(tree)
}
