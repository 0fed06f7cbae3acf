//! Asks `mpress-interop` which of the C libraries used as peers this machine has.

const PEERS: [&str; 3] = ["peer_aec", "peer_blosc", "peer_lzo"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for flag in PEERS {
        println!("cargo::rustc-check-cfg=cfg({flag})");
        if std::env::var_os(format!("DEP_MPRESS_INTEROP_{}", flag.to_uppercase())).is_some() {
            println!("cargo::rustc-cfg={flag}");
        }
    }
}
