//! Makes the handlers from the table of calls, and the functions that the shim calls from their prototypes. The shim is built once per ABI, which
//! the name of the package tells.
#![allow(clippy::panic, clippy::expect_used, reason = "a build script fails by panicking")]

#[allow(dead_code, reason = "the tests need the rest")]
mod calls;
mod functions;
mod openmpi;

use calls::{Section, When};
use functions::Function;
use std::env;
use std::fmt::Write as _;
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
    let sorts = format!("const SORTS: &[&str] = &{:?};\n", sorts(&sections));
    for (name, text) in
        [("functions.rs", called(&functions)), ("table.rs", rows(&sections, &functions)), ("sorts.rs", sorts)]
    {
        std::fs::write(out.join(name), text).expect("OUT_DIR is writable");
    }
}

/// The names and types of arguments as in a declaration.
fn declared<'a>(arguments: impl Iterator<Item = (&'a str, &'a String)>) -> String {
    arguments.map(|(name, ty)| format!("{name}: {ty}")).collect::<Vec<_>>().join(", ")
}

/// The rows for the macro in `src/sys.rs`.
fn called(functions: &[Function<'_>]) -> String {
    let mut text = "functions! {\n".to_owned();
    for Function { name, arguments } in functions {
        let arguments = declared(arguments.iter().map(|(name, ty)| (*name, ty)));
        writeln!(text, "PMPI_{name} ({arguments});").expect("a string takes it");
    }
    text + "}\n"
}

/// The rows for the macro in `src/table.rs`.
fn rows(sections: &[Section<'_>], functions: &[Function<'_>]) -> String {
    let (mut always, mut active) = (String::new(), String::new());
    for section in sections {
        for call in &section.calls {
            for Function { name, arguments } in functions::forms(functions, call.name) {
                let names: Vec<&str> = match section.when {
                    When::Passed => arguments.iter().map(|(name, _)| *name).collect(),
                    When::Always | When::Active => call.arguments.clone(),
                };
                assert!(names.len() == arguments.len(), "the prototype of MPI_{name} has other arguments");
                let arguments = declared(names.into_iter().zip(arguments.iter().map(|(_, ty)| ty)));
                let (rows, closure, handler) = match section.when {
                    When::Always => (&mut always, "|pass|", call.handler.join("\n")),
                    When::Active => (&mut active, "|shim, pass|", call.handler.join("\n")),
                    When::Passed => {
                        let sort = sorts(sections).iter().position(|sort| *sort == section.name);
                        let sort = sort.expect("it is one of them");
                        (&mut active, "|shim, pass|", format!("{{ passed::count({sort}); pass() }}"))
                    }
                };
                writeln!(
                    rows,
                    "MPI_{name} PMPI_{name} \"mpress_MPI_{name}\" ({arguments}) => {closure} {handler};"
                )
                .expect("a string takes it");
            }
        }
    }
    format!("table! {{\nalways {{\n{always}}}\nactive {{\n{active}}}\n}}\n")
}

/// The sorts of calls that are counted.
fn sorts<'a>(sections: &[Section<'a>]) -> Vec<&'a str> {
    sections.iter().filter(|section| section.when == When::Passed).map(|section| section.name).collect()
}
