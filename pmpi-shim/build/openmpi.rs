//! A stub library with the name and the variables of Open MPI, for linking: where the shim is loaded, Open
//! MPI itself is loaded, too.

use crate::constants;
use crate::made::CONSTANTS;
use std::env;
use std::path::Path;
use std::process::Command;

/// The name under which programs linked to Open MPI 4 or 5 load it.
const SONAME: &str = "libmpi.so.40";

/// Links the shim to Open MPI.
pub(crate) fn link(out: &Path) {
    let (source, library) = (out.join("openmpi.c"), out.join("libopenmpi.so"));
    let values = constants::parse(CONSTANTS, "openmpi").into_iter().map(|constant| constant.value);
    let names = values.filter(|value| value.starts_with("ompi_"));
    let mut variables: Vec<_> = names.map(|name| format!("char {name};\n")).collect();
    variables.sort();
    variables.dedup();
    std::fs::write(&source, variables.concat()).expect("OUT_DIR is writable");
    // For another target, `CC` is its C compiler.
    let mut compiler = Command::new(env::var_os("CC").unwrap_or_else(|| "cc".into()));
    compiler.args(["-shared", "-fPIC", "-nostdlib"]).arg(format!("-Wl,-soname,{SONAME}"));
    compiler.arg("-o").arg(&library).arg(&source);
    let status = compiler.status().expect("there is a C compiler, as for all of Rust");
    assert!(status.success(), "{compiler:?} failed");
    println!("cargo:rustc-cdylib-link-arg={}", library.display());
}
