//! `mpress calibrate`: heuristics files for this machine and network. Formats: `docs/format/heuristics.md`.

mod codecs;
mod data;
mod file;
mod memory;
mod network;
mod plugin;
mod progress;

use crate::{launcher, libraries};
use clap::Args;
use mpress::knowledge::{
    COMPRESSION_FILE, CodecBehaviour, CompressionFile, MEMORY_FILE, MeasuredLink, MemoryFile, NETWORK_FILE,
    NetworkFile,
};
use mpress_datatype::Machine;
use plugin::Session;
use progress::Progress;
use std::path::PathBuf;
use std::time::Instant;

/// Measurements of the network: up to twelve lengths, and all ranks together.
const STEPS: usize = 12 + 1;

/// Measure the network and the codecs, so that mpress decides well from the first message
///
/// Give it to mpirun in place of a program, with as many ranks on every node as your
/// programs have, on two nodes or more:
///
///     mpirun -n 64 mpress calibrate --out heuristics
///     export MPRESS_HEURISTICS=$PWD/heuristics
///
/// It writes network.toml (latency and bandwidth, between nodes and inside a node),
/// compression.toml (how much and how fast each codec compresses data of each kind on
/// this machine, with cold caches) and memory.toml (sizes of pages, TLB and caches, for packing derived
/// datatypes), in less than a minute. Without mpirun, or on one node, it does not write
/// network.toml, because there is no network to measure.
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Options {
    /// The folder for the files; created if it does not exist
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,

    /// The library of the MPI that measures the network, a name such as libmpi.so.40 or a path;
    /// if not given, the first library found among those that match the launcher
    #[arg(long, value_name = "LIBRARY")]
    mpi: Option<PathBuf>,

    /// The preload library, instead of the installed one; the shims must be next to it
    #[arg(long, value_name = "PATH")]
    preload: Option<PathBuf>,

    /// Do not measure the network
    #[arg(long, conflicts_with_all = ["mpi", "preload", "network_only"])]
    codecs_only: bool,

    /// Do not measure the codecs, nor the memory
    #[arg(long)]
    network_only: bool,
}

/// Why some files were not written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{}: {why}", file.display())]
    Write { file: PathBuf, why: String },
    #[error("there is no network to measure: start mpress calibrate with mpirun, on two nodes or more")]
    NoNetwork,
    #[error(
        "the measured latency or bandwidth is impossible; {NETWORK_FILE} is not written; measure again while the network is idle"
    )]
    Nonsense,
    #[error("found no MPI library; looked for {0} (set LD_LIBRARY_PATH, or give its path with --mpi)")]
    NoMpi(String),
    #[error("the launcher started {ranks} ranks, but {} sees only one: give the library of the launcher's MPI with --mpi", .mpi.display())]
    OtherMpi { ranks: u64, mpi: PathBuf },
    #[error(transparent)]
    Library(#[from] libraries::Error),
    #[error(transparent)]
    Plugin(#[from] plugin::Error),
}

/// Measures and writes. All ranks of a job take part in measuring the network; the first does the rest.
pub(crate) fn run(options: &Options) -> Result<(), Error> {
    let start = Instant::now();
    let first = launcher::rank().is_none_or(|rank| rank == 0);
    if first {
        let wrong =
            |error: std::io::Error| Error::Write { file: options.out.clone(), why: error.to_string() };
        std::fs::create_dir_all(&options.out).map_err(wrong)?;
    }
    // The MPI ends with this function, after everything is written and printed; the other ranks wait until then.
    let session = if options.codecs_only { None } else { begin(options)? };
    let first = session.as_ref().map_or(first, Session::is_first);
    let mut progress = Progress::new(first);
    let mut written = false;
    if !options.codecs_only
        && let Some(link) = measure_network(options, session.as_ref(), &mut progress)?
    {
        progress.say(&network::line(&link));
        let file = NetworkFile::new(file::made(), link);
        file::write(&options.out.join(NETWORK_FILE), toml::to_string(&file))?;
        written = true;
    }
    if first && !options.network_only {
        let file = CompressionFile::new(file::made(), measure_codecs(&mut progress));
        file::write(&options.out.join(COMPRESSION_FILE), toml::to_string(&file))?;
        let own = Machine::detect();
        progress.part("the memory", 2 * memory::ROUNDS);
        let mut done = 0;
        let found = memory::measure(&own, || {
            progress.step(done, "pages and caches");
            done += 1;
        });
        progress.say(&memory::line(&found, &own));
        file::write(&options.out.join(MEMORY_FILE), toml::to_string(&MemoryFile::new(file::made(), found)))?;
        written = true;
    }
    if written {
        let (time, folder) = (start.elapsed().as_secs_f64(), std::path::absolute(&options.out));
        let folder = folder.unwrap_or_else(|_| options.out.clone());
        progress
            .say(&format!("measured in {time:.0} s; to use it, set MPRESS_HEURISTICS={}", folder.display()));
    }
    Ok(())
}

/// The MPI of the job, if this process belongs to one.
fn begin(options: &Options) -> Result<Option<Session>, Error> {
    let names = launcher::libraries();
    if options.mpi.is_none() && names.is_empty() {
        return Ok(None);
    }
    let preload = libraries::preload(options.preload.as_deref())?;
    let (mpi, library) = match &options.mpi {
        Some(path) => (path.clone(), plugin::load(path)?),
        None => {
            let paths = names.iter().map(PathBuf::from);
            let mut loaded = paths.filter_map(|path| Some((path.clone(), plugin::load(&path).ok()?)));
            loaded.next().ok_or_else(|| Error::NoMpi(names.join(", ")))?
        }
    };
    let session = Session::begin(&libraries::shim(&preload, library.abi())?, library)?;
    match launcher::size() {
        Some(ranks) if ranks > 1 && session.ranks() == 1 => Err(Error::OtherMpi { ranks, mpi }),
        _ => Ok(Some(session)),
    }
}

/// Measures the network, if there is one. All ranks do so at the same time; only the first gets the results.
fn measure_network(
    options: &Options,
    session: Option<&Session>,
    progress: &mut Progress,
) -> Result<Option<MeasuredLink>, Error> {
    let Some(session) = session.filter(|session| session.ranks() > 1) else {
        if options.network_only {
            return Err(Error::NoNetwork);
        }
        progress.say("the network is not measured: that takes several ranks, started by mpirun");
        return Ok(None);
    };
    let (nodes, ranks) = (session.nodes(), session.ranks());
    if nodes < 2 {
        progress.say(&format!(
            "all {ranks} ranks are on one node: no network to measure, no {NETWORK_FILE} is written"
        ));
        return Ok(None);
    }
    progress.part(&format!("the network of {nodes} nodes with {ranks} ranks"), STEPS);
    let mut measurements = Vec::new();
    session.measure(&mut |measurement| {
        measurements.push(measurement);
        progress.step(measurements.len(), &format!("messages of {} bytes", measurement.bytes));
    })?;
    if session.is_first() { network::link(&measurements).map(Some).ok_or(Error::Nonsense) } else { Ok(None) }
}

/// Measures the codecs, on the first rank.
fn measure_codecs(progress: &mut Progress) -> Vec<CodecBehaviour> {
    progress.part("the codecs", codecs::steps());
    let mut done = 0;
    codecs::measure(|kind, codec| {
        progress.step(done, &format!("{} on {}", codec.name(), kind.name()));
        done += 1;
    })
}

/// Rounds to four digits, because measurements are not more precise.
fn round(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// The median.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_four_digits() {
        assert_eq!(round(1.234_56), 1.235);
        assert_eq!(round(987_654.0), 987_700.0);
        assert_eq!(round(0.000_123_44), 0.000_123_4);
        assert_eq!(round(0.0), 0.0);
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(vec![9.0, 1.0, 5.0]), Some(5.0));
        assert_eq!(median(vec![]), None);
    }
}
