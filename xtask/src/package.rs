//! Package: every crate that is published, packed as for a registry and built from what was packed.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use mpress_cluster::Mpi;

use crate::error::Error;
use crate::paths::Paths;
use crate::step::{self, Done, Step};

/// The step that packs them.
pub(crate) fn step(paths: &Paths) -> Step<'_> {
    Step::call("packages of the published crates", || run(paths))
}

/// Packs them together: each is built against the others' packages, which no registry has yet.
fn run(paths: &Paths) -> Result<Done, Error> {
    let crates = published(paths)?;
    // Cargo unpacks a package once per version and path of the folder it was packed in, and keeps the sources in its
    // home. A folder that was used before would have the crates built against packages of an earlier state.
    let all = paths.target("package");
    if all.exists() {
        fs::remove_dir_all(&all).map_err(Error::file(&all))?;
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let mut cargo = paths.cargo();
    cargo.args(["package", "--locked", "--allow-dirty", "--target-dir"]).arg(all.join(now.to_string()));
    cargo.args(crates.iter().flat_map(|name| ["-p", name]));
    // The rsmpi adapter and its layer need an MPI.
    cargo.env("MPICC", Mpi::OpenMpi.mpicc()).env("CARGO_PROFILE_DEV_DEBUG", "none");
    step::run("package of the published crates", &mut cargo)?;
    Ok(Done::Ran(format!("{} crates", crates.len())))
}

/// The crates of the workspace that are not kept from being published.
fn published(paths: &Paths) -> Result<Vec<String>, Error> {
    let root = paths.root();
    let mut crates = Vec::new();
    for entry in fs::read_dir(root).map_err(Error::file(root))? {
        let manifest = entry.map_err(Error::file(root))?.path().join("Cargo.toml");
        if manifest.is_file() {
            let text = fs::read_to_string(&manifest).map_err(Error::file(&manifest))?;
            crates.extend(name_of_published(&text).map(str::to_owned));
        }
    }
    crates.sort();
    Ok(crates)
}

fn name_of_published(manifest: &str) -> Option<&str> {
    if manifest.lines().any(|line| line.trim() == "publish = false") {
        return None;
    }
    manifest.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_is_published_unless_it_says_no() {
        assert_eq!(name_of_published("[package]\nname = \"a\"\n[lib]\nname = \"b\"\n"), Some("a"));
        assert_eq!(name_of_published("[package]\nname = \"a\"\npublish = false\n"), None);
        let crates = published(&Paths::find().unwrap()).unwrap();
        assert!(
            ["mpress", "mpress-capi", "mpress-codec", "mpress-layer", "mpress-rsmpi"]
                .iter()
                .all(|name| crates.iter().any(|c| c == name))
        );
        assert!(!crates.iter().any(|name| name == "xtask" || name == "mpress-fuzz"));
    }
}
