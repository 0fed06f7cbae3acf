//! CI: format, lints and documentation, then all tests. Warnings are errors only here.

use crate::paths::Paths;
use crate::step::Step;
use crate::test;

/// The steps, quickest first.
pub(crate) fn steps(paths: &Paths) -> Vec<Step<'_>> {
    let cargo = |args: &[&str]| {
        let mut command = paths.cargo();
        command.args(args);
        command
    };
    let mut steps = vec![Step::new("format", cargo(&["fmt", "--all", "--check"]))];
    // These are separate workspaces.
    for name in ["fuzz", "codec/no-std-proof"] {
        let mut format = cargo(&["fmt", "--check", "--manifest-path"]);
        format.arg(paths.root().join(name).join("Cargo.toml"));
        steps.push(Step::new(format!("format of {name}"), format));
    }
    let deny = ["--", "-D", "warnings"];
    let mut clippy = test::for_the_mpi(paths, "clippy");
    clippy.args(["--all-targets", "--all-features"]).args(deny);
    steps.push(Step::new("lints", clippy));
    let mut clippy = cargo(&["clippy", "-p", "mpress-i-structures", "--all-targets"]);
    clippy.args(deny);
    steps.push(Step::new("lints of i-structures without an MPI", clippy));
    let mut doc = test::for_the_mpi(paths, "doc");
    doc.arg("--no-deps").env("RUSTDOCFLAGS", "-D warnings");
    steps.push(Step::new("documentation", doc));
    steps.extend(test::steps(paths, true));
    steps
}
