//! The types, constants and prototypes of the shims are the same as in the `mpi.h` of the MPI under test.
//!
//! `cargo xtask test` sets the MPI (`MPRESS_TEST_MPI`).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]
#![allow(missing_docs, reason = "a test")]

#[path = "../../pmpi-shim/build/constants.rs"]
#[allow(dead_code, reason = "the builds need the rest")]
mod constants;
#[allow(dead_code, reason = "others need the rest")]
mod support;

use mpress_cluster::{Abi, Mpi};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const FUNCTIONS: &str = include_str!("../../pmpi-shim/src/functions.txt");

const CONSTANTS: &str = include_str!("../../pmpi-shim/src/mpi/abi/constants.txt");
const TYPES: &str = include_str!("../../pmpi-shim/src/mpi/abi/types.rs");

/// The MPI under test, and a folder for compiled files.
fn under_test(test: &str) -> Option<(Mpi, PathBuf)> {
    let Some(mpi) = std::env::var("MPRESS_TEST_MPI").ok() else {
        return support::skip("MPRESS_TEST_MPI is not set (`cargo xtask test` sets it)");
    };
    let mpi: Mpi = mpi.parse().expect("MPRESS_TEST_MPI is an MPI");
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{mpi}-abi-{test}"));
    std::fs::create_dir_all(&dir).unwrap();
    Some((mpi, dir))
}

fn compile(mpi: Mpi, source: &str, dir: &Path, args: &[&str]) {
    let file = dir.join("source.c");
    std::fs::write(&file, source).unwrap();
    let mut compiler = Command::new(mpi.mpicc());
    compiler.args(["-std=gnu11", "-Wno-deprecated-declarations"]).args(args).arg(&file).current_dir(dir);
    let output = compiler.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// C forbids two declarations of a function that differ. Functions that the MPI lacks are declared only here.
#[test]
fn the_prototypes_are_those_of_the_mpi() {
    let Some((mpi, dir)) = under_test("prototypes") else { return };
    let prototypes: Vec<_> = FUNCTIONS.lines().filter(|line| line.starts_with("int ")).collect();
    assert!(prototypes.len() > 300, "{}", prototypes.len());
    let mut source =
        "#include <mpi.h>\n#ifndef MPI_SESSION_NULL\ntypedef void *MPI_Session;\n#endif\n".to_owned();
    for line in prototypes {
        // Older MPIs declare the requests as input (`const`).
        if line.contains("MPI_Request_get_status_") {
            continue;
        }
        source += line;
        source += "\n";
        source += &line.replace("int MPI_", "int PMPI_");
        source += "\n";
    }
    compile(mpi, &source, &dir, &["-fsyntax-only"]);
}

/// The layer must see every new request: it may have the handle of one whose call was left by a jump.
#[test]
fn every_call_that_makes_a_request_is_known() {
    let Some((mpi, dir)) = under_test("requests") else { return };
    compile(mpi, "#include <mpi.h>\n", &dir, &["-E", "-P", "-o", "source.i"]);
    let header = std::fs::read_to_string(dir.join("source.i")).unwrap();
    let mut count = 0;
    for declaration in header.split(';') {
        let declaration = declaration.split_whitespace().collect::<Vec<_>>().join(" ");
        let Some((_, function)) = declaration.split_once("int MPI_") else { continue };
        let Some((name, arguments)) = function.split_once('(') else { continue };
        let arguments = arguments.split(')').next().unwrap();
        let makes_one =
            arguments.rsplit_once(',').is_some_and(|(_, last)| last.trim().starts_with("MPI_Request *"));
        if makes_one && !arguments.contains("count, MPI_Request") {
            let known = format!("int MPI_{}(", name.trim());
            assert!(FUNCTIONS.lines().any(|line| line.starts_with(&known)), "MPI_{name} is not in the table");
            count += 1;
        }
    }
    assert!(count > 40, "{count}");
}

#[test]
fn the_constants_are_those_of_the_mpi() {
    let Some((mpi, dir)) = under_test("constants") else { return };
    let column = match mpi.abi() {
        Abi::OpenMpi => "openmpi",
        Abi::Mpich => "mpich",
        Abi::Standard => "standard",
    };
    let pairs: Vec<(String, String)> = constants::parse(CONSTANTS, column)
        .into_iter()
        // Intel MPI 2021.18 exchanges two values of the standard; the shim asks the MPI for this one, see
        // `errors_return`.
        .filter(|constant| !(mpi == Mpi::IntelStandard && constant.name == "ERRORS_RETURN"))
        .map(|constant| {
            let value = match constant.value {
                "null" => "0".to_owned(),
                variable if variable.starts_with("ompi_") => format!("&{variable}"),
                number => number.to_owned(),
            };
            (format!("MPI_{}", constant.name), value)
        })
        .collect();
    assert!(pairs.len() > 80, "{pairs:?}");
    let mut source =
        "#include <mpi.h>\n#include <stdint.h>\n#include <stdio.h>\nint main(void)\n{\n  int wrong = 0;\n"
            .to_owned();
    for (name, expected) in &pairs {
        // Handles are pointers or have 32 bits.
        let word = |text: &str| {
            format!("(sizeof({name}) == 8 ? (uint64_t)(intptr_t){text} : (uint32_t)(intptr_t){text})")
        };
        let (is, expected_word) = (word(name), word(&format!("({expected})")));
        writeln!(
            source,
            "  if ({is} != {expected_word}) {{ puts(\"{name} is not {expected}\"); wrong = 1; }}"
        )
        .unwrap();
    }
    // The fields in the order of the source.
    let status = format!(
        "#[cfg(abi = \"{column}\")]\n#[repr(C)]\n#[derive(Clone, Copy, Debug)]\npub struct MPI_Status {{"
    );
    let (_, fields) = TYPES.split_once(&status).unwrap();
    let (fields, _) = fields.split_once('}').unwrap();
    let mut offset = 0;
    for line in fields.lines().filter_map(|line| line.trim().strip_suffix(',')) {
        let (name, ty) = line.split_once(": ").unwrap();
        if let Some(name) = name.strip_prefix("pub ") {
            writeln!(source, "  if ((char *)&((MPI_Status *)0)->{name} != (char *){offset}) {{ puts(\"{name}\"); wrong = 1; }}").unwrap();
        }
        offset += match ty {
            "c_int" => 4,
            "usize" => 8,
            "[c_int; 5]" => 20,
            other => panic!("{other}"),
        };
    }
    writeln!(
        source,
        "  if (sizeof(MPI_Status) != {offset}) {{ puts(\"MPI_Status\"); wrong = 1; }}\n  return wrong;\n}}"
    )
    .unwrap();
    compile(mpi, &source, &dir, &["-w", "-o", "constants"]);
    let output = Command::new(dir.join("constants")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
