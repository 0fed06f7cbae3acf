//! Fuzz: runs every target of `fuzz/` for some time, from seeds made of the golden files.
//!
//! Does what cargo-fuzz does, without installing it: libFuzzer, coverage, AddressSanitizer. `RUSTC_BOOTSTRAP` lets the stable compiler accept the
//! sanitizer's flag.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command};

use crate::error::Error;
use crate::paths::{Paths, create_folder};
use crate::step::{self, Done, Step, tail};
use crate::toolchain;

/// Coverage as libFuzzer needs it. There is one codegen unit, because with several, some lose the passes.
const COVERAGE: &str = "--cfg fuzzing -Ccodegen-units=1 -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares";
const SANITIZER: &str = "-Zsanitizer=address";

/// The maximum length of an input in bytes; longer ones find little more and are slow.
const MAX_LEN: usize = 6000;
/// The time limit for one input. An input this short that takes longer reveals unbounded work.
const INPUT_LIMIT_SECONDS: u32 = 25;

/// The step that runs all targets, or only this one, for `seconds` each.
pub(crate) fn step(paths: &Paths, seconds: u32, only: Option<String>) -> Step<'_> {
    Step::call("fuzz targets", move || run(paths, seconds, only.as_deref()))
}

/// The command that does the same for all targets.
pub(crate) fn command(paths: &Paths, seconds: u32) -> Command {
    let mut command = paths.cargo();
    command.args(["xtask", "fuzz", "--seconds", &seconds.to_string()]);
    command
}

/// Compiles all targets and runs them, or only this one, for `seconds` each, one per processor at a time.
///
/// # Errors
/// If a target finds something, has no seeds, or is not instrumented.
fn run(paths: &Paths, seconds: u32, only: Option<&str>) -> Result<Done, Error> {
    let mut targets = targets(paths)?;
    if let Some(only) = only {
        targets.retain(|target| target == only);
    }
    if targets.is_empty() {
        let run = format!("fuzz target {}", only.unwrap_or("of any name"));
        return Err(Error::Program { run, message: "there is none in fuzz/fuzz_targets".to_owned() });
    }
    let libraries = toolchain::libraries(paths, &triple());
    let sanitizer = libraries.iter().any(|name| name.ends_with("_rt.asan.a"));
    build(paths, sanitizer)?;
    step::run("seeds of the fuzz targets", Command::new("sh").arg(paths.root().join("fuzz/seeds.sh")))?;

    let at_a_time = std::thread::available_parallelism().map_or(1, usize::from);
    let mut found = Vec::new();
    for some in targets.chunks(at_a_time) {
        // Start all of them before waiting for any.
        let running: Vec<_> = some.iter().map(|target| Fuzzing::start(paths, target, seconds)).collect();
        let ended: Vec<_> = running.into_iter().map(|running| running.and_then(Fuzzing::end)).collect();
        for outcome in ended {
            found.push(outcome?);
        }
    }
    let how =
        if sanitizer { "AddressSanitizer" } else { "without AddressSanitizer, which this toolchain lacks" };
    Ok(Done::Ran(format!("{seconds} s each, {how}; inputs: {}", found.join(", "))))
}

/// The names of all targets, sorted.
fn targets(paths: &Paths) -> Result<Vec<String>, Error> {
    let dir = paths.root().join("fuzz/fuzz_targets");
    let mut targets = Vec::new();
    for entry in fs::read_dir(&dir).map_err(Error::file(&dir))? {
        let path = entry.map_err(Error::file(&dir))?.path();
        targets.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
    }
    targets.sort();
    Ok(targets)
}

/// The host triple. Naming it explicitly makes cargo compile build scripts and macros without the flags.
fn triple() -> String {
    format!("{}-unknown-linux-gnu", std::env::consts::ARCH)
}

fn build(paths: &Paths, sanitizer: bool) -> Result<(), Error> {
    let mut cargo = paths.cargo();
    cargo.current_dir(paths.root().join("fuzz"));
    cargo.args(["build", "--release", "--locked", "--bins", "--target", &triple(), "--target-dir"]);
    cargo.arg(paths.target("fuzz"));
    let flags = if sanitizer { format!("{COVERAGE} {SANITIZER}") } else { COVERAGE.to_owned() };
    step::run("build of the fuzz targets", cargo.env("RUSTFLAGS", flags).env("RUSTC_BOOTSTRAP", "1"))
}

/// A running target.
struct Fuzzing {
    target: String,
    log: PathBuf,
    process: Child,
}

impl Fuzzing {
    fn start(paths: &Paths, target: &str, seconds: u32) -> Result<Self, Error> {
        let seeds = paths.root().join("fuzz/corpus").join(target);
        if fs::read_dir(&seeds).map_or(true, |mut files| files.next().is_none()) {
            return Err(failure(target, "it has no seeds; fuzz/seeds.sh makes them".to_owned()));
        }
        let artifacts = paths.root().join("fuzz/artifacts").join(target);
        create_folder(&artifacts)?;
        let dir = paths.target("fuzz");
        let log = dir.join(format!("{target}.log"));
        let output = File::create(&log).map_err(Error::file(&log))?;
        let mut command = Command::new(dir.join(triple()).join("release").join(target));
        command.arg(&seeds).arg(format!("-artifact_prefix={}/", artifacts.display()));
        command.arg(format!("-max_total_time={seconds}")).arg(format!("-max_len={MAX_LEN}"));
        command.arg(format!("-timeout={INPUT_LIMIT_SECONDS}")).arg("-print_final_stats=1");
        command.stdout(output.try_clone().map_err(Error::file(&log))?).stderr(output);
        let process = command.spawn().map_err(Error::file(command.get_program()))?;
        Ok(Self { target: target.to_owned(), log, process })
    }

    /// Waits for the end and returns the number of inputs as text.
    fn end(mut self) -> Result<String, Error> {
        let status = self.process.wait().map_err(Error::file(&self.log))?;
        let log = fs::read(&self.log).map_err(Error::file(&self.log))?;
        let log = String::from_utf8_lossy(&log);
        if !status.success() {
            eprintln!("{}", tail(&log, 60));
            let message = format!("{status}; all of it in {}", self.log.display());
            return Err(failure(&self.target, message));
        }
        let Inputs { run, edges } = inputs(&log).ok_or_else(|| {
            failure(&self.target, format!("no sign of work or of coverage in {}", self.log.display()))
        })?;
        eprintln!("    {}: {run} inputs, {edges} edges covered", self.target);
        Ok(format!("{} {run}", self.target))
    }
}

fn failure(target: &str, message: String) -> Error {
    Error::Program { run: format!("fuzz target {target}"), message }
}

/// The result of a target that found nothing.
#[derive(Debug, PartialEq)]
struct Inputs {
    run: u64,
    /// Covered edges of the control flow.
    edges: u64,
}

/// Parses libFuzzer's output; `None` if no input was run or no code is instrumented.
fn inputs(log: &str) -> Option<Inputs> {
    let number = |text: &str| text.split_whitespace().next()?.parse().ok();
    let run = log.lines().find_map(|line| number(line.strip_prefix("stat::number_of_executed_units:")?))?;
    let edges = log.lines().rev().find_map(|line| number(line.split_once(" cov: ")?.1))?;
    (run > 0 && edges > 0).then_some(Inputs { run, edges })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_libfuzzer_prints_is_understood() {
        let log = "INFO: Seed: 3045875843\n#367\tINITED cov: 7498 ft: 12755 corp: 180/357Kb exec/s: 0 rss: 152Mb\n\
            #16666\tDONE   cov: 7502 ft: 12781 corp: 181/359Kb lim: 6000 exec/s: 0 rss: 153Mb\n\
            stat::number_of_executed_units: 16666\nstat::average_exec_per_sec:     1851\n";
        assert_eq!(inputs(log), Some(Inputs { run: 16666, edges: 7502 }));
        assert_eq!(inputs(&log.replace("cov: 7", "cov: 0 7")), None, "nothing instrumented");
        assert_eq!(inputs("INFO: Seed: 1\n"), None);
    }

    #[test]
    fn every_target_is_one_of_the_crate() {
        let paths = Paths::find().unwrap();
        let manifest = fs::read_to_string(paths.root().join("fuzz/Cargo.toml")).unwrap();
        let targets = targets(&paths).unwrap();
        assert!(targets.iter().any(|target| target == "roundtrip"));
        for target in &targets {
            assert!(manifest.contains(&format!("name = \"{target}\"\n")), "{target}");
        }
        assert_eq!(manifest.matches("[[bin]]").count(), targets.len());
    }
}
