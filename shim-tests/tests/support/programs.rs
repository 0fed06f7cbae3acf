//! The C programs. They are built again only if a source, the tests, or the MPI are newer.

use mpress_cluster::Mpi;
use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

/// The program of this name: `transparent` is built from all files in `programs`, the others from one file in
/// `programs/single` and the shared files. `NAME.so` is a library to preload, built from one file in
/// `programs/preload`; `NAME.so.1` replaces a GPU's library and is built from one file in `programs/gpu`.
pub(crate) fn built(mpi: Mpi, name: &str) -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    // All tests use the same MPI.
    BUILT.get_or_init(|| build_all(mpi)).join(name)
}

fn build_all(mpi: Mpi) -> PathBuf {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{mpi}-programs"));
    std::fs::create_dir_all(&target).unwrap();
    // The tests themselves say how programs are built, so a newer test counts, too.
    let mut newest = modified(&std::env::current_exe().unwrap()).max(installed(mpi));
    for file in ["", "single", "preload", "gpu"].iter().flat_map(|dir| files(&sources.join(dir))) {
        newest = newest.max(modified(&file));
    }
    let build = |name: &Path, sources: &[PathBuf]| {
        let target = target.join(name);
        if !target.exists() || modified(&target) < newest {
            build(mpi, &target, sources);
        }
    };
    build("transparent".as_ref(), &c_files(&sources));
    for file in c_files(&sources.join("single")) {
        let name = file.file_stem().unwrap().to_owned();
        build(name.as_ref(), &[file, sources.join("observe.c")]);
    }
    for (dir, extension) in [("preload", "so"), ("gpu", "so.1")] {
        for file in c_files(&sources.join(dir)) {
            build(&Path::new(file.file_stem().unwrap()).with_extension(extension), &[file]);
        }
    }
    target
}

/// When the MPI's compiler was installed, if it is in the `PATH`.
fn installed(mpi: Mpi) -> SystemTime {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let compilers = std::env::split_paths(&path).map(|dir| dir.join(mpi.mpicc()));
    let changed = compilers.filter_map(|file| file.metadata().ok()).map(|metadata| metadata.ctime()).next();
    let seconds = changed.and_then(|seconds| u64::try_from(seconds).ok()).unwrap_or(0);
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

fn modified(file: &Path) -> SystemTime {
    file.metadata().and_then(|metadata| metadata.modified()).unwrap()
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.is_file());
    files.sort();
    files
}

fn c_files(dir: &Path) -> Vec<PathBuf> {
    let mut files = files(dir);
    files.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
    files
}

/// Builds a program, under another name at first: tests of another process may be running it, or building it.
fn build(mpi: Mpi, target: &Path, sources: &[PathBuf]) {
    let unfinished = target.with_file_name(format!("{}-unfinished", std::process::id()));
    let start = SystemTime::now();
    let mut command = Command::new(mpi.mpicc());
    // gcc mistakes MPICH's MPI_STATUSES_IGNORE for an array that is too short.
    command.args([
        "-std=gnu11",
        "-O1",
        "-g",
        "-Wall",
        "-Wextra",
        "-Wno-cast-function-type",
        "-Wno-stringop-overflow",
    ]);
    if target.extension().is_some() {
        command.args(["-shared", "-fPIC"]);
    }
    command.args(["-pthread", "-o"]).arg(&unfinished).args(sources).arg("-ldl");
    let output = command.output().unwrap_or_else(|error| panic!("{}: {error}", mpi.mpicc()));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // A source that has changed since the start is newer.
    File::options().append(true).open(&unfinished).and_then(|file| file.set_modified(start)).unwrap();
    std::fs::rename(unfinished, target).unwrap();
}
