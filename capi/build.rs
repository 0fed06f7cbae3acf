//! Sets the SONAME of the shared library.
#![allow(clippy::panic, clippy::expect_used, reason = "a build script fails by panicking")]

#[path = "install.rs"]
#[allow(dead_code, reason = "the installation needs the rest")]
mod install;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=install.rs");
    let version = std::env::var("CARGO_PKG_VERSION").expect("cargo sets it");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,{}", install::soname(&version));
}
