//! Makes Rust of the list of calls and the prototypes of MPI's functions. The shim is built once per ABI, which the name of the package tells.
#![allow(clippy::panic, clippy::expect_used, reason = "a build script fails by panicking")]

#[allow(dead_code, reason = "the tests need the rest")]
mod calls;
mod exports;
mod functions;
mod openmpi;

use calls::Treatment;
use std::env;
use std::path::PathBuf;

fn main() {
    let abi = env!("CARGO_PKG_NAME").trim_start_matches("mpress-shim-");
    println!("cargo:rustc-check-cfg=cfg(abi, values(\"openmpi\", \"mpich\", \"standard\"))");
    println!("cargo:rustc-cfg=abi=\"{abi}\"");
    for path in ["calls.txt", "functions.txt", "abi"] {
        println!("cargo:rerun-if-changed=../src/{path}");
    }
    println!("cargo:rerun-if-changed=../build");

    let out = PathBuf::from(env::var_os("OUT_DIR").expect("OUT_DIR is set by cargo"));
    if abi == "openmpi" {
        openmpi::link(include_str!("../src/abi/openmpi.rs"), &out);
    }
    let sections = calls::parse(include_str!("../src/calls.txt"));
    let functions = functions::parse(include_str!("../src/functions.txt"));
    let passed = sections.iter().filter(|section| section.treatment == Treatment::Passed);
    let sorts: Vec<_> = passed.map(|section| section.name).collect();
    for (name, text) in [
        ("functions.rs", exports::functions(&functions)),
        ("open.rs", exports::open(&sections, &functions)),
        ("real.rs", exports::real(&sections, &functions)),
        ("arguments.rs", exports::arguments(&sections, &functions)),
        ("exports.rs", exports::exports(&sections, &functions)),
        ("sorts.rs", format!("const SORTS: &[&str] = &{sorts:?};\n")),
    ] {
        std::fs::write(out.join(name), text).expect("OUT_DIR is writable");
    }
}
