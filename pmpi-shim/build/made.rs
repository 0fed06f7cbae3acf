//! The files that the build generates from the list of calls and the prototypes of MPI's functions.

use crate::calls::{self, Treatment};
use crate::{constants, exports, functions};
use std::env;
use std::path::PathBuf;

/// The constants of all ABIs.
pub(crate) const CONSTANTS: &str = include_str!("../src/mpi/abi/constants.txt");

/// Generates them for an ABI, and declares their dependencies. `src`: the path from the package to the source
/// folder.
pub(crate) fn make(abi: &str, src: &str) -> PathBuf {
    println!("cargo:rustc-check-cfg=cfg(abi, values(\"openmpi\", \"mpich\", \"standard\"))");
    println!("cargo:rustc-check-cfg=cfg(shim)");
    println!("cargo:rustc-cfg=abi=\"{abi}\"");
    for path in ["src/calls.txt", "src/functions.txt", "src/mpi/abi", "build"] {
        println!("cargo:rerun-if-changed={src}{path}");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("OUT_DIR is set by cargo"));
    let sections = calls::parse(include_str!("../src/calls.txt"));
    let functions = functions::parse(include_str!("../src/functions.txt"));
    let passed = sections.iter().filter(|section| section.treatment == Treatment::Passed);
    let sorts: Vec<_> = passed.map(|section| section.name).collect();
    let calls: Vec<_> = sections.iter().flat_map(|section| &section.calls).collect();
    for (name, text) in [
        ("constants.rs", constants::rust(&constants::parse(CONSTANTS, abi))),
        ("functions.rs", exports::functions(&sections, &functions)),
        ("open.rs", exports::open(&sections, &functions)),
        ("real.rs", exports::real(&sections, &functions)),
        ("arguments.rs", exports::arguments(&sections, &functions)),
        ("calls.rs", exports::calls(&sections, &functions)),
        ("exports.rs", exports::exports(&sections, &functions)),
        ("names.rs", format!("pub(crate) const CALLS: &[&str] = &{calls:?};\n")),
        ("sorts.rs", format!("const SORTS: &[&str] = &{sorts:?};\n")),
    ] {
        std::fs::write(out.join(name), text).expect("OUT_DIR is writable");
    }
    out
}
