//! The first call of an MPI function. No MPI is needed: stubs with a few functions have the names of real
//! MPIs.
//!
//! `cargo xtask test` sets the preload library (`MPRESS_TEST_SHIM`).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]
#![allow(missing_docs, reason = "a test")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A separate folder for each test, and the library to preload.
struct Place {
    dir: PathBuf,
    preload: PathBuf,
}

impl Place {
    fn new(test: &str) -> Option<Self> {
        let Some(preload) = std::env::var_os("MPRESS_TEST_SHIM") else {
            // Not by `eprintln!`: the harness hides the output of a passing test.
            let _shown = writeln!(
                std::io::stderr(),
                "SKIPPED: MPRESS_TEST_SHIM is not set (`cargo xtask test` sets it)"
            );
            return None;
        };
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("first-call-{test}"));
        let _from_an_earlier_run: std::io::Result<()> = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        Some(Self { dir, preload: PathBuf::from(preload).canonicalize().unwrap() })
    }

    fn cc(&self, source: &str, args: &[&str]) {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/stub").join(source);
        let mut compiler = Command::new("cc");
        compiler
            .current_dir(&self.dir)
            .args(["-std=gnu11", "-O1", "-Wall", "-Wextra", "-pthread"])
            .arg(source);
        let output = compiler.args(args).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Builds an MPI of this name.
    fn mpi(&self, name: &str, args: &[&str]) {
        let soname = format!("-Wl,-soname,{name}");
        self.cc("mpi.c", &[&["-shared", "-fPIC", &soname, "-o", name], args].concat());
    }

    /// Builds the program, linked to this library.
    fn program(&self, library: &str) {
        self.cc("together.c", &[library, "-o", "program", "-Wl,-rpath,$ORIGIN", "-ldl"]);
    }

    fn run(&self) -> Output {
        let mut program = Command::new(self.dir.join("program"));
        for (name, _) in
            std::env::vars().filter(|(name, _)| name.starts_with("PMI") || name.starts_with("OMPI_"))
        {
            program.env_remove(name);
        }
        program.env("LD_PRELOAD", &self.preload).output().unwrap()
    }

    /// Fails unless the program ends with this status and mpress prints this text or, for an empty text,
    /// nothing.
    #[track_caller]
    fn says(&self, status: i32, words: &str) {
        let output = self.run();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{} {stderr}", output.status);
        assert_eq!(stderr.lines().count(), usize::from(!words.is_empty()), "{stderr}");
        assert!(stderr.contains(words), "{stderr}");
    }
}

#[test]
fn an_mpi_is_known_by_its_name() {
    let Some(place) = Place::new("names") else { return };
    for name in ["libmpi.so.12", "libmpich.so.12", "libmpi_abi.so.1", "libmpi_gnu_91.so.12"] {
        place.mpi(name, &[]);
        place.program(name);
        place.says(0, "");
    }
    place.mpi("libmpi.so.20", &[]);
    place.program("libmpi.so.20");
    place.says(0, "there is no shim for libmpi.so.20");
    place.mpi("libmpi_of_ours.so.3", &[]);
    place.program("libmpi_of_ours.so.3");
    place.says(0, "no MPI is loaded, or one that is not known");
}

#[test]
fn an_mpi_is_known_by_its_file_or_by_what_it_calls_itself() {
    let Some(mut place) = Place::new("two_names") else { return };
    place.cc("mpi.c", &["-shared", "-fPIC", "-o", "libmpi.so.12"]);
    place.program("libmpi.so.12");
    place.says(0, "");
    // A copy under another name, as made by tools that copy libraries to all nodes.
    place.mpi("libmpi.so.12", &[]);
    place.program("libmpi.so.12");
    let copy = place.dir.join("copy_of_an_mpi");
    std::fs::rename(place.dir.join("libmpi.so.12"), &copy).unwrap();
    place.preload = [place.preload.as_path(), &copy].map(|path| path.to_str().unwrap()).join(":").into();
    place.says(0, "");
}

#[test]
fn an_mpi_that_says_it_is_another_one_is_left_alone() {
    let Some(place) = Place::new("another") else { return };
    // As Open MPI 1.10 did.
    place.mpi("libmpi.so.12", &["-DWHO=\"Open MPI v1.10.2, package: Open MPI\""]);
    place.program("libmpi.so.12");
    place.says(0, "libmpi.so.12 says that it is Open MPI v1.10.2");
    place.mpi("libmpi.so.40", &[]);
    place.program("libmpi.so.40");
    place.says(0, "libmpi.so.40 says that it is MPICH");
}

#[test]
fn an_mpi_with_a_call_that_is_not_known_is_left_alone() {
    let Some(place) = Place::new("extra") else { return };
    place.mpi("libmpi.so.12", &["-DEXTRA"]);
    place.program("libmpi.so.12");
    place.says(0, "the MPI has MPI_Teleport, which mpress does not know");
}

#[test]
fn a_layer_with_an_mpi_after_it_is_left_alone() {
    let Some(place) = Place::new("layer") else { return };
    place.mpi("libmpi.so.12", &[]);
    let after = format!("-DAFTER=\"{}\"", place.dir.join("libmpi.so.12").display());
    place.cc("layer.c", &["-shared", "-fPIC", &after, "-o", "liblayer.so", "-ldl"]);
    place.program("liblayer.so");
    place.says(3, "another library has the functions of libmpi.so.12");
}

#[test]
fn threads_may_make_the_first_call_together() {
    let Some(place) = Place::new("together") else { return };
    place.mpi("libmpi.so.12", &[]);
    place.program("libmpi.so.12");
    for _ in 0..60 {
        place.says(0, "");
    }
}
