//! The list of calls, the exports of the shim, and the page in `docs` are the same.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]
#![allow(missing_docs, reason = "a test")]

#[path = "../../pmpi-shim/build/calls.rs"]
#[allow(dead_code, reason = "the build needs the rest")]
mod calls;

use calls::{Section, Treatment};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const TABLE: &str = include_str!("../../pmpi-shim/src/calls.txt");

/// The preload library under test.
fn preload_library() -> Option<PathBuf> {
    let library = std::env::var_os("MPRESS_TEST_SHIM").map(PathBuf::from);
    if library.is_none() {
        // Not by `eprintln!`: the harness hides the output of a passing test.
        let _shown =
            writeln!(std::io::stderr(), "SKIPPED: MPRESS_TEST_SHIM is not set (`cargo xtask test` sets it)");
    }
    library
}

fn output_of(command: &str, args: &[&str], library: &Path) -> String {
    let output = Command::new(command).args(args).arg(library).output().unwrap();
    assert!(output.status.success(), "{command}: {}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

/// The names that a library exports.
fn exported(library: &Path) -> BTreeSet<String> {
    let text = output_of("nm", &["-D", "--defined-only"], library);
    text.lines().filter_map(|line| line.split_whitespace().nth(2)).map(str::to_owned).collect()
}

/// Those with this prefix, without it.
fn of<'a>(names: &'a BTreeSet<String>, prefix: &str) -> BTreeSet<&'a str> {
    names.iter().filter_map(|name| name.strip_prefix(prefix)).collect()
}

/// The libraries that a library is linked to.
fn needed(library: &Path) -> Vec<String> {
    let text = output_of("readelf", &["-d"], library);
    let lines = text.lines().filter(|line| line.contains("(NEEDED)"));
    lines.filter_map(|line| line.split(['[', ']']).nth(1)).map(str::to_owned).collect()
}

/// Every child of a program loads it, too.
#[test]
fn the_preload_library_needs_libc_alone() {
    let Some(library) = preload_library() else { return };
    let needed = needed(&library);
    assert!(
        needed.iter().all(|name| name.starts_with("libc.") || name.starts_with("ld-linux")),
        "{needed:?}"
    );
}

#[test]
fn what_is_exported_is_the_table_under_both_names() {
    let Some(library) = preload_library() else { return };
    let names = exported(&library);
    let (mpi, pmpi) = (of(&names, "MPI_"), of(&names, "PMPI_"));
    assert_eq!(mpi, pmpi);
    // Called by `mpress-rsmpi`.
    assert!(names.contains("mpress_shim_is_active"));
    assert_eq!(mpi.len() + pmpi.len() + 1, names.len(), "{names:?}");

    let sections = calls::parse(TABLE);
    let table: Vec<&str> = sections.iter().flat_map(|section| &section.calls).copied().collect();
    let every: BTreeSet<&str> = table.iter().copied().collect();
    assert_eq!(every.len(), table.len(), "a call is in the table twice");
    let exported: BTreeSet<&str> = mpi.iter().map(|name| name.strip_suffix("_c").unwrap_or(name)).collect();
    assert_eq!(exported, every);
}

#[test]
fn each_shim_has_a_function_for_each_call_and_needs_no_mpi_but_open_mpis() {
    let Some(library) = preload_library() else { return };
    let preload = exported(&library);
    let calls = of(&preload, "MPI_");
    for abi in ["openmpi", "mpich", "standard"] {
        let shim = library.with_file_name(format!("libmpress_shim_{abi}.so"));
        let mpis: Vec<_> = needed(&shim).into_iter().filter(|name| name.starts_with("libmpi")).collect();
        // Open MPI's constants are addresses of variables.
        assert_eq!(mpis, if abi == "openmpi" { vec!["libmpi.so.40"] } else { vec![] }, "{abi}");

        let names = exported(&shim);
        // Under names that no program uses.
        assert_eq!(of(&names, "mpress_MPI_"), calls);
        // Called by the preload library.
        assert_eq!(of(&names, "mpress_shim_"), BTreeSet::from(["attach", "is_active"]));
        // Called by the test of panics.
        assert!(names.contains("mpress_provoke_panic"));
        assert_eq!(calls.len() + 3, names.len(), "{names:?}");
    }
}

/// The page, generated from the table.
fn page(sections: &[Section<'_>]) -> String {
    let mut page = "# The calls that the shim wraps\n\n\
        Made from `pmpi-shim/src/calls.txt`; a test compares this page, that table and the exported functions. Names are without `MPI_`. Each call\n\
        includes its large-count form (`..._c`), if the MPI has one, and its `PMPI_` name.\n\n\
        | calls | | what mpress does |\n| --- | --- | --- |\n"
        .to_owned();
    let row = |page: &mut String, section: &Section<'_>| {
        let names: Vec<_> = section.calls.iter().map(|call| format!("`{call}`")).collect();
        let what = if section.what.is_empty() { String::new() } else { format!(" {} |", section.what) };
        writeln!(page, "| {} | {} |{what}", section.name, names.join(" ")).unwrap();
    };
    let is_passed =
        |section: &&Section<'_>| matches!(section.treatment, Treatment::Passed | Treatment::Advancing);
    sections.iter().filter(|section| !is_passed(section)).for_each(|section| row(&mut page, section));
    for (treatment, what) in [
        (Treatment::Passed, "Passed to the MPI unchanged, and counted for the report:"),
        (Treatment::Advancing, "Passed to the MPI unchanged, after mpress has advanced pending operations:"),
    ] {
        page += &format!("\n{what}\n\n| calls | |\n| --- | --- |\n");
        let of = sections.iter().filter(|section| section.treatment == treatment);
        of.for_each(|section| row(&mut page, section));
    }
    page + "\nNo other call is wrapped.\n"
}

#[test]
fn the_page_is_made_from_the_table() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/calls.md");
    let sections = calls::parse(TABLE);
    assert!(sections.iter().map(|section| section.calls.len()).sum::<usize>() > 100);
    let page = page(&sections);
    if std::env::var_os("WRITE_DOCS").is_some() {
        std::fs::write(&file, &page).unwrap();
    }
    assert_eq!(
        std::fs::read_to_string(&file).unwrap(),
        page,
        "WRITE_DOCS=1 cargo test --test table writes it"
    );
}
