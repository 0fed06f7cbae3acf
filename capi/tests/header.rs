//! `mpress.h` is cbindgen's output for the source.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]
#![allow(missing_docs, reason = "a test")]

use std::path::Path;

/// The sources of the header, in its order.
const SOURCES: [&str; 9] =
    ["status", "error", "kind", "codec", "settings", "handshake", "engine", "channels", "report"];

fn header() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    let sources = SOURCES.iter().map(|name| root.join(format!("src/{name}.rs")));
    let builder = sources.fold(cbindgen::Builder::new().with_config(config), cbindgen::Builder::with_src);
    let mut text = Vec::new();
    builder.generate().unwrap().write(&mut text);
    // The headings of the Rust documentation.
    let text = String::from_utf8(text).unwrap();
    text.replace(" # Errors\n", " Errors:\n").replace(" # Safety\n", " Requires:\n").trim_end().to_owned()
        + "\n"
}

#[test]
fn it_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("mpress.h");
    let text = header();
    if std::env::var_os("WRITE_HEADER").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == text, "WRITE_HEADER=1 cargo test -p mpress-capi --test header writes mpress.h");
}

/// Functions that only read constants or their thread's text; all others might panic.
const TRIVIAL: [&str; 4] =
    ["mpress_status_text", "mpress_version", "mpress_last_error", "mpress_may_be_frame"];

#[test]
fn all_functions_are_in_it_and_catch_panics() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let header = std::fs::read_to_string(root.join("mpress.h")).unwrap();
    let mut names = Vec::new();
    for entry in std::fs::read_dir(root.join("src")).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for function in text.split("#[unsafe(no_mangle)]\n").skip(1) {
            let name = function.split("fn ").nth(1).unwrap().split('(').next().unwrap();
            assert!(header.contains(&format!("{name}(")), "{name} is not in mpress.h");
            let body = function.split("\n}\n").next().unwrap();
            // `make` creates settings within a guard.
            let guarded =
                ["guard(|| ", "guard_text(|| ", "make(settings, "].iter().any(|call| body.contains(call));
            assert!(guarded || TRIVIAL.contains(&name), "{name} lets panics out");
            names.push(name.to_owned());
        }
    }
    assert!(names.len() > 30, "{names:?}");
}
