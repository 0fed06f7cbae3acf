//! Ping-pong: the time of a small or incompressible message with and without mpress, and for the rsmpi adapter also of long smooth ones. A
//! measurement, not a test.

pub(crate) mod streams;

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use mpress_cluster::{Cluster, Config, Job, Launcher, Mpi, Rate};

use crate::build;
use crate::error::Error;
use crate::median::median;
use crate::paths::Paths;
use crate::step;

/// The time limit of a run; one that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(60);
/// The number of alternations of plain and mpress; their medians are compared.
const TURNS: usize = 5;
/// MPICH sometimes hangs at its end; the cluster recognises this and tries again.
const TRIES: u32 = 20;

/// The layer that compresses.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Layer {
    /// The shim, under a C program.
    Shim,
    /// The rsmpi adapter.
    Rsmpi,
    /// The shim, under a C program that sends long messages of its own data; measured only if named
    ///
    /// `MPRESS_*` variables are passed on.
    Streams,
}

/// Bytes, exchanges on this host and on the cluster, payload.
type Case = (&'static str, &'static str, &'static str, &'static str);

/// Cases of a C program with and without the shim.
const SHIM: [Case; 3] = [
    ("8", "200000", "20000", "smooth"),
    ("512", "200000", "20000", "smooth"),
    ("1048576", "2000", "60", "random"),
];
/// Cases of a program that uses rsmpi's methods and the adapter's.
const ADAPTER: [Case; 4] = [
    ("8", "100000", "20000", "smooth"),
    ("1024", "100000", "20000", "smooth"),
    ("1048576", "500", "60", "smooth"),
    ("1048576", "500", "60", "random"),
];

/// Measures on this host and, where permitted, on an emulated cluster of 1 Gbit/s.
pub(crate) fn run(paths: &Paths, only: Option<Layer>, options: &streams::Options) -> Result<(), Error> {
    if only == Some(Layer::Streams) {
        return streams::run(paths, options);
    }
    let wanted = |layer| only.is_none_or(|only| only == layer);
    if wanted(Layer::Shim) {
        Mpi::ALL.into_iter().try_for_each(|mpi| build::for_mpi(paths, mpi))?;
    }
    let cluster = match Cluster::permitted() {
        Ok(()) => Some(Cluster::new(Config { nodes: 2, rate: Some(Rate::mbit(1000)) })?),
        Err(reason) => {
            eprintln!("SKIPPED: the emulated cluster: {reason}");
            None
        }
    };
    println!(
        "{:<9} {:<10} {:<13} {:>8} {:<7} {:>11} {:>11} {:>6}",
        "layer", "MPI", "network", "bytes", "payload", "plain us", "mpress us", "ratio"
    );
    for mpi in Mpi::ALL {
        if wanted(Layer::Shim) {
            let (program, mpress) = (c_program(paths, mpi, "pingpong")?, paths.mpress());
            let start = |job: &mut Job, case: Case, ours: bool| {
                match ours {
                    true => job.program(&mpress).args(["run", "--"]).arg(&program),
                    false => job.program(&program),
                }
                .args([case.0, case.1, case.3]);
            };
            measure("shim", mpi, cluster.as_ref(), &SHIM, &start)?;
        }
        if wanted(Layer::Rsmpi) {
            let program = adapter_program(paths, mpi)?;
            let start = |job: &mut Job, case: Case, ours: bool| {
                let methods = if ours { "compressed" } else { "plain" };
                job.program(&program).args([case.0, case.1, methods, case.3]);
            };
            measure("rsmpi", mpi, cluster.as_ref(), &ADAPTER, &start)?;
        }
    }
    Ok(())
}

/// Passes the caller's `MPRESS_` variables to a job, which otherwise gets none.
pub(crate) fn pass_settings(job: &mut Job) {
    for (name, value) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"MPRESS_") {
            job.env(name, value);
        }
    }
}

/// Builds a program of `benches/mpi`.
fn c_program(paths: &Paths, mpi: Mpi, name: &str) -> Result<PathBuf, Error> {
    let program = paths.examples(mpi).join(name);
    let mut compiler = Command::new(mpi.mpicc());
    compiler.arg("-O2").arg("-o").arg(&program);
    compiler.arg(paths.root().join(format!("benches/mpi/{name}.c"))).arg("-lm");
    step::run(&format!("build of {name} for {}", mpi.title()), &mut compiler)?;
    Ok(program)
}

fn adapter_program(paths: &Paths, mpi: Mpi) -> Result<PathBuf, Error> {
    let (mut cargo, target) = (paths.cargo(), paths.target(mpi.name()));
    cargo.args(["build", "--release", "-p", "mpress-rsmpi", "--example", "ping_pong", "--target-dir"]);
    cargo.arg(&target).env("MPICC", mpi.mpicc());
    step::run(&format!("build of the rsmpi ping-pong for {}", mpi.title()), &mut cargo)?;
    Ok(target.join("release/examples/ping_pong"))
}

/// Prints a line for each network and case. `start` makes a job of a case, with mpress or without.
fn measure(
    layer: &str,
    mpi: Mpi,
    cluster: Option<&Cluster>,
    cases: &[Case],
    start: &dyn Fn(&mut Job, Case, bool),
) -> Result<(), Error> {
    let launchers = [("this host", Some(Launcher::Local)), ("1 Gbit/s", cluster.map(Launcher::Cluster))];
    for (network, launcher) in launchers {
        let Some(launcher) = launcher else { continue };
        for &(bytes, local, remote, payload) in cases {
            let exchanges = if matches!(launcher, Launcher::Local) { local } else { remote };
            let (mut plain, mut ours) = (Vec::new(), Vec::new());
            for _ in 0..TURNS {
                for (mpress, times) in [(false, &mut plain), (true, &mut ours)] {
                    let mut job = launcher.mpirun(mpi, 2 / launcher.nodes());
                    // An encoder's threads would share its rank's processor.
                    if std::env::var_os("MPRESS_THREADS").is_none() {
                        job.pinned();
                    }
                    start(&mut job, (bytes, exchanges, exchanges, payload), mpress);
                    let finished = job.run_patiently(LIMIT, TRIES, |stdout| time_us(stdout).is_some())?;
                    times.push(time_us(&finished.output.stdout).ok_or_else(|| no_time(mpi))?);
                }
            }
            let (plain, ours) = (median(plain), median(ours));
            println!(
                "{layer:<9} {:<10} {network:<13} {bytes:>8} {payload:<7} {plain:>11.3} {ours:>11.3} {:>6.3}",
                mpi.title(),
                ours / plain
            );
        }
    }
    Ok(())
}

/// The median that the program printed, if its line is complete.
fn time_us(stdout: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(stdout).ok()?;
    let (line, _) = text.rsplit_once('\n')?;
    line.split("median_us ").nth(1)?.split(' ').next()?.parse().ok()
}

fn no_time(mpi: Mpi) -> Error {
    Error::Program { run: format!("pingpong, {}", mpi.title()), message: "gave no time".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_read_from_a_whole_line() {
        assert_eq!(time_us(b"bytes 8 rounds 9 median_us 0.283 p90_us 0.494\n"), Some(0.283));
        assert_eq!(time_us(b"bytes 8 rounds 9 median_us 0.283 p90"), None);
        assert_eq!(time_us(b"usage\n"), None);
    }
}
