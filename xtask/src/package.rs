//! Package: every published crate, packed and checked as for a registry, and built from the package.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use mpress_cluster::Mpi;

use crate::error::Error;
use crate::paths::Paths;
use crate::step::{self, Done, Step};

/// The step that packs the crates.
pub(crate) fn step(paths: &Paths) -> Step<'_> {
    Step::call("packages of the published crates", || run(paths))
}

/// Packs them together: each is built against the packages of the others, which are not yet in a registry.
fn run(paths: &Paths) -> Result<Done, Error> {
    let crates = published(paths)?;
    // Cargo unpacks a package once per version and per path of the folder in which it was packed, and keeps the sources in its home. In a folder
    // that was used before, crates would be built against older packages.
    let all = paths.target("package");
    if all.exists() {
        fs::remove_dir_all(&all).map_err(Error::file(&all))?;
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let mut cargo = paths.cargo();
    // Everything except the upload, in the order of their dependencies.
    cargo
        .args(["publish", "--dry-run", "--locked", "--allow-dirty", "--target-dir"])
        .arg(all.join(now.to_string()));
    cargo.args(crates.iter().flat_map(|name| ["-p", name]));
    // The rsmpi adapter and its layer need an MPI.
    cargo.env("MPICC", Mpi::OpenMpi.mpicc()).env("CARGO_PROFILE_DEV_DEBUG", "none");
    step::run("package of the published crates", &mut cargo)?;
    Ok(Done::Ran(format!("{} crates", crates.len())))
}

/// The crates of the workspace that may be published.
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

    /// docs.rs shows the README, and crates.io shows it on another site: a link to a file of the repository would be broken there.
    #[test]
    fn published_crates_have_licences_and_facts_and_pages_that_can_be_read_elsewhere() {
        let root = Paths::find().unwrap().root().to_owned();
        let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
        for entry in fs::read_dir(&root).unwrap() {
            let dir = entry.unwrap().file_name().into_string().unwrap();
            if !root.join(&dir).join("Cargo.toml").is_file() {
                continue;
            }
            let manifest = read(&format!("{dir}/Cargo.toml"));
            if name_of_published(&manifest).is_none() {
                continue;
            }
            for field in ["description = ", "keywords = [", "categories = [", "readme = ", "repository."] {
                assert!(manifest.lines().any(|line| line.starts_with(field)), "{dir} has no {field}");
            }
            for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
                assert_eq!(read(&format!("{dir}/{licence}")), read(licence), "{dir}");
            }
            let links = read(&format!("{dir}/README.md"));
            let mut links = links.split("](").skip(1);
            assert!(links.all(|link| link.starts_with("https://") || link.starts_with('#')), "{dir}");
        }
    }

    /// So that users of a crate also get its format.
    #[test]
    fn crates_have_the_pages_of_their_formats() {
        let root = Paths::find().unwrap().root().to_owned();
        let mut pages = std::collections::BTreeSet::new();
        for entry in fs::read_dir(&root).unwrap() {
            let Ok(entries) = fs::read_dir(entry.unwrap().path().join("format")) else { continue };
            for page in entries {
                let page = page.unwrap();
                assert!(page.path().is_file(), "{} leads nowhere", page.path().display());
                pages.insert(page.file_name());
            }
        }
        for page in fs::read_dir(root.join("docs/format")).unwrap() {
            let name = page.unwrap().file_name();
            assert!(name == "README.md" || pages.contains(&name), "no crate has {name:?}");
        }
    }

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
