//! Test: everything there is to test, the same at home and in CI.

use mpress_cluster::Mpi;

use crate::build;
use crate::mpi4py;
use crate::paths::Paths;
use crate::step::Step;
use crate::toolchain;

/// Tests at SIMD levels fail unless this level is the highest they find.
const REQUIRED: &str = "MPRESS_REQUIRE_LEVEL";

/// The crates whose kernels exist once per SIMD level.
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

/// The steps, cheapest knowledge first.
pub(crate) fn steps(paths: &Paths) -> Vec<Step<'_>> {
    let mut all = test(paths, "test");
    // What is no default of the engine, but what the shim has.
    all.args(["--features", "mpress/rayon"]).env(REQUIRED, highest_level());
    let mut steps = vec![Step::new(format!("test of all crates, levels to {}", highest_level()), all)];
    for level in ["scalar", "avx2"] {
        let name = format!("test of the kernels, level {level}");
        if level == "avx2" && highest_level() == "scalar" {
            steps.push(Step::skipped(name, "this processor has no AVX2"));
            continue;
        }
        let mut command = test(paths, level);
        // The first step went through every level already; here it is the flag that is tested, and building all tests again
        // would take most of the time.
        command.args(KERNELS).args(["--lib", "--test", "golden"]).env("RUSTFLAGS", flags(level));
        command.env(REQUIRED, level);
        steps.push(Step::new(name, command));
    }
    steps.extend(no_std(paths));
    for mpi in Mpi::ALL {
        steps.push(Step::new(format!("shim for {}", mpi.title()), build::shim(paths, mpi)));
        let mut command = test(paths, mpi.name());
        command.args(["-p", "mpress-pmpi-shim", "-p", "mpress-preload"]).env("MPICC", mpi.mpicc());
        command.env("MPRESS_TEST_SHIM", paths.built_preload(mpi)).env("MPRESS_TEST_MPI", mpi.name());
        // The first step has built it.
        command.env("MPRESS_TEST_COMMAND", paths.target("test").join("debug/mpress"));
        steps.push(Step::new(format!("test of the shim with {}", mpi.title()), command));
        let mut command = test(paths, mpi.name());
        command.args(["-p", "mpress-rsmpi"]).env("MPICC", mpi.mpicc());
        command.env("MPRESS_TEST_SHIM", paths.built_preload(mpi)).env("MPRESS_TEST_MPI", mpi.name());
        steps.push(Step::new(format!("test of the rsmpi adapter with {}", mpi.title()), command));
        let name = format!("mpi4py with {}", mpi.title());
        steps.push(Step::call(name, move || mpi4py::run(paths, mpi, &mpi4py::SOME)));
    }
    steps
}

/// The steps of `cargo xtask conformance`: what `test` has no time for, or of that what is asked for.
pub(crate) fn conformance(paths: &Paths, mpi: Option<Mpi>, ranks: Option<usize>) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    for mpi in Mpi::ALL.into_iter().filter(|&one| mpi.is_none_or(|only| only == one)) {
        steps.push(Step::new(format!("shim for {}", mpi.title()), build::shim(paths, mpi)));
        let runs = ranks.map_or_else(|| mpi4py::ALL.to_vec(), |ranks| vec![mpi4py::Run::all(ranks)]);
        let name = format!("mpi4py with {}", mpi.title());
        steps.push(Step::call(name, move || mpi4py::run(paths, mpi, &runs)));
    }
    steps
}

/// `cargo test` in a target directory of its own.
fn test(paths: &Paths, target: &str) -> std::process::Command {
    let mut command = paths.cargo();
    command.args(["test", "--target-dir"]).arg(paths.target(target));
    // Optimised, or the codecs take minutes; with overflow checks and debug assertions, unlike a release build.
    command.env("CARGO_PROFILE_DEV_OPT_LEVEL", "2").env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only");
    command
}

/// The flag that forces a level, after those the caller has set.
fn flags(level: &str) -> String {
    let own = std::env::var("RUSTFLAGS").unwrap_or_default();
    format!("{own} --cfg mpress_level=\"{level}\"").trim_start().to_owned()
}

/// The highest level that the kernels have and this processor can run, found without the project's own code, which is tested.
fn highest_level() -> &'static str {
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

/// Builds of what needs no std: here, without an operating system, and with 32 bits.
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
