//! Dist: packages for users who do not build mpress: a relocatable tar and, on request, a Python wheel and a Debian package of the same tree.

pub(crate) mod check;
mod deb;
mod glibc;
mod licences;
mod tree;
mod wheel;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::build;
use crate::error::Error;
use crate::paths::Paths;
use crate::step;

/// The version of the whole workspace.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The products of cargo that the packages contain.
pub(crate) struct Parts {
    pub(crate) command: PathBuf,
    preload: PathBuf,
    /// The folder with the shims.
    shims: PathBuf,
}

impl Parts {
    /// The files that `cargo xtask build` installs in target/mpress.
    fn installed(paths: &Paths) -> Self {
        let libraries = paths.libraries();
        Self { command: paths.mpress(), preload: libraries.join(build::PRELOAD), shims: libraries }
    }

    /// The files that the steps of `cargo xtask test` have built; a release build of the command would take minutes.
    pub(crate) fn tested(paths: &Paths) -> Self {
        let preload = paths.tested(build::BUILT_PRELOAD);
        Self { command: paths.tested("mpress"), preload, shims: paths.tested("") }
    }
}

/// Options for other packages than the tar.
#[derive(Clone, clap::Args)]
pub(crate) struct Options {
    /// Also a Python wheel of the same files
    #[arg(long)]
    wheel: bool,
    /// Also a Debian package of the same files
    #[arg(long)]
    deb: bool,
    /// Before packing, test the packages by the pages that begin with them
    #[arg(long)]
    pub(crate) check: bool,
}

/// Builds and packs everything, into target/dist.
pub(crate) fn run(paths: &Paths, options: &Options) -> Result<(), Error> {
    build::command_and_libraries(paths)?;
    let parts = Parts::installed(paths);
    if options.check {
        step::run_all(vec![check::step(paths, Parts::installed(paths))], None)?;
    }
    let out = paths.target("dist");
    let tree = tree::lay_out(paths, &parts, &out)?;
    println!("built: {}", tar(paths, &tree, &out)?.display());
    if options.wheel {
        println!("built: {}", wheel::pack(paths, &tree, &out)?.display());
    }
    if options.deb {
        println!("built: {}", deb::pack(paths, &tree, &out)?.display());
    }
    Ok(())
}

/// The name of the tree, and of the tar without its extension.
fn name() -> String {
    format!("mpress-{VERSION}-{}-linux", std::env::consts::ARCH)
}

/// Packs the tree so that the same files give the same bytes.
fn tar(paths: &Paths, tree: &Path, out: &Path) -> Result<PathBuf, Error> {
    let file = out.join(format!("{}.tar.gz", name()));
    let mut tar = Command::new("tar");
    tar.args(["--create", "--sort=name", "--format=gnu", "--owner=0", "--group=0", "--numeric-owner"]);
    // Permissions that do not depend on the umask; executable files stay executable.
    tar.arg("--mode=u=rwX,go=rX").arg(format!("--mtime=@{}", epoch(paths)));
    tar.args(["--use-compress-program", "gzip -9n", "--file"]).arg(&file);
    tar.arg("--directory").arg(tree.parent().unwrap_or(out)).arg(name());
    step::run("tar", &mut tar)?;
    Ok(file)
}

/// The modification time of all files, in seconds since 1970: `SOURCE_DATE_EPOCH`, or else the time of the commit.
fn epoch(paths: &Paths) -> u64 {
    let given = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.trim().parse().ok());
    given.or_else(|| build::git(paths, &["log", "-1", "--format=%ct"])?.parse().ok()).unwrap_or(0)
}

/// Fills in the marks of a template: version, glibc, URL of the project.
fn filled(template: &str, glibc: &str) -> String {
    let text = template.replace("@VERSION@", VERSION).replace("@GLIBC@", glibc);
    text.replace("@REPOSITORY@", env!("CARGO_PKG_REPOSITORY"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recipe_for_spack_installs_every_library() {
        let recipe = include_str!("../dist/spack/package.py");
        assert!(recipe.contains(&format!("\"{}\"", build::PRELOAD)), "{recipe}");
        for shim in build::shims() {
            let abi = shim.strip_prefix("libmpress_shim_").and_then(|name| name.strip_suffix(".so")).unwrap();
            assert!(recipe.contains(&format!("\"{abi}\"")), "{abi}");
        }
    }
}
