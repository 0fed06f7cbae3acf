//! The wheel: the tree as scripts and data of a Python package without Python code.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{VERSION, epoch, glibc};
use crate::build;
use crate::error::Error;
use crate::paths::Paths;
use crate::step;

/// Packs the wheel. `pip install` puts the command into the environment's `bin` and the libraries into its `lib`, where the command finds them.
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    #[test]
    fn nothing_lands_in_the_environments_own_folder() {
        if !crate::setup::is_on_path("python3") {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let (tree, wheel) = (folder.path().join("tree"), folder.path().join("x.whl"));
        for file in ["README.md", "bin/mpress", "share/doc/mpress/README.md"] {
            fs::create_dir_all(tree.join(file).parent().unwrap()).unwrap();
            fs::write(tree.join(file), "x").unwrap();
        }
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("dist/wheel.py");
        let mut python = Command::new("python3");
        python.arg(script).arg(&tree).arg(&wheel);
        let status = python.args(["n", "1", "py3-none-any", "0", "summary", "licence", "page"]).status();
        assert!(status.unwrap().success());
        let list = Command::new("python3").args(["-m", "zipfile", "-l"]).arg(&wheel).output().unwrap();
        let list = String::from_utf8_lossy(&list.stdout).into_owned();
        assert!(list.contains("n-1.data/data/share/doc/mpress/README.md"), "{list}");
        assert!(list.contains("n-1.data/scripts/mpress"), "{list}");
        assert!(!list.contains("data/README.md"), "{list}");
    }
}
