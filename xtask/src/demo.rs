//! Demo: two simulations on an emulated cluster, with and without mpress, and what that is worth.

mod measure;
mod table;
mod verdict;

use std::time::{Duration, Instant};

use mpress_cluster::{Cluster, Config, Launcher, Mpi, Rate};

use crate::build::{self, EXAMPLES};
use crate::error::Error;
use crate::paths::Paths;
use crate::progress::Progress;
use measure::{Run, Variant, measure};
use verdict::Case;

const NODES: usize = 2;
const RANKS: usize = 4;
const MPI: Mpi = Mpi::OpenMpi;

/// The links, slowest first, and how long each may be measured: a further round starts only if it fits.
const LINKS: [(Rate, Duration); 2] =
    [(Rate::mbit(100), Duration::from_secs(105)), (Rate::gbit(1), Duration::from_secs(60))];

/// Rounds per link; the table shows medians.
const ROUNDS: u32 = 3;

/// Every program, without and with mpress.
const RUNS_A_ROUND: u64 = 2 * EXAMPLES.len() as u64;

/// Builds, measures, compares.
pub(crate) fn run(paths: &Paths) -> Result<(), Error> {
    build::for_mpis(paths, &[MPI])?;
    match Cluster::permitted() {
        Ok(()) => on_cluster(paths),
        Err(mpress_cluster::Error::NotPermitted(reason)) => on_this_host(paths, &reason),
        Err(error) => Err(error.into()),
    }
}

fn on_cluster(paths: &Paths) -> Result<(), Error> {
    let title = MPI.title();
    eprintln!("demo: {NODES} emulated nodes, {RANKS} ranks of {title}, medians of up to {ROUNDS} rounds");
    let mut progress = Progress::new(LINKS.len() as u64 * u64::from(ROUNDS) * RUNS_A_ROUND);
    let mut cases = Vec::new();
    for (rate, allowance) in LINKS {
        let cluster = Cluster::new(Config { nodes: NODES, rate: Some(rate) })?;
        let start = Instant::now();
        let mut here: Vec<_> =
            EXAMPLES.iter().map(|(program, _)| Case::new(program, &rate.to_string())).collect();
        for round in 1..=ROUNDS {
            one_round(paths, Launcher::Cluster(&cluster), &mut here, round, &mut progress)?;
            if start.elapsed() + start.elapsed() / round > allowance {
                progress.skip(u64::from(ROUNDS - round) * RUNS_A_ROUND);
                break;
            }
        }
        cases.extend(here);
        cluster.tear_down()?;
    }
    drop(progress);
    println!("\n{}", table::of(&cases));
    let links = LINKS.map(|(rate, _)| rate.to_string());
    conclude(verdict::of(&cases, &links))
}

/// Plain and compressed runs take turns, so that what else the machine does meets both.
fn one_round(
    paths: &Paths,
    launcher: Launcher<'_>,
    cases: &mut [Case],
    round: u32,
    progress: &mut Progress,
) -> Result<(), Error> {
    for case in cases {
        for variant in [Variant::Plain, Variant::Mpress] {
            progress.begin(&format!("{}, {}, {}, round {round}", case.link, case.program, variant.name()));
            let run = measure(paths, launcher, MPI, RANKS, &case.program, variant)?;
            case.add(variant, run);
        }
    }
    Ok(())
}

/// What can be shown without a network: that the results are the same.
fn on_this_host(paths: &Paths, reason: &str) -> Result<(), Error> {
    eprintln!("demo: {reason}");
    eprintln!("demo: so both programs run on this host, where mpress is made to compress all the same");
    let mut progress = Progress::new(RUNS_A_ROUND);
    let mut cases: Vec<_> = EXAMPLES.iter().map(|(program, _)| Case::new(program, "this host")).collect();
    one_round(paths, Launcher::Local, &mut cases, 1, &mut progress)?;
    drop(progress);
    for case in &cases {
        println!("{}: digest {}; {}", case.program, case.digest().unwrap_or("differs"), case.report());
        if !case.report().contains(" in frames ") {
            let message = "mpress compressed nothing, so the digests prove nothing".to_owned();
            return Err(Error::Program { run: case.program.clone(), message });
        }
    }
    conclude(verdict::of_results(&cases).map(|()| {
        format!("identical results; no speedup was measured, since there is no network to emulate ({reason})")
    }))
}

fn conclude(verdict: Result<String, String>) -> Result<(), Error> {
    match verdict {
        Ok(text) => {
            println!("verdict: {text}");
            Ok(())
        }
        Err(text) => {
            println!("verdict: RESULTS DIFFER: {text}");
            Err(Error::ResultsDiffer)
        }
    }
}
