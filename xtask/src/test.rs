//! Test: all tests, the same locally and in CI.

use mpress_cluster::Mpi;

use std::process::Command;

use crate::build;
use crate::dist;
use crate::mpi4py;
use crate::mpis;
use crate::paths::Paths;
use crate::step::{self, Done, Step};
use crate::toolchain;

/// Tests at SIMD tiers fail unless this is the highest tier that they find.
const REQUIRED: &str = "MPRESS_REQUIRE_SIMD";

/// The crates whose kernels exist once per SIMD tier.
const KERNELS: [&str; 14] = [
    "-p",
    "mpress-codec",
    "-p",
    "mpress-dfcm",
    "-p",
    "mpress-diffpack",
    "-p",
    "mpress-fpc",
    "-p",
    "mpress-rice",
    "-p",
    "mpress-rle-huffman",
    "-p",
    "mpress-datatype",
];

/// The steps, quickest first.
pub(crate) fn steps(paths: &Paths) -> Vec<Step<'_>> {
    let mut all = test(paths, "test");
    // This feature is not a default of the engine, but the shim has it.
    all.args(["--features", "mpress/rayon"]).env(REQUIRED, highest_tier());
    let mut steps = vec![Step::new(format!("test of all crates, tiers to {}", highest_tier()), all)];
    for tier in ["scalar", "avx2"] {
        let name = format!("test of the kernels, tier {tier}");
        // The tier that is the highest here is what the first step tests without a flag.
        if tier == highest_tier() || highest_tier() == "scalar" {
            steps.push(Step::skipped(name, "it would test what the step before did, on this processor"));
            continue;
        }
        let mut command = test(paths, tier);
        // The first step tested every tier already; this one tests the flag. Building all tests again would take most of the time.
        command.args(KERNELS).args(["--lib", "--test", "golden"]).env("RUSTFLAGS", flags(tier));
        command.env(REQUIRED, tier);
        steps.push(Step::new(name, command));
    }
    steps.extend(no_std(paths));
    let mut libraries = build::libraries(paths);
    // Link-time optimisation of all crates would take longer than the tests with an MPI.
    libraries.env("CARGO_PROFILE_RELEASE_LTO", "off").env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
    steps.push(Step::new("preload library and shims", libraries));
    steps.push(dist::check::step(paths, dist::Parts::tested(paths)));
    for mpi in Mpi::ALL {
        steps.push(Step::new(format!("test of the shim with {}", mpi.title()), shim(paths, mpi, &ALL)));
        steps.push(adapter(paths, mpi));
    }
    // With MPICH, whose ranks keep all processors busy, it takes twice as long; `conformance` runs both.
    let name = format!("mpi4py with {}", Mpi::OpenMpi.title());
    steps.push(Step::call(name, || mpi4py::run(paths, Mpi::OpenMpi, &mpi4py::SOME)));
    let words = &["every_call_on_this_host", "prototypes", "constants"];
    steps.extend(NEWER.into_iter().map(|mpi| wheel(paths, mpi, &["abi", "transparent"], words)));
    steps
}

/// Tests of the crates that are built for one MPI.
fn adapter(paths: &Paths, mpi: Mpi) -> Step<'_> {
    const TARGET: &str = "adapter";
    let name = format!("test of the rsmpi adapter and i-structures with {}", mpi.title());
    Step::call(name.clone(), move || {
        // In one target directory, as most dependencies are the same for all MPIs; only this one does not notice that the MPI is another.
        let mut clean = paths.cargo();
        clean.args(["clean", "--quiet", "--package", "mpi-sys", "--target-dir"]);
        step::run(&name, clean.arg(paths.target(TARGET)))?;
        let mut command = test(paths, TARGET);
        command.args(PER_MPI).env("MPICC", mpi.mpicc());
        command.env("MPRESS_TEST_SHIM", paths.built_preload()).env("MPRESS_TEST_MPI", mpi.name());
        step::run(&name, &mut command)?;
        Ok(Done::Ran("passed".to_owned()))
    })
}

/// A newer MPI for each ABI that Debian's MPICH does not have, as far as `test` has time.
const NEWER: [Mpi; 2] = [Mpi::OpenMpi5, Mpi::Mpich5Standard];

/// The packages that are built once per MPI, into separate target directories.
pub(crate) const PER_MPI: [&str; 8] = [
    "-p",
    "mpress-layer",
    "-p",
    "mpress-rsmpi",
    "-p",
    "mpress-i-structures",
    "--features",
    "mpress-i-structures/mpi",
];

/// All tests of `preload/tests`.
const ALL: [&str; 14] = [
    "abi",
    "ahead",
    "device",
    "failures",
    "family",
    "first_call",
    "links",
    "modules",
    "network",
    "preload",
    "recording",
    "table",
    "transparent",
    "work",
];

/// Tests of the shim with an MPI.
fn shim(paths: &Paths, mpi: Mpi, tests: &[&str]) -> Command {
    let mut command = test(paths, "test");
    // With the features of the first step, which has built it: for the package alone dependencies would have other features.
    command.args(["--features", "mpress/rayon"]).args(tests.iter().flat_map(|test| ["--test", test]));
    command.env("MPRESS_TEST_SHIM", paths.built_preload()).env("MPRESS_TEST_MPI", mpi.name());
    command.env("MPRESS_TEST_COMMAND", paths.target("test").join("debug/mpress"));
    command
}

/// These tests of the shim with an MPI from PyPI; if `words` is not empty, only those whose names contain one of the words.
fn wheel<'a>(paths: &'a Paths, mpi: Mpi, tests: &'a [&'a str], words: &'a [&'a str]) -> Step<'a> {
    let name = format!("test of the shim with {}", mpi.title());
    Step::call(name.clone(), move || {
        if let Err(reason) = mpis::ensure(paths, mpi)? {
            return Ok(Done::Skipped(reason));
        }
        let mut command = shim(paths, mpi, tests);
        step::run(&name, command.env("PATH", mpis::path(paths)).arg("--").args(words))?;
        Ok(Done::Ran("passed".to_owned()))
    })
}

/// The steps of `cargo xtask mpis`.
pub(crate) fn mpis(paths: &Paths, only: Option<Mpi>) -> Vec<Step<'_>> {
    let mut steps = vec![Step::new("preload library and shims", build::libraries(paths))];
    for mpi in Mpi::every().filter(|&one| only.is_none_or(|only| only == one)) {
        steps.push(wheel(paths, mpi, &["abi", "transparent", "preload"], &[]));
        let name = format!("mpi4py with {}", mpi.title());
        steps.push(Step::call(name, move || mpi4py::run(paths, mpi, &mpi4py::SOME)));
    }
    steps
}

/// The steps of `cargo xtask conformance`: those that `test` has no time for, or only the requested ones.
pub(crate) fn conformance(paths: &Paths, mpi: Option<Mpi>, ranks: Option<usize>) -> Vec<Step<'_>> {
    let mut steps = vec![Step::new("preload library and shims", build::libraries(paths))];
    for mpi in mpi.map_or_else(|| Mpi::ALL.to_vec(), |mpi| vec![mpi]) {
        let runs = ranks.map_or_else(|| mpi4py::ALL.to_vec(), |ranks| vec![mpi4py::Run::all(ranks)]);
        let name = format!("mpi4py with {}", mpi.title());
        let run = move || match mpis::ensure(paths, mpi)? {
            Ok(()) => mpi4py::run(paths, mpi, &runs),
            Err(reason) => Ok(Done::Skipped(reason)),
        };
        steps.push(Step::call(name, run));
    }
    steps
}

/// `cargo test` in a separate target directory.
fn test(paths: &Paths, target: &str) -> Command {
    let mut command = paths.cargo();
    command.args(["test", "--target-dir"]).arg(paths.target(target));
    // Dependencies are most of what is compiled, but little of what takes time at run time.
    command.args(["--config", "profile.dev.package.\"*\".opt-level=1"]);
    // Optimised, or the codecs take minutes; with overflow checks and debug assertions, unlike a release build. Panics say where they are in any case.
    command.env("CARGO_PROFILE_DEV_OPT_LEVEL", "2").env("CARGO_PROFILE_DEV_DEBUG", "none");
    command
}

/// The flags of the caller, and the one that forces a tier.
fn flags(tier: &str) -> String {
    let own = std::env::var("RUSTFLAGS").unwrap_or_default();
    format!("{own} --cfg mpress_simd=\"{tier}\"").trim_start().to_owned()
}

/// The highest tier that the kernels have and this processor supports. Does not use the project's own detection, which is under test.
fn highest_tier() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        let avx2 = has!("avx2") && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt");
        let avx512 = has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl");
        let avx512 = avx512 && has!("avx512cd") && has!("avx512vbmi") && has!("avx512vbmi2");
        match (avx2, avx512 && has!("fma") && has!("f16c")) {
            (true, true) => "avx512",
            (true, false) => "avx2",
            _ => "scalar",
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    "scalar"
}

/// Builds of the crates that do not need std: for this system, without an operating system, and for 32 bits.
fn no_std(paths: &Paths) -> Vec<Step<'_>> {
    let build = || {
        let mut command = paths.cargo();
        command.current_dir(paths.root().join("codec/no-std-proof"));
        command.args(["build", "--release", "--locked", "--target-dir"]).arg(paths.target("no-std"));
        command
    };
    let mut steps = vec![Step::new("build without std", build())];
    let mut alloc = build();
    alloc.args(["--features", "alloc"]);
    steps.push(Step::new("build without std, with an allocator", alloc));
    for target in ["x86_64-unknown-none", "thumbv7em-none-eabi", "i686-unknown-linux-gnu"] {
        let name = format!("build without std for {target}");
        if !toolchain::has_core(paths, target) {
            steps.push(Step::skipped(name, "this toolchain does not have the target"));
            continue;
        }
        let mut command = build();
        command.args(["--features", "alloc", "--target", target]);
        steps.push(Step::new(name, command));
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_tests_of_the_shim_are_run() {
        let dir = Paths::find().unwrap().root().join("preload/tests");
        let names =
            std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.filter_map(|name| Some(name.strip_suffix(".rs")?.to_owned())).collect();
        names.sort();
        assert_eq!(names, ALL);
    }
}
