//! Test: what a newcomer runs, and the rest (`--all`), the same locally and in CI.

use std::fs;
use std::path::Path;
use std::process::Command;

use mpress_cluster::{Cluster, Family, Mpi};

use crate::error::Error;
use crate::paths::Paths;
use crate::step::{self, Done, Step};
use crate::{browser, build, dist, fuzz, mpi4py, mpis, package, page, setup, toolchain};

/// Tests at SIMD tiers fail unless this is the highest tier that they find.
const REQUIRED: &str = "MPRESS_REQUIRE_SIMD";

/// The percentage of the random schedules of messages that run; before a release, 100.
const SCHEDULES: &str = "MPRESS_TEST_SCHEDULES";

/// The MPI that the whole workspace is built for.
const MPI: Mpi = Mpi::OpenMpi;

/// The seconds for each fuzz target.
const FUZZ_SECONDS: u32 = 3;

/// The steps of `cargo xtask test`: all published crates, the whole shim with one MPI, every call with the other. `all` adds longer steps: other
/// tiers, other MPIs, third-party suites, packages, the pages that are followed, and the tests of the project's own tools.
pub(crate) fn steps(paths: &Paths, all: bool) -> Vec<Step<'_>> {
    let extent = if all { Extent::All } else { Extent::Promises };
    let mut crates = extent.cargo(paths, "test");
    crates.args(["--exclude", "mpress-shim-tests"]);
    let others: Vec<_> = every().into_iter().filter(|test| *test != LONGEST).collect();
    let mut steps = vec![valgrind(all)];
    steps.extend(two_nodes(&Cluster::permitted()));
    steps.extend([
        build(paths, extent),
        Step::both(
            format!("test of all crates, tiers to {}, and of the shim with {}", highest_tier(), MPI.title()),
            vec![with_shim(paths, crates, MPI), shim(paths, extent, MPI, &[LONGEST], &[])],
            // MPI jobs spend half of their time waiting at their start and end.
            vec![shim(paths, extent, MPI, &others, &[])],
            paths.tested("tests-of-the-shim.log"),
        )
        .on_the_build(),
    ]);
    let mpich = format!("test of the shim with {}", Mpi::Mpich.title());
    if !all {
        steps.push(
            Step::new(mpich, shim(paths, extent, Mpi::Mpich, &NEWER_TESTS, &NEWER_WORDS)).on_the_build(),
        );
        steps.push(dist::check::tar_alone(paths, dist::Parts::tested(paths)).on_the_build());
        return steps;
    }
    steps.push(
        Step::both(
            format!("{mpich}, and fuzz targets"),
            vec![shim(paths, extent, Mpi::Mpich, &OF_EACH_MPI, &[])],
            // Most of it is compilation, in a separate target directory.
            vec![fuzz::command(paths, FUZZ_SECONDS)],
            paths.tested("fuzz.log"),
        )
        .on_the_build(),
    );
    let name = format!("test of receiving ahead with {}", Mpi::Mpich.title());
    steps.push(Step::new(name, shim(paths, extent, Mpi::Mpich, &AHEAD.0, &AHEAD.1)).on_the_build());
    steps.push(adapter(paths, extent, Mpi::Mpich));
    steps.extend(NEWER.into_iter().map(|mpi| wheel(paths, extent, mpi, &NEWER_TESTS, &NEWER_WORDS)));
    // With MPICH, whose ranks keep all processors busy, it takes twice as long; `conformance` runs both.
    let name = format!("mpi4py with {}", MPI.title());
    steps.push(Step::call(name, || mpi4py::run(paths, MPI, &mpi4py::SOME)).on_the_build());
    steps.extend(forced_tiers(paths));
    steps.extend(no_std(paths));
    steps.push(dist::check::step(paths, dist::Parts::tested(paths)).on_the_build());
    steps.push(browser::step(dist::Parts::tested(paths).command, paths).on_the_build());
    steps.push(package::step(paths));
    steps.extend(page::steps(paths));
    steps
}

/// Tests of the C interface need valgrind, and pass without it.
fn valgrind(install: bool) -> Step<'static> {
    const VALGRIND: &str = "valgrind";
    Step::call("valgrind for the C interface", move || {
        Ok(match setup::is_on_path(VALGRIND) || (install && setup::offer(VALGRIND)) {
            true => Done::Ran("found".to_owned()),
            false => Done::Skipped(format!("there is no {VALGRIND}")),
        })
    })
}

/// The step that says that all tests between two nodes will be skipped. They pass without an emulated cluster.
fn two_nodes(cluster: &Result<(), mpress_cluster::Error>) -> Option<Step<'static>> {
    let reason = cluster.as_ref().err()?.to_string();
    Some(Step::skipped("tests between two nodes", reason))
}

/// The packages whose tests are built. They are always given together: cargo gives dependencies the features that all of them want, so a step for
/// only some of them would compile everything again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// Without benchmarks and the project's own commands.
    Promises,
    All,
}

impl Extent {
    /// Builds tests and everything that they use.
    fn build(self, paths: &Paths) -> Command {
        let mut command = self.cargo(paths, "build");
        command.args(["--lib", "--bins", "--tests", "--examples"]);
        command
    }

    /// A command of cargo for these packages, built for the MPI.
    fn cargo(self, paths: &Paths, verb: &str) -> Command {
        let mut command = paths.cargo();
        command.args([verb, "--workspace", "--features", "mpress-i-structures/mpi"]);
        if self == Self::Promises {
            command.args(["--exclude", "mpress-benches", "--exclude", "xtask"]);
        }
        if std::env::var_os(SCHEDULES).is_none() {
            command.env(SCHEDULES, "5");
        }
        command.env("MPICC", MPI.mpicc());
        command
    }
}

/// A command of cargo for the whole workspace, built for one MPI: the others compile the same lines.
pub(crate) fn for_the_mpi(paths: &Paths, verb: &str) -> Command {
    Extent::All.cargo(paths, verb)
}

/// Tests that run with an MPI and the shim, at the highest tier of this machine.
fn with_shim(paths: &Paths, mut tests: Command, mpi: Mpi) -> Command {
    tests.env("MPRESS_TEST_SHIM", paths.tested(build::BUILT_PRELOAD)).env("MPRESS_TEST_MPI", mpi.name());
    tests.env("MPRESS_TEST_COMMAND", paths.tested("mpress")).env(REQUIRED, highest_tier());
    tests
}

/// These tests of `shim-tests/tests` with an MPI; if `words` is not empty, only those whose names contain one of the words.
fn shim(paths: &Paths, extent: Extent, mpi: Mpi, tests: &[&str], words: &[&str]) -> Command {
    let mut command = extent.cargo(paths, "test");
    command.args(tests.iter().flat_map(|test| ["--test", test])).arg("--").args(words);
    with_shim(paths, command, mpi)
}

/// Tests of the crates that are built for one MPI, in the same target directory, so that only these crates are recompiled.
fn adapter(paths: &Paths, extent: Extent, mpi: Mpi) -> Step<'_> {
    let name = format!("test of the rsmpi adapter and i-structures with {}", mpi.title());
    let call = {
        let name = name.clone();
        move || {
            built_for(paths, mpi)?;
            // `cargo test --examples` would run the examples as tests, and would not rebuild the programs that the tests run.
            let mut build = extent.build(paths);
            build.env("MPICC", mpi.mpicc());
            let mut tests = with_shim(paths, extent.cargo(paths, "test"), mpi);
            tests.args(["--test", "examples", "--test", "over_mpi"]).env("MPICC", mpi.mpicc());
            let done = step::run(&name, &mut build).and_then(|()| step::run(&name, &mut tests));
            built_for(paths, MPI)?;
            done.map(|()| Done::Ran("passed".to_owned()))
        }
    };
    Step::call(name, call).on_the_build()
}

/// Prepares the target directory for builds for the MPI that the whole workspace is built for.
pub(crate) fn prepare(paths: &Paths) -> Result<(), Error> {
    built_for(paths, MPI)
}

/// Removes files built for another MPI. Only `mpi-sys` does not notice that the MPI has changed.
fn built_for(paths: &Paths, mpi: Mpi) -> Result<(), Error> {
    if !is_for_another(&paths.tested("build"), mpi) {
        return Ok(());
    }
    let mut clean = paths.cargo();
    clean.args(["clean", "--quiet", "--profile", "dev", "--package", "mpi-sys"]);
    step::run("removal of what was built for another MPI", &mut clean)
}

/// Whether `mpi-sys` in this folder, where cargo keeps what build scripts say, links another of Debian's MPIs than this one.
fn is_for_another(folder: &Path, mpi: Mpi) -> bool {
    let library = if mpi.family() == Family::Mpich { "mpich" } else { "mpi" };
    let wanted = format!("cargo:rustc-link-lib={library}");
    let folders = fs::read_dir(folder).into_iter().flatten().flatten();
    let builds = folders.filter(|folder| folder.file_name().to_string_lossy().starts_with("mpi-sys-"));
    let mut said = builds.filter_map(|folder| fs::read_to_string(folder.path().join("output")).ok());
    said.any(|said| !said.lines().any(|line| line == wanted))
}

/// A newer MPI for each ABI that Debian's MPICH does not have, as far as there is time.
const NEWER: [Mpi; 2] = [Mpi::OpenMpi5, Mpi::Mpich5Standard];

/// The tests that show that the shim fits an MPI: all prototypes and constants, and every call.
const NEWER_TESTS: [&str; 2] = ["abi", "transparent"];
const NEWER_WORDS: [&str; 3] = ["every_call_on_this_host", "prototypes", "constants"];

/// The tests of receiving ahead that run with another MPI, and the words in their names.
const AHEAD: ([&str; 1], [&str; 1]) = (["ahead"], ["every_call"]);

/// The tests of `shim-tests/tests` whose outcome depends on more of the MPI than how it waits.
const OF_EACH_MPI: [&str; 8] =
    ["abi", "failures", "first_call", "network", "preload", "single", "transparent", "work"];

/// The test of the shim that takes longest.
const LONGEST: &str = "transparent";

/// Tests that need only one MPI: the table of calls, and parts above the MPI (recording, links of jobs, device memory, receiving ahead).
const OF_ONE_MPI: [&str; 7] = ["ahead", "device", "family", "links", "modules", "recording", "table"];

/// All tests of the shim.
fn every() -> Vec<&'static str> {
    [&OF_EACH_MPI[..], &OF_ONE_MPI].concat()
}

/// These tests of the shim with an MPI from PyPI; if `words` is not empty, only those whose names contain one of the words.
fn wheel<'a>(
    paths: &'a Paths,
    extent: Extent,
    mpi: Mpi,
    tests: &'a [&'a str],
    words: &'a [&'a str],
) -> Step<'a> {
    let name = format!("test of the shim with {}", mpi.title());
    Step::call(name.clone(), move || {
        if let Err(reason) = mpis::ensure(paths, mpi)? {
            return Ok(Done::Skipped(reason));
        }
        let mut command = shim(paths, extent, mpi, tests, words);
        step::run(&name, command.env("PATH", mpis::path(paths)))?;
        Ok(Done::Ran("passed".to_owned()))
    })
    .on_the_build()
}

/// The steps of `cargo xtask mpis`; all tests of the shim if one of Debian's MPIs is requested.
pub(crate) fn mpis(paths: &Paths, only: Option<Mpi>) -> Vec<Step<'_>> {
    static EVERY: std::sync::LazyLock<Vec<&str>> = std::sync::LazyLock::new(every);
    let mut steps = vec![build(paths, Extent::Promises)];
    for mpi in Mpi::every().filter(|&one| only.is_none_or(|only| only == one)) {
        let tests = match only {
            Some(only) if Mpi::ALL.contains(&only) => &EVERY[..],
            _ => &["abi", "single", "transparent", "preload"],
        };
        steps.push(wheel(paths, Extent::Promises, mpi, tests, &[]));
        let name = format!("mpi4py with {}", mpi.title());
        steps.push(Step::call(name, move || mpi4py::run(paths, mpi, &mpi4py::SOME)));
    }
    steps
}

/// The steps of `cargo xtask conformance`: those for which `test` has no time, or only the requested ones.
pub(crate) fn conformance(paths: &Paths, mpi: Option<Mpi>, ranks: Option<usize>) -> Vec<Step<'_>> {
    let mut steps = vec![build(paths, Extent::Promises)];
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

/// The step that builds the tests, and the files that they run and preload.
fn build(paths: &Paths, extent: Extent) -> Step<'static> {
    Step::new("build of tests, command and libraries", extent.build(paths)).that_builds()
}

/// Tests of the flag that forces a tier. The kernels of all tiers are tested without it. The flag is read in one place, and one codec represents all
/// (a test in this file ensures that).
fn forced_tiers(paths: &Paths) -> impl Iterator<Item = Step<'_>> {
    ["scalar", "avx2"].into_iter().map(|tier| {
        let name = format!("test of the flag for tier {tier}");
        if tier == highest_tier() || highest_tier() == "scalar" {
            return Step::skipped(name, "this processor has no higher tier");
        }
        let mut command = paths.cargo();
        command.args(["test", "--target-dir"]).arg(paths.target(tier));
        command.args(["-p", "mpress-codec", "-p", "mpress-diffpack", "--lib", "--test", "golden"]);
        command.env("RUSTFLAGS", flags(tier)).env(REQUIRED, tier);
        Step::new(name, command)
    })
}

/// The flags of the caller, and the one that forces a tier.
fn flags(tier: &str) -> String {
    let own = std::env::var("RUSTFLAGS").unwrap_or_default();
    format!("{own} --cfg mpress_simd=\"{tier}\"").trim_start().to_owned()
}

/// The highest tier of this build: the one forced by the caller's flags, or the processor's.
fn highest_tier() -> &'static str {
    let own = std::env::var("RUSTFLAGS").unwrap_or_default();
    let forces = |tier: &&str| own.contains(&format!("mpress_simd=\"{tier}\""));
    ["scalar", "avx2"].into_iter().find(forces).unwrap_or_else(tier_of_the_processor)
}

/// The highest tier that the kernels have and this processor supports. Does not use the project's own detection, which is under test.
fn tier_of_the_processor() -> &'static str {
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

/// Checks of the crates that do not need std: for this system, without an operating system, and for 32 bits. `check` finds a second panic handler or
/// allocator as a build does, without generating code.
fn no_std(paths: &Paths) -> Vec<Step<'_>> {
    let check = |arguments: &[&str]| {
        let mut command = paths.cargo();
        command.current_dir(paths.root().join("codec/no-std-proof"));
        command.args(["check", "--locked", "--target-dir"]).arg(paths.target("no-std")).args(arguments);
        command
    };
    let mut steps = vec![
        Step::new("check without std", check(&[])),
        Step::new("check without std, with an allocator", check(&["--features", "alloc"])),
    ];
    for target in [
        "x86_64-unknown-none",
        "thumbv7em-none-eabi",
        "i686-unknown-linux-gnu",
        "powerpc64le-unknown-linux-gnu",
    ] {
        let name = format!("check without std for {target}");
        steps.push(match toolchain::has_core(paths, target) {
            true => Step::new(name, check(&["--features", "alloc", "--target", target])),
            false => Step::skipped(name, "this toolchain does not have the target"),
        });
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_is_read_in_one_place() {
        let root = Paths::find().unwrap().root().to_owned();
        let mut command = Command::new("grep");
        command.current_dir(root).args(["-rlF", "--include=*.rs", "--exclude-dir=target", "mpress_simd = "]);
        let output =
            command.args(["codec", "dfcm", "diffpack", "fpc", "rice", "rle-huffman", "datatype"]).output();
        assert_eq!(String::from_utf8_lossy(&output.unwrap().stdout), "codec/src/simd.rs\n");
    }

    #[test]
    fn all_tests_of_the_shim_are_run() {
        let dir = Paths::find().unwrap().root().join("shim-tests/tests");
        let names =
            std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.filter_map(|name| Some(name.strip_suffix(".rs")?.to_owned())).collect();
        names.sort();
        let mut run = every();
        run.sort_unstable();
        assert_eq!(names, run);
    }

    /// A filter that matches nothing passes.
    #[test]
    fn every_word_of_a_filter_is_in_the_name_of_a_test() {
        let dir = Paths::find().unwrap().root().join("shim-tests/tests");
        for (tests, words) in [(&NEWER_TESTS[..], &NEWER_WORDS[..]), (&AHEAD.0, &AHEAD.1)] {
            let read = |test: &&str| fs::read_to_string(dir.join(format!("{test}.rs"))).unwrap();
            let text: String = tests.iter().map(read).collect();
            for word in words {
                let is_named = |part: &str| part.split('(').next().is_some_and(|name| name.contains(word));
                assert!(text.split("#[test]\nfn ").skip(1).any(is_named), "{word}");
            }
        }
    }

    #[test]
    fn tests_that_cannot_run_between_nodes_are_a_step_that_is_skipped() {
        assert!(two_nodes(&Ok(())).is_none());
        let not_root = Err(mpress_cluster::Error::NotPermitted("not root".to_owned()));
        let step = two_nodes(&not_root).unwrap();
        let (name, reason) = step.why_skipped().unwrap();
        assert!(name.contains("between two nodes") && reason.contains("not root"), "{name}: {reason}");
    }

    #[test]
    fn what_is_linked_decides_what_is_built_again() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_for_another(folder.path(), Mpi::OpenMpi));
        let said = |build: &str, library: &str| {
            let text = format!("cargo:rustc-link-lib=static=rsmpi\ncargo:rustc-link-lib={library}\n");
            crate::paths::write(&folder.path().join(build).join("output"), text).unwrap();
        };
        said("mpi-sys-1", "mpi");
        said("mpress-layer-1", "mpich");
        assert!(!is_for_another(folder.path(), Mpi::OpenMpi));
        assert!(is_for_another(folder.path(), Mpi::Mpich));
        // By hand, for one package alone.
        said("mpi-sys-2", "mpich");
        assert!(is_for_another(folder.path(), Mpi::OpenMpi) && is_for_another(folder.path(), Mpi::Mpich));
    }
}
