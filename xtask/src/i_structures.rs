//! I-structures: measures Table 1 and figures 1 to 3 of *Incomplete Information Processing for Optimization of Distributed Applications* on the
//! paper's network, 100 Mbit/s, and shows them next to the paper's figures (docs/i-structures.md).

mod figures;
mod paper;
mod plots;
mod text;

use std::path::PathBuf;
use std::time::Duration;

use mpress_cluster::{Cluster, Config, Finished, Launcher, Mpi, Rate};

use crate::error::Error;
use crate::paths::Paths;
use crate::progress::Progress;
use crate::step;
use figures::{BLOCKS, Figures, Mode, PROGRAMS, RANKS, Row};

/// The paper's network.
const RATE: Rate = Rate::mbit(100);
/// The paper's cluster: four nodes with two processors each.
const NODES: usize = 4;
/// The time limit of a run; one that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(600);
/// MPICH sometimes hangs at its end; the cluster recognises this and tries again.
const TRIES: u32 = 20;

/// The output format.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Tables, and the targets.
    Text,
    /// Rows `program,mode,block,ranks,messages,seconds`.
    Csv,
}

/// The choices.
#[derive(Clone, clap::Args)]
pub(crate) struct Options {
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// With this MPI
    #[arg(long, default_value = "openmpi")]
    mpi: Mpi,
    /// Number of runs of each program; the median is reported
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Only with blocks of this many elements; 1 includes the runs without a cache
    #[arg(long, value_name = "CB", value_parser = block)]
    block: Option<u64>,
    /// File for the plots of figures 1 to 3; target/i-structures.svg if not given
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

/// Builds, measures, compares.
pub(crate) fn run(paths: &Paths, options: &Options) -> Result<(), Error> {
    let mpi = options.mpi;
    let (mut cargo, target) = (paths.cargo(), paths.target(mpi.name()));
    cargo.args(["build", "--release", "-p", "mpress-i-structures", "--features", "mpi"]);
    cargo.args(["--example", "programs", "--target-dir"]).arg(&target).env("MPICC", mpi.mpicc());
    step::run(&format!("build of the programs for {}", mpi.title()), &mut cargo)?;
    let program = target.join("release/examples/programs");

    let mut progress = Progress::new((RANKS.len() * PROGRAMS.len() * (1 + BLOCKS.len())) as u64);
    let mut rows = Vec::new();
    for ranks in RANKS {
        let nodes = ranks.min(NODES);
        let cluster = Cluster::new(Config { nodes, rate: Some(RATE) })?;
        let jobs = std::iter::once((1, &[Mode::Dis][..]))
            .chain(BLOCKS.map(|block| (block, &[Mode::Dissc, Mode::Residual][..])));
        for (block, modes) in jobs.filter(|(block, _)| options.block.is_none_or(|only| only == *block)) {
            for name in PROGRAMS {
                progress.begin(&format!("{name}, {ranks} ranks, blocks of {block}"));
                let mut job = Launcher::Cluster(&cluster).mpirun(mpi, ranks / nodes);
                job.pinned();
                let names: Vec<_> = modes.iter().map(|mode| mode.name()).collect();
                let (block, runs) = (block.to_string(), options.runs.to_string());
                job.program(&program).args([name, &names.join(","), "--csv"]);
                job.args(["--block", &block, "--runs", &runs]);
                let worked = |out: &[u8]| parse(out).is_some_and(|rows| rows.len() == modes.len());
                let Finished { output, .. } = job.run_patiently(LIMIT, TRIES, worked)?;
                let run = || format!("{name} with {ranks} ranks and blocks of {block}");
                let found = parse(&output.stdout).filter(|_| output.status.success());
                rows.extend(found.ok_or_else(|| Error::Program {
                    run: run(),
                    message: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
                })?);
            }
        }
    }
    drop(progress);

    let figures = Figures::new(rows);
    let plot = options.plot.clone().unwrap_or_else(|| paths.target("i-structures.svg"));
    plots::write(&plot, &figures)
        .map_err(|error| Error::Program { run: plot.display().to_string(), message: error.to_string() })?;
    match options.format {
        Format::Csv => print!("{}", figures.csv()),
        Format::Text => {
            println!("{}, {RATE}, medians of {} runs", mpi.title(), options.runs);
            print!("{}", text::of(&figures));
        }
    }
    eprintln!("figures 1 to 3: {}", plot.display());
    Ok(())
}

/// A length of blocks that is measured.
fn block(text: &str) -> Result<u64, String> {
    let block = BLOCKS.into_iter().find(|block| block.to_string() == text);
    block.ok_or_else(|| format!("there are {BLOCKS:?}"))
}

/// The rows that a program printed, if they are complete.
fn parse(output: &[u8]) -> Option<Vec<Row>> {
    let text = std::str::from_utf8(output).ok()?;
    let (whole, _) = text.rsplit_once('\n')?;
    whole.lines().map(Row::parse).collect()
}
