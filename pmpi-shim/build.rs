//! Takes types and constants from the `mpi.h` of the MPI that `MPICC` names, and links the shim to that MPI.
#![allow(clippy::panic, clippy::expect_used, reason = "a build script fails by panicking")]

use std::env;
use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-env-changed=MPICC");
    println!("cargo:rerun-if-changed=src/constants.c");
    println!("cargo:rustc-check-cfg=cfg(mpi_large_count)");
    println!("cargo:rustc-check-cfg=cfg(open_mpi)");

    let mpi = build_probe_mpi::probe().unwrap_or_else(|errors| {
        let reasons: Vec<_> = errors.iter().map(ToString::to_string).collect();
        panic!("no MPI found (set MPICC to a compiler wrapper): {}", reasons.join("; "))
    });

    let mut c = cc::Build::new();
    c.file("src/constants.c").includes(&mpi.include_paths).warnings_into_errors(true).compile("constants");

    let mut bindings = bindgen::builder()
        .header_contents("wrapper.h", "#include <mpi.h>")
        .allowlist_type("MPI_(Comm|Datatype|Request|Status|Message|Group|Count|Aint|Info|Errhandler)")
        .allowlist_function(FUNCTIONS)
        .allowlist_var("MPI_VERSION|OPEN_MPI|OMPI_MAJOR_VERSION|MPICH_NUMVERSION")
        .layout_tests(true)
        .override_abi(bindgen::Abi::CUnwind, "PMPI_Comm_call_errhandler")
        .generate_comments(false)
        .merge_extern_blocks(true);
    for path in &mpi.include_paths {
        bindings = bindings.clang_arg(format!("-I{}", path.display()));
    }
    let passed = passed();
    for (_, name) in &passed {
        bindings = bindings.allowlist_function(format!("PMPI_{name}(_c)?"));
    }
    let bindings = bindings.generate().expect("mpi.h can be read").to_string();
    // What the MPI has is read off its own header.
    if bindings.contains("fn PMPI_Send_c(") {
        println!("cargo:rustc-cfg=mpi_large_count");
    }
    if bindings.contains("OPEN_MPI") {
        println!("cargo:rustc-cfg=open_mpi");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("OUT_DIR is set by cargo"));
    std::fs::write(out.join("mpi.rs"), &bindings).expect("OUT_DIR is writable");

    std::fs::write(out.join("passed.rs"), rows(&passed, &bindings)).expect("OUT_DIR is writable");

    // Python loads its MPI with RTLD_LOCAL; only a dependency of our own makes RTLD_NEXT find it there.
    println!("cargo:rustc-cdylib-link-arg=-Wl,--no-as-needed");
    for path in &mpi.lib_paths {
        println!("cargo:rustc-link-search=native={}", path.display());
    }
    for lib in &mpi.libs {
        println!("cargo:rustc-cdylib-link-arg=-l{lib}");
    }
}

/// The calls of `src/passed.txt`: the sort and the name of each.
fn passed() -> Vec<(&'static str, &'static str)> {
    println!("cargo:rerun-if-changed=src/passed.txt");
    let lines = include_str!("src/passed.txt").lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.split_once(':'))
        .flat_map(|(sort, names)| names.split_whitespace().map(move |name| (sort, name)))
        .collect()
}

/// Rows for the macro in `src/passed.rs`, with the prototypes of `mpi.h`.
fn rows(passed: &[(&str, &str)], bindings: &str) -> String {
    let mut sorts: Vec<&str> = passed.iter().map(|(sort, _)| *sort).collect();
    sorts.dedup();
    let mut text = format!("passed! {{ {sorts:?}\n");
    for (sort, name) in passed {
        let at = sorts.iter().position(|other| other == sort).expect("it is one of them");
        for name in [(*name).to_owned(), format!("{name}_c")] {
            let Some((_, rest)) = bindings.split_once(&format!("pub fn PMPI_{name}(")) else { continue };
            let Some((arguments, _)) = rest.split_once(") -> ::std::os::raw::c_int;") else { continue };
            text += &format!("{at} MPI_{name} PMPI_{name} ({});\n", arguments.trim().trim_end_matches(','));
        }
    }
    text + "}\n"
}

/// What the shim calls, and (for the check of their signatures) what it wraps.
const FUNCTIONS: &str = "P?MPI_(\
    Init|Init_thread|Query_thread|Finalize|\
    [BSR]?s?s?[Ss]end(_init)?(_c)?|I[bsr]?s?send(_c)?|I?[Rr]ecv(_init)?(_c)?|I?[Mm]recv(_c)?|\
    I?[Ss]endrecv(_replace)?(_c)?|I?[Mm]?[Pp]robe|Start|Startall|\
    Wait(any|all|some)?|Test(any|all|some)?|Test_cancelled|Cancel|Request_free|Request_get_status|Buffer_detach(_c)?|\
    Comm_(size|rank|create|group|remote_group|remote_size|test_inter|get_attr|set_attr|create_keyval|free_keyval|dup|dup_with_info|set_info|free|split_type|set_errhandler|call_errhandler)|\
    Group_(size|translate_ranks|free)|\
    Type_(dup|size_x|get_extent|get_envelope(_c)?|get_contents(_c)?|free|create_struct|contiguous|commit)|\
    Get_elements_x|Status_set_elements_x|Status_set_cancelled|Get_address|\
    I?([Bb]cast|[Ss]catterv?|[Gg]atherv?|[Aa]llgatherv?|[Aa]lltoall[vw]?)(_c)?|\
    Grequest_start|Grequest_complete|Iallreduce|Allreduce|Reduce|Info_get|Add_error_code|Add_error_string)";
