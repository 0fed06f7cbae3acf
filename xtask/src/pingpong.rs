//! Ping-pong: what a message costs with and without mpress, small ones and incompressible ones. A measurement, not a test.

use std::process::Command;
use std::time::Duration;

use mpress_cluster::{Cluster, Config, Launcher, Mpi, Rate};

use crate::build;
use crate::error::Error;
use crate::paths::Paths;
use crate::step;

/// Far beyond any run here: what takes this long hangs.
const LIMIT: Duration = Duration::from_secs(60);
/// Plain and with mpress in turn, this often; medians over these are compared.
const TURNS: usize = 5;
/// MPICH hangs at its end now and then; the cluster knows the case and tries again.
const TRIES: u32 = 20;

/// Bytes, exchanges on this host and on the cluster, payload.
const CASES: [(&str, &str, &str, &str); 3] = [
    ("8", "200000", "20000", "smooth"),
    ("512", "200000", "20000", "smooth"),
    ("1048576", "2000", "60", "random"),
];

/// Measures on this host and, where permitted, on an emulated cluster of 1 Gbit/s.
pub(crate) fn run(paths: &Paths) -> Result<(), Error> {
    build::for_mpis(paths, &Mpi::ALL)?;
    let cluster = match Cluster::permitted() {
        Ok(()) => Some(Cluster::new(Config { nodes: 2, rate: Some(Rate::mbit(1000)) })?),
        Err(reason) => {
            eprintln!("SKIPPED: the emulated cluster: {reason}");
            None
        }
    };
    println!(
        "{:<10} {:<13} {:>8} {:<7} {:>11} {:>11} {:>6}",
        "MPI", "network", "bytes", "payload", "plain us", "mpress us", "ratio"
    );
    for mpi in Mpi::ALL {
        let program = paths.examples(mpi).join("pingpong");
        let mut compiler = Command::new(mpi.mpicc());
        compiler
            .arg("-O2")
            .arg("-o")
            .arg(&program)
            .arg(paths.root().join("benches/mpi/pingpong.c"))
            .arg("-lm");
        step::run(&format!("build of pingpong for {}", mpi.title()), &mut compiler)?;
        let launchers =
            [("this host", Some(Launcher::Local)), ("1 Gbit/s", cluster.as_ref().map(Launcher::Cluster))];
        for (network, launcher) in launchers {
            let Some(launcher) = launcher else { continue };
            for (bytes, local, remote, payload) in CASES {
                let exchanges = if matches!(launcher, Launcher::Local) { local } else { remote };
                let (mut plain, mut ours) = (Vec::new(), Vec::new());
                for _ in 0..TURNS {
                    for (shim, times) in [(false, &mut plain), (true, &mut ours)] {
                        let mut job = launcher.mpirun(mpi, 2 / launcher.nodes());
                        if shim {
                            job.program(paths.mpress()).args(["run", "--"]).arg(&program);
                        } else {
                            job.program(&program);
                        }
                        job.args([bytes, exchanges, payload]);
                        let finished = job.run_patiently(LIMIT, TRIES, |stdout| time_us(stdout).is_some())?;
                        times.push(time_us(&finished.output.stdout).ok_or_else(|| no_time(mpi))?);
                    }
                }
                let (plain, ours) = (median(plain), median(ours));
                println!(
                    "{:<10} {network:<13} {bytes:>8} {payload:<7} {plain:>11.3} {ours:>11.3} {:>6.3}",
                    mpi.title(),
                    ours / plain
                );
            }
        }
    }
    Ok(())
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The median that the program printed, once its line is complete.
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

    #[test]
    fn the_median_is_the_middle_one() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert!(median(Vec::new()).is_nan());
    }
}
