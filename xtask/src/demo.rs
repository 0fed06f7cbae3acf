//! Demo: runs simulations (one of them with observers on other ranks) and a shuffle of random data on an emulated cluster, with and without mpress,
//! and compares them.

mod measure;
mod table;
mod verdict;

use std::thread;
use std::time::{Duration, Instant};

use mpress_cluster::{Cluster, Config, Launcher, Mpi, Rate};

use crate::build;
use crate::error::Error;
use crate::paths::Paths;
use crate::progress::Progress;
use measure::{Run, Variant, measure};
use verdict::Case;

const NODES: usize = 2;
const RANKS: usize = 4;
const MPI: Mpi = Mpi::OpenMpi;

/// A link, and what runs over it.
struct Link {
    rate: Rate,
    /// The time limit of the measurements; a further round starts only if it fits.
    allowance: Duration,
    programs: &'static [&'static str],
    /// The minimum number of processors per rank; with fewer, the machine would be measured, not the link.
    processors: usize,
}

/// The links, slowest first. Random data has the most to lose. On the fastest link, where small halos gain little, a program with long frames also
/// runs. At 10 Gbit/s the kernel's network code needs a processor for each rank.
const LINKS: [Link; 3] = [
    Link {
        rate: Rate::mbit(100),
        allowance: Duration::from_secs(100),
        programs: &SIMULATIONS,
        processors: 0,
    },
    Link {
        rate: Rate::gbit(1),
        allowance: Duration::from_secs(90),
        programs: &["euler3d", "reaction3d", NOISE],
        processors: 0,
    },
    Link {
        rate: Rate::gbit(10),
        allowance: Duration::from_secs(60),
        programs: &["euler3d", "reaction3d", "grains", NOISE],
        processors: 2,
    },
];
const SIMULATIONS: [&str; 2] = ["euler3d", "reaction3d"];
const NOISE: &str = "shuffle";

/// Rounds per link; the table shows medians.
const ROUNDS: u32 = 5;

/// Builds, measures, compares.
pub(crate) fn run(paths: &Paths) -> Result<(), Error> {
    eprintln!(
        "demo: first the build of mpress, about 4 minutes on 2 cores; then the measurements, about 3 minutes"
    );
    build::for_mpi(paths, MPI)?;
    match Cluster::permitted() {
        Ok(()) => on_cluster(paths),
        Err(mpress_cluster::Error::NotPermitted(reason)) => on_this_host(paths, &reason),
        Err(error) => Err(error.into()),
    }
}

fn on_cluster(paths: &Paths) -> Result<(), Error> {
    let title = MPI.title();
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let (links, left_out): (Vec<_>, Vec<_>) =
        LINKS.into_iter().partition(|link| processors >= link.processors * RANKS);
    eprintln!("demo: {NODES} emulated nodes, {RANKS} ranks of {title}, medians of up to {ROUNDS} rounds");
    for link in left_out {
        eprintln!(
            "demo: not at {}: with {RANKS} ranks on {processors} processors, the machine would be measured, not the link",
            link.rate
        );
    }
    let runs: u64 = links.iter().map(|link| runs_a_round(link.programs)).sum();
    let mut progress = Progress::new(u64::from(ROUNDS) * runs);
    let mut cases = Vec::new();
    for link in &links {
        let cluster = Cluster::new(Config { nodes: NODES, rate: Some(link.rate) })?;
        let start = Instant::now();
        let mut here: Vec<_> =
            link.programs.iter().map(|program| Case::new(program, &link.rate.to_string())).collect();
        for round in 1..=ROUNDS {
            one_round(paths, Launcher::Cluster(&cluster), &mut here, round, &mut progress)?;
            if start.elapsed() + start.elapsed() / round > link.allowance {
                progress.skip(u64::from(ROUNDS - round) * runs_a_round(link.programs));
                break;
            }
        }
        cases.extend(here);
        cluster.tear_down()?;
    }
    drop(progress);
    println!("\n{}", table::of(&cases));
    let links: Vec<_> = links.iter().map(|link| link.rate.to_string()).collect();
    let (noise, simulations): (Vec<_>, Vec<_>) = cases.into_iter().partition(|case| case.program == NOISE);
    conclude(verdict::of_results(&noise).and_then(|()| {
        let of_noise = noise.iter().map(|case| format!("{:.2} at {}", case.speedup(), case.link));
        Ok(format!(
            "{}; noise {}",
            verdict::of(&simulations, &links)?,
            of_noise.collect::<Vec<_>>().join(", ")
        ))
    }))
}

/// The number of runs in a round: every program, without and with mpress.
const fn runs_a_round(programs: &[&str]) -> u64 {
    2 * programs.len() as u64
}

/// Plain and compressed runs alternate, so that other load on the machine affects both.
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

/// Without a network, this only shows that the results are the same.
fn on_this_host(paths: &Paths, reason: &str) -> Result<(), Error> {
    eprintln!("demo: {reason}");
    eprintln!("demo: so both programs run on this host, where mpress is made to compress all the same");
    let mut progress = Progress::new(runs_a_round(&SIMULATIONS));
    let mut cases: Vec<_> = SIMULATIONS.iter().map(|program| Case::new(program, "this host")).collect();
    one_round(paths, Launcher::Local, &mut cases, 1, &mut progress)?;
    drop(progress);
    for case in &cases {
        println!("{}: digest {}; {}", case.program, case.digest().unwrap_or("differs"), case.report());
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
