//! Dist: packages for users who do not build mpress: a relocatable tar and, if wanted, a Python wheel and a Debian
//! package of the same tree.

pub(crate) mod check;
mod deb;
mod glibc;
mod licences;
mod tree;
mod wheel;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::build;
use crate::error::Error;
use crate::paths::Paths;
use crate::step;

/// That of the whole workspace.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What cargo built and the packages contain.
pub(crate) struct Parts {
    command: PathBuf,
    preload: PathBuf,
    /// The folder with the shims.
    shims: PathBuf,
}

impl Parts {
    /// What `cargo xtask build` installs in target/mpress.
    fn installed(paths: &Paths) -> Self {
        let libraries = paths.libraries();
        Self { command: paths.mpress(), preload: libraries.join(build::PRELOAD), shims: libraries }
    }

    /// The command alone.
    pub(crate) fn into_command(self) -> PathBuf {
        self.command
    }

    /// What the steps of `cargo xtask test` have built: a release build of the command would take minutes.
    pub(crate) fn tested(paths: &Paths) -> Self {
        let command = paths.target("test").join("debug/mpress");
        Self { command, preload: paths.built_preload(), shims: paths.target("release") }
    }
}

/// What is wanted besides the tar.
#[derive(Clone, clap::Args)]
pub(crate) struct Options {
    /// Also a Python wheel of the same files
    #[arg(long)]
    wheel: bool,
    /// Also a Debian package of the same files
    #[arg(long)]
    deb: bool,
    /// Test them first, by the commands of their README, with Debian's two MPIs
    #[arg(long)]
    check: bool,
}

/// Builds everything and packs it, into target/dist.
pub(crate) fn run(paths: &Paths, options: &Options) -> Result<(), Error> {
    build::command_and_libraries(paths)?;
    let parts = Parts::installed(paths);
    if options.check {
        step::run_all(vec![check::step(paths, Parts::installed(paths))])?;
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

/// Runs a command for what it prints.
fn output(command: &mut Command) -> Result<String, Error> {
    let run = command.get_program().to_string_lossy().into_owned();
    let start = |source| Error::Start { what: "packages".to_owned(), command: run.clone(), source };
    let output = command.output().map_err(start)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let message = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    Err(Error::Program { run, message: message.concat() })
}

/// The name of the tree, and of the tar without its ending.
fn name() -> String {
    format!("mpress-{VERSION}-{}-linux", std::env::consts::ARCH)
}

/// Packs the tree so that the same files give the same bytes.
fn tar(paths: &Paths, tree: &Path, out: &Path) -> Result<PathBuf, Error> {
    let file = out.join(format!("{}.tar.gz", name()));
    let mut tar = Command::new("tar");
    tar.args(["--create", "--sort=name", "--format=gnu", "--owner=0", "--group=0", "--numeric-owner"]);
    // Rights that do not depend on the umask; files that can be executed stay so.
    tar.arg("--mode=u=rwX,go=rX").arg(format!("--mtime=@{}", epoch(paths)));
    tar.args(["--use-compress-program", "gzip -9n", "--file"]).arg(&file);
    tar.arg("--directory").arg(tree.parent().unwrap_or(out)).arg(name());
    step::run("tar", &mut tar)?;
    Ok(file)
}

/// The time that all files get, in seconds since 1970: `SOURCE_DATE_EPOCH`, or that of the commit.
fn epoch(paths: &Paths) -> u64 {
    let given = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.trim().parse().ok());
    given.or_else(|| build::git(paths, &["log", "-1", "--format=%ct"])?.parse().ok()).unwrap_or(0)
}

/// Writes a file that has these marks in it: version, glibc, place of the project.
fn filled(template: &str, glibc: &str) -> String {
    let text = template.replace("@VERSION@", VERSION).replace("@GLIBC@", glibc);
    text.replace("@REPOSITORY@", env!("CARGO_PKG_REPOSITORY"))
}

/// Copies a file and makes the folders above the place, which it gives back.
fn copied(file: &Path, place: PathBuf) -> Result<PathBuf, Error> {
    if let Some(dir) = place.parent() {
        fs::create_dir_all(dir).map_err(Error::file(dir))?;
    }
    fs::copy(file, &place).map_err(Error::file(file))?;
    Ok(place)
}

/// Writes a file and the folders above it.
fn write(file: &Path, content: impl AsRef<[u8]>) -> Result<(), Error> {
    if let Some(dir) = file.parent() {
        fs::create_dir_all(dir).map_err(Error::file(dir))?;
    }
    fs::write(file, content).map_err(Error::file(file))
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
