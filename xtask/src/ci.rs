//! CI: format, lints and documentation, all tests, then the report page, packages and fuzzing. Warnings are errors only here.

use mpress_cluster::Mpi;

use crate::paths::Paths;
use crate::step::Step;
use crate::{browser, dist, fuzz, package, test};

/// The time for each fuzz target.
const FUZZ_SECONDS: u32 = 3;

/// The steps, quickest first.
pub(crate) fn steps(paths: &Paths) -> Vec<Step<'_>> {
    let cargo = |args: &[&str]| {
        let mut command = paths.cargo();
        command.args(args);
        command
    };
    let deny = ["--", "-D", "warnings"];
    let mut steps = vec![Step::new("format", cargo(&["fmt", "--all", "--check"]))];
    // These are separate workspaces.
    for name in ["fuzz", "codec/no-std-proof"] {
        let mut format = cargo(&["fmt", "--check", "--manifest-path"]);
        format.arg(paths.root().join(name).join("Cargo.toml"));
        steps.push(Step::new(format!("format of {name}"), format));
    }

    // Of the three crates that use an MPI, two always need it and the third needs it with its feature.
    let mut clippy =
        cargo(&["clippy", "--workspace", "--exclude", "mpress-layer", "--exclude", "mpress-rsmpi"]);
    clippy.args(["--exclude", "mpress-i-structures", "--all-targets", "--all-features"]).args(deny);
    steps.push(Step::new("lints", clippy));
    let mut clippy = cargo(&["clippy", "-p", "mpress-i-structures", "--all-targets"]);
    clippy.args(deny);
    steps.push(Step::new("lints of i-structures without an MPI", clippy));
    // For one MPI only: the other compiles the same lines.
    let mpi = Mpi::OpenMpi;
    let mut clippy = cargo(&["clippy", "--all-targets", "--target-dir"]);
    clippy.arg(paths.target(mpi.name())).args(test::PER_MPI).env("MPICC", mpi.mpicc()).args(deny);
    steps.push(Step::new("lints of the rsmpi adapter and i-structures", clippy));

    let mut doc = cargo(&["doc", "--no-deps"]);
    doc.env("RUSTDOCFLAGS", "-D warnings");
    steps.push(Step::new("documentation", doc));
    let mut doc = cargo(&["doc", "--no-deps", "--target-dir"]);
    doc.arg(paths.target(mpi.name())).args(test::PER_MPI);
    doc.env("MPICC", mpi.mpicc()).env("RUSTDOCFLAGS", "-D warnings");
    steps.push(Step::new("documentation of the rsmpi adapter and i-structures", doc));

    steps.extend(test::steps(paths));
    steps.push(browser::step(dist::Parts::tested(paths).into_command(), paths));
    steps.push(package::step(paths));
    steps.push(fuzz::step(paths, FUZZ_SECONDS, None));
    steps
}
