//! Finds out which C libraries this machine has, for this crate and for dependent crates.

use std::path::Path;
use std::process::{Command, Stdio};

/// The configuration flag of a library, and its header.
const PEERS: [(&str, &str); 3] =
    [("peer_aec", "libaec.h"), ("peer_blosc", "blosc.h"), ("peer_lzo", "lzo/lzo1x.h")];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for (flag, header) in PEERS {
        println!("cargo::rustc-check-cfg=cfg({flag})");
        if has_header(header) {
            println!("cargo::rustc-cfg={flag}");
            println!("cargo::metadata={flag}=1");
        } else {
            // A missing file makes cargo run this again each time, until the library is installed.
            println!("cargo::rerun-if-changed={}", Path::new("/usr/include").join(header).display());
        }
    }
}

/// Whether the C compiler finds this header.
fn has_header(header: &str) -> bool {
    let Ok(compiler) = cc::Build::new().cargo_metadata(false).try_get_compiler() else { return false };
    let mut command: Command = compiler.to_command();
    command.args(["-fsyntax-only", "-include", header, "-x", "c", "/dev/null"]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}
