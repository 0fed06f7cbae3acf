//! Takes types and constants from the `mpi.h` of the MPI that `MPICC` names, makes the exported functions from the table of calls, and
//! links the shim to that MPI.
#![allow(clippy::panic, clippy::expect_used, reason = "a build script fails by panicking")]

#[allow(dead_code, reason = "the tests need the rest")]
mod calls;
mod header;

use calls::{Section, When};
use header::Function;
use std::env;
use std::path::PathBuf;

fn main() {
    for file in ["src/constants.c", "src/calls.txt", "build"] {
        println!("cargo:rerun-if-changed={file}");
    }
    println!("cargo:rustc-check-cfg=cfg(mpi_large_count)");
    println!("cargo:rustc-check-cfg=cfg(open_mpi)");

    let mpi = header::probe();
    let mut c = cc::Build::new();
    c.file("src/constants.c").includes(&mpi.include_paths).warnings_into_errors(true).compile("constants");

    let sections = calls::parse(include_str!("../src/calls.txt"));
    let bindings = header::builder(&mpi, &sections)
        .allowlist_type("MPI_(Comm|Datatype|Request|Status|Message|Group|Count|Aint|Info|Errhandler)")
        .allowlist_function(FUNCTIONS)
        .allowlist_var("MPI_VERSION|OPEN_MPI|OMPI_MAJOR_VERSION|MPICH_NUMVERSION")
        .override_abi(bindgen::Abi::CUnwind, "PMPI_Comm_call_errhandler");
    let bindings = bindings.generate().expect("mpi.h can be read").to_string();
    // What the MPI has is read off its own header.
    if bindings.contains("fn PMPI_Send_c(") {
        println!("cargo:rustc-cfg=mpi_large_count");
    }
    if bindings.contains("OPEN_MPI") {
        println!("cargo:rustc-cfg=open_mpi");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("OUT_DIR is set by cargo"));
    println!("cargo:rustc-env=MPRESS_MPI_SONAME={}", header::soname(&mpi, &out));
    let functions = header::functions(&sections, &bindings);
    let table = rows(&sections, &functions);
    let sorts = format!("const SORTS: &[&str] = &{:?};\n", sorts(&sections));
    let unwrapped = unwrapped(&functions);
    for (name, text) in
        [("mpi.rs", &bindings), ("table.rs", &table), ("sorts.rs", &sorts), ("unwrapped.rs", &unwrapped)]
    {
        std::fs::write(out.join(name), text).expect("OUT_DIR is writable");
    }

    // The shim calls the MPI also by the names of its functions, and `mpress calibrate` loads the MPI with it.
    println!("cargo:rustc-cdylib-link-arg=-Wl,--no-as-needed");
    for path in &mpi.lib_paths {
        println!("cargo:rustc-link-search=native={}", path.display());
    }
    for lib in &mpi.libs {
        println!("cargo:rustc-cdylib-link-arg=-l{lib}");
    }
}

/// The rows for the macro in `src/table.rs`: what an MPI without large counts, or without a call of a later standard, has not, is not
/// in them.
fn rows(sections: &[Section<'_>], functions: &[Function<'_>]) -> String {
    let (mut always, mut active) = (String::new(), String::new());
    for Function { section, call, name, arguments } in functions {
        let Some(prototype) = arguments else { continue };
        let names: Vec<&str> = match section.when {
            When::Passed => prototype.iter().map(|(name, _)| name.as_str()).collect(),
            When::Always | When::Active => call.arguments.clone(),
        };
        assert!(names.len() == prototype.len(), "MPI_{name} has other arguments in mpi.h");
        let arguments = names.iter().zip(prototype).map(|(name, (_, ty))| format!("{name}: {ty}"));
        let arguments = arguments.collect::<Vec<_>>().join(", ");
        let (rows, closure, handler) = match section.when {
            When::Always => (&mut always, "|pass|", call.handler.join("\n")),
            When::Active => (&mut active, "|shim, pass|", call.handler.join("\n")),
            When::Passed => {
                let sort = sorts(sections).iter().position(|sort| *sort == section.name);
                let sort = sort.expect("it is one of them");
                (&mut active, "|shim, pass|", format!("{{ passed::count({sort}); pass() }}"))
            }
        };
        *rows +=
            &format!("MPI_{name} PMPI_{name} \"mpress_MPI_{name}\" ({arguments}) => {closure} {handler};\n");
    }
    format!("table! {{\nalways {{\n{always}}}\nactive {{\n{active}}}\n}}\n")
}

/// Calls that would have to be handled and that `mpi.h` does not declare: an MPI that has them is another.
fn unwrapped(functions: &[Function<'_>]) -> String {
    let missing =
        |function: &&Function<'_>| function.section.when != When::Passed && function.arguments.is_none();
    let of_table = functions.iter().filter(missing).map(|function| function.name.as_str());
    let others = OTHERS.into_iter().filter(|name| functions.iter().all(|function| function.name != *name));
    let names = of_table.chain(others).map(|name| format!("c\"PMPI_{name}\", "));
    format!("const UNWRAPPED: &[&CStr] = &[{}];\n", names.collect::<String>())
}

/// Calls of later standards that complete messages and that the table does not have.
const OTHERS: [&str; 3] = ["Request_get_status_any", "Request_get_status_all", "Request_get_status_some"];

/// The sorts of calls that are counted.
fn sorts<'a>(sections: &[Section<'a>]) -> Vec<&'a str> {
    sections.iter().filter(|section| section.when == When::Passed).map(|section| section.name).collect()
}

/// What the shim calls beside the functions of the table.
const FUNCTIONS: &str = "P?MPI_(\
    Query_thread|Initialized|Finalized|Finalize|Abort|Get_library_version|Test_cancelled|Get_address|Get_elements_x|Status_set_elements_x|Status_set_cancelled|\
    Comm_(size|rank|create|group|remote_group|remote_size|test_inter|get_attr|set_attr|create_keyval|free_keyval|dup|free|\
    set_errhandler|call_errhandler)|Group_(size|translate_ranks|free)|\
    Type_(dup|size_x|get_extent|get_true_extent|get_envelope(_c)?|get_contents(_c)?|free|create_struct|contiguous|commit)|\
    Grequest_start|Grequest_complete|Info_(get|dup|delete|free)|Add_error_code|Add_error_string)";
