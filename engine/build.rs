//! Makes constants of the built-in heuristics, so that no process has to parse them at its start.
#![allow(clippy::expect_used, reason = "a build script fails by panicking")]

use std::env;
use std::path::PathBuf;

const FILE: &str = "heuristics/compression.toml";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={FILE}");
    let text = std::fs::read_to_string(FILE).expect("the built-in heuristics are there");
    // As `mpress calibrate` writes it: each behaviour has the same ten values in the same order. A test compares with what the parser finds.
    let (_, behaviours) = text.split_once("[[behaviour]]").expect("it has behaviours");
    let values: Vec<_> = behaviours.lines().filter_map(|line| line.split_once(" = ")?.1.into()).collect();
    let (all, rest) = values.as_chunks();
    assert!(rest.is_empty(), "{FILE}: a behaviour has other values");
    let row = |[kind, level, codec, ratio, encode @ .., d0, d1, d2]: &[&str; 10]| {
        let encode: &[&str; 3] = encode;
        let encode = encode.join(", ");
        format!("({kind}, {level}, {codec}, {ratio}, [{encode}], [{d0}, {d1}, {d2}]),\n")
    };
    let rows: String = all.iter().map(row).collect();
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("OUT_DIR is set by cargo"));
    std::fs::write(out.join("built_in.rs"), format!("[\n{rows}]\n")).expect("OUT_DIR is writable");
}
