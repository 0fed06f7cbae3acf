//! Makes the exported functions from the shim's table of calls and the `mpi.h` of the MPI that `MPICC` names.
#![allow(clippy::panic, clippy::expect_used, reason = "a build script fails by panicking")]

#[path = "../../pmpi-shim/build/calls.rs"]
#[allow(dead_code, reason = "the shim needs the rest")]
mod calls;
#[path = "../../pmpi-shim/build/header.rs"]
#[allow(dead_code, reason = "the shim needs the rest")]
mod header;

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    for path in ["build", "../pmpi-shim/build", "../pmpi-shim/src/calls.txt"] {
        println!("cargo:rerun-if-changed={path}");
    }
    let mpi = header::probe();
    let sections = calls::parse(include_str!("../../pmpi-shim/src/calls.txt"));
    let bindings = header::builder(&mpi, &sections).allowlist_var("MPI_ERR_INTERN");
    let bindings = bindings.generate().expect("mpi.h can be read").to_string();
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("OUT_DIR is set by cargo"));

    let (mut rows, mut count) = (String::new(), 0);
    for function in header::functions(&sections, &bindings) {
        let (name, Some(arguments)) = (function.name, function.arguments) else { continue };
        let arguments: String = (0..arguments.len()).map(|number| format!("a{number} ")).collect();
        rows += &format!(
            "{count} MPI_{name} PMPI_{name} c\"MPI_{name}\" c\"PMPI_{name}\" c\"mpress_MPI_{name}\" ({arguments});\n"
        );
        count += 1;
    }
    assert!(count > 100, "mpi.h declares only {count} of the calls");
    let text = format!(
        "const MPI: &CStr = c\"{}\";\nconst ERR_INTERN: c_int = {};\nconst COUNT: usize = {count};\ncalls! {{\n{rows}}}\n",
        header::soname(&mpi, &out),
        constant(&bindings, "MPI_ERR_INTERN"),
    );
    std::fs::write(out.join("calls.rs"), text).expect("OUT_DIR is writable");
    link_unwinder(&out);
}

/// The value of a constant as bindgen writes it.
fn constant<'a>(bindings: &'a str, name: &str) -> &'a str {
    let value =
        bindings.split_once(&format!("pub const {name}: u32 = ")).and_then(|(_, rest)| rest.split_once(';'));
    value.unwrap_or_else(|| panic!("mpi.h has no {name}")).0
}

/// Takes the unwinder in, where the compiler has it as an archive: every process would load one more library else. Rust names the
/// library on the linker's command line, so a script of that name says what is meant.
fn link_unwinder(out: &Path) {
    let mut compiler: Command = cc::Build::new().get_compiler().to_command();
    let output = compiler.arg("-print-file-name=libgcc_eh.a").output().expect("there is a C compiler");
    if Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_absolute() {
        std::fs::write(out.join("libgcc_s.so"), "INPUT(-lgcc_eh -lgcc)\n").expect("OUT_DIR is writable");
        println!("cargo:rustc-link-search=native={}", out.display());
    }
}
