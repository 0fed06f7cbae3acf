//! Build: the `mpress` command, its libraries, and the example programs per MPI, all under `target/mpress`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use mpress_cluster::{Abi, Mpi};

use crate::error::Error;
use crate::paths::{Paths, copied, create_folder};
use crate::setup::is_on_path;
use crate::step::run;

/// The example programs: name, source.
pub(crate) const EXAMPLES: [(&str, &str); 4] = [
    ("euler3d", "euler3d.c"),
    ("reaction3d", "reaction3d.f90"),
    ("grains", "grains.c"),
    ("shuffle", "shuffle.c"),
];

/// The installed name of the preload library.
pub(crate) const PRELOAD: &str = "libmpress.so";

/// The preload library as cargo names it.
pub(crate) const BUILT_PRELOAD: &str = "libmpress_preload.so";

/// The ABIs of MPI that have a shim.
const ABIS: [Abi; 3] = [Abi::OpenMpi, Abi::Mpich, Abi::Standard];

/// Builds everything that is not up to date; the examples with the MPIs that this system has.
pub(crate) fn all(paths: &Paths) -> Result<(), Error> {
    command_and_libraries(paths)?;
    println!("built: {}", paths.mpress().display());
    println!("built: {}", paths.libraries().join(PRELOAD).display());
    for mpi in Mpi::ALL {
        if let Some(compiler) = missing(mpi, is_on_path) {
            println!("not built: the examples for {}, since there is no {compiler}", mpi.title());
            continue;
        }
        examples(paths, mpi)?;
        println!("built: {}", paths.examples(mpi).display());
    }
    Ok(())
}

/// The first compiler of this MPI that is not there.
fn missing(mpi: Mpi, is_there: impl Fn(&str) -> bool) -> Option<&'static str> {
    [mpi.mpicc(), mpi.mpifort()].into_iter().find(|compiler| !is_there(compiler))
}

/// Builds what jobs of one MPI need, and the examples for it.
pub(crate) fn for_mpi(paths: &Paths, mpi: Mpi) -> Result<(), Error> {
    with_shims(paths, &[mpi.abi()])?;
    examples(paths, mpi)
}

/// Builds the command and its libraries, and installs them next to each other.
pub(crate) fn command_and_libraries(paths: &Paths) -> Result<(), Error> {
    with_shims(paths, &ABIS)
}

/// Builds the command, the preload library and these shims. It needs no MPI.
fn with_shims(paths: &Paths, abis: &[Abi]) -> Result<(), Error> {
    let mut cargo = paths.cargo();
    // In one command: common parts are compiled once only if cargo knows all packages.
    cargo.args(["build", "--release", "-p", "mpress-cli", "-p", "mpress-preload"]);
    cargo.args(abis.iter().flat_map(|abi| ["-p".to_owned(), format!("mpress-shim-{}", abi.name())]));
    // Shown by `mpress --version`.
    let commit = git(paths, &["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]);
    cargo.env("MPRESS_COMMIT", commit.unwrap_or_default());
    run("build of mpress", &mut cargo)?;
    install(&paths.released("mpress"), &paths.mpress())?;
    install(&paths.released(BUILT_PRELOAD), &paths.libraries().join(PRELOAD))?;
    let mut names = abis.iter().map(|&abi| shim(abi));
    names.try_for_each(|name| install(&paths.released(&name), &paths.libraries().join(&name)))
}

/// The file names of the shims.
pub(crate) fn shims() -> impl Iterator<Item = String> {
    ABIS.into_iter().map(shim)
}

fn shim(abi: Abi) -> String {
    format!("libmpress_shim_{}.so", abi.name())
}

/// The output of git for the project; `None` if this is not a repository.
pub(crate) fn git(paths: &Paths, words: &[&str]) -> Option<String> {
    let output = Command::new("git").current_dir(paths.root()).args(words).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn examples(paths: &Paths, mpi: Mpi) -> Result<(), Error> {
    let dir = paths.examples(mpi);
    create_folder(&dir)?;
    for (name, source) in EXAMPLES {
        let (source, program) = (paths.root().join("examples").join(source), dir.join(name));
        if !is_newer(&source, &program)? {
            continue;
        }
        let is_c = source.extension().is_some_and(|extension| extension == "c");
        let mut compiler = Command::new(if is_c { mpi.mpicc() } else { mpi.mpifort() });
        // The Fortran compiler writes module files next to its output.
        let half_done = dir.join(format!("{name}.new"));
        compiler.current_dir(&dir).arg("-O2").arg("-o").arg(&half_done).arg(&source).arg("-lm");
        run(&format!("build of {name} for {}", mpi.title()), &mut compiler)?;
        fs::rename(&half_done, &program).map_err(Error::file(program))?;
    }
    Ok(())
}

/// Copies a product of cargo to its place of use, if the file there is older.
fn install(built: &Path, place: &Path) -> Result<(), Error> {
    if !is_newer(built, place)? {
        return Ok(());
    }
    // A running job may use the old file, and keeps it after the rename.
    let half_done = copied(built, PathBuf::from(format!("{}.new", place.display())))?;
    fs::rename(half_done, place).map_err(Error::file(place))
}

/// Whether `source` has changed since `product` was made; a missing source is an error.
fn is_newer(source: &Path, product: &Path) -> Result<bool, Error> {
    let changed = |path: &Path| -> std::io::Result<SystemTime> { fs::metadata(path)?.modified() };
    let source = changed(source).map_err(Error::file(source))?;
    Ok(changed(product).map_or(true, |product| source > product))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_an_mpi_there_are_no_examples() {
        let is_there = |compiler: &str| compiler.ends_with(".openmpi") || compiler == "mpicc.mpich";
        assert_eq!(missing(Mpi::OpenMpi, is_there), None);
        assert_eq!(missing(Mpi::Mpich, is_there), Some("mpifort.mpich"));
        assert_eq!(missing(Mpi::Mpich, |_| false), Some("mpicc.mpich"));
    }

    #[test]
    fn only_what_changed_is_copied() {
        let dir = tempfile::tempdir().unwrap();
        let (built, place) = (dir.path().join("built"), dir.path().join("lib/place"));
        assert!(matches!(install(&built, &place), Err(Error::File { path, .. }) if path == built));

        fs::write(&built, "one").unwrap();
        install(&built, &place).unwrap();
        let first = fs::metadata(&place).unwrap().modified().unwrap();
        install(&built, &place).unwrap();
        assert_eq!(fs::metadata(&place).unwrap().modified().unwrap(), first);

        let later = SystemTime::now() + std::time::Duration::from_secs(5);
        fs::write(&built, "two").unwrap();
        fs::File::options().append(true).open(&built).unwrap().set_modified(later).unwrap();
        install(&built, &place).unwrap();
        assert_eq!(fs::read_to_string(&place).unwrap(), "two");
    }
}
