//! The C programs, built once per run of the tests.

use mpress_cluster::Mpi;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The program of this name: `transparent` is built from all files in `programs`, the others from one file in `programs/single` and the shared files.
/// `NAME.so` is a library to preload, built from one file in `programs/preload`; `NAME.so.1` replaces a GPU's library and is built from one file in
/// `programs/gpu`.
pub(crate) fn built(mpi: Mpi, name: &str) -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    // All tests use the same MPI.
    BUILT.get_or_init(|| build_all(mpi)).join(name)
}

fn build_all(mpi: Mpi) -> PathBuf {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{mpi}-programs"));
    std::fs::create_dir_all(&target).unwrap();
    build(mpi, &target.join("transparent"), &c_files(&sources));
    for file in c_files(&sources.join("single")) {
        let name = file.file_stem().unwrap().to_owned();
        build(mpi, &target.join(name), &[file, sources.join("observe.c")]);
    }
    for file in c_files(&sources.join("preload")) {
        build(mpi, &target.join(file.file_stem().unwrap()).with_extension("so"), &[file]);
    }
    for file in c_files(&sources.join("gpu")) {
        build(mpi, &target.join(file.file_stem().unwrap()).with_extension("so.1"), &[file]);
    }
    target
}

fn c_files(dir: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
    files.sort();
    files
}

fn build(mpi: Mpi, target: &Path, sources: &[PathBuf]) {
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
    command.args(["-pthread", "-o"]).arg(target).args(sources).arg("-ldl");
    let output = command.output().unwrap_or_else(|error| panic!("{}: {error}", mpi.mpicc()));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
