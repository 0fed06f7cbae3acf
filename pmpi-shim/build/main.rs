//! Generates Rust from the list of calls and the prototypes of MPI's functions. The shim is built once per
//! ABI, given by the package name.
#![allow(clippy::panic, clippy::expect_used, reason = "a build script fails by panicking")]

#[allow(dead_code, reason = "the tests need the rest")]
mod calls;
mod constants;
mod exports;
mod functions;
mod made;
mod openmpi;

fn main() {
    let abi = env!("CARGO_PKG_NAME").trim_start_matches("mpress-shim-");
    println!("cargo:rustc-cfg=shim");
    let out = made::make(abi, "../");
    if abi == "openmpi" {
        openmpi::link(&out);
    }
}
