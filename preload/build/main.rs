//! Generates the exported functions from the shims' list of calls and the prototypes of MPI's functions.
#![allow(clippy::panic, clippy::expect_used, reason = "a build script fails by panicking")]

#[path = "../../pmpi-shim/build/calls.rs"]
#[allow(dead_code, reason = "the shims need the rest")]
mod calls;
#[path = "../../pmpi-shim/build/functions.rs"]
mod functions;

use std::env;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    for path in
        ["build", "../pmpi-shim/build", "../pmpi-shim/src/calls.txt", "../pmpi-shim/src/functions.txt"]
    {
        println!("cargo:rerun-if-changed={path}");
    }
    let sections = calls::parse(include_str!("../../pmpi-shim/src/calls.txt"));
    let functions = functions::parse(include_str!("../../pmpi-shim/src/functions.txt"));
    let calls = sections.iter().flat_map(|section| &section.calls);

    let (mut rows, mut count) = (String::new(), 0);
    for function in calls.flat_map(|call| functions::forms(&functions, call)) {
        let name = function.name;
        let arguments: String = (0..function.arguments.len()).map(|number| format!("a{number} ")).collect();
        writeln!(
            rows,
            "{count} MPI_{name} PMPI_{name} c\"MPI_{name}\" c\"PMPI_{name}\" c\"mpress_MPI_{name}\" ({arguments});"
        )
        .expect("a string takes it");
        count += 1;
    }
    let text = format!("const COUNT: usize = {count};\ncalls! {{\n{rows}}}\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("OUT_DIR is set by cargo"));
    std::fs::write(out.join("calls.rs"), text).expect("OUT_DIR is writable");
    link_unwinder(&out);
}

/// Links the unwinder statically, if the compiler has it as an archive: otherwise every process would load
/// one more library. Rust names the library on the linker's command line, so a linker script of that name
/// selects the archive.
fn link_unwinder(out: &Path) {
    let mut compiler = Command::new(env::var_os("CC").unwrap_or_else(|| "cc".into()));
    let output = compiler
        .arg("-print-file-name=libgcc_eh.a")
        .output()
        .expect("there is a C compiler, as for all of Rust");
    if Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_absolute() {
        std::fs::write(out.join("libgcc_s.so"), "INPUT(-lgcc_eh -lgcc)\n").expect("OUT_DIR is writable");
        println!("cargo:rustc-link-search=native={}", out.display());
    }
}
