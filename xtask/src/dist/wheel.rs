//! The wheel: the tree as scripts and data of a Python package without Python code.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{VERSION, epoch, glibc};
use crate::build;
use crate::error::Error;
use crate::paths::Paths;
use crate::step;

/// Packs it. `pip install` puts the command into the environment's `bin` and the libraries into its `lib`, where the command finds them.
pub(super) fn pack(paths: &Paths, tree: &Path, out: &Path) -> Result<PathBuf, Error> {
    let libraries = build::shims().map(|shim| tree.join("lib").join(shim));
    let binaries: Vec<_> =
        libraries.chain([tree.join("bin/mpress"), tree.join("lib").join(build::PRELOAD)]).collect();
    let glibc = glibc::needed(&binaries)?.replace('.', "_");
    let tag = format!("py3-none-manylinux_{glibc}_{}", std::env::consts::ARCH);
    let wheel = out.join(format!("mpress-{VERSION}-{tag}.whl"));
    let mut python = Command::new("python3");
    python.arg(paths.root().join("xtask/dist/wheel.py")).arg(tree).arg(&wheel);
    python.args(["mpress", VERSION, &tag, &epoch(paths).to_string()]);
    python.arg("Lossless compression of MPI messages at run time");
    python.args(["MIT OR Apache-2.0", env!("CARGO_PKG_REPOSITORY")]);
    step::run("wheel", &mut python)?;
    Ok(wheel)
}
