//! Long messages between two nodes: one way, in both directions, and in collectives, over links of several speeds, alternating plain runs and runs
//! with the shim.

use std::path::{Path, PathBuf};
use std::time::Duration;

use mpress_cluster::{Cluster, Config, Mpi, Rate};

use crate::build;
use crate::error::Error;
use crate::median::median;
use crate::paths::{Paths, write};

/// The links in Gbit/s, as text and in Mbit/s.
const LINKS: [(&str, u64); 4] = [("1", 1_000), ("2.5", 2_500), ("10", 10_000), ("25", 25_000)];
/// Lengths in bytes of messages between two ranks.
const LENGTHS: [&str; 5] = ["65536", "262144", "1048576", "4194304", "16777216"];
/// Lengths in bytes of the blocks of collectives.
const BLOCKS: [&str; 6] = ["40", "1024", "65536", "262144", "1048576", "4194304"];

/// A pattern of communication: which ranks send to which.
struct Pattern {
    name: &'static str,
    ranks_per_node: usize,
    lengths: &'static [&'static str],
    /// Only integers, because sums of other elements are left to the MPI.
    integers_alone: bool,
}

const fn between_two(name: &'static str) -> Pattern {
    Pattern { name, ranks_per_node: 1, lengths: &LENGTHS, integers_alone: false }
}

const fn among_four(name: &'static str) -> Pattern {
    Pattern { name, ranks_per_node: 2, lengths: &BLOCKS, integers_alone: false }
}

const PATTERNS: [Pattern; 6] = [
    between_two("one-way"),
    between_two("exchange"),
    Pattern { integers_alone: true, ..between_two("allreduce") },
    among_four("bcast"),
    among_four("allgather"),
    among_four("alltoall"),
];
/// The number of alternations of plain and mpress; their medians are compared.
const TURNS: usize = 3;
/// Seconds for each length in a job.
const SECONDS: &str = "0.4";
const LIMIT: Duration = Duration::from_secs(120);
const TRIES: u32 = 20;

/// The output format.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    Table,
    Csv,
}

/// The choices of a measurement.
#[derive(Clone, clap::Args)]
pub(crate) struct Options {
    /// The output format for long messages (with `streams`)
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
    /// Only over this link, in Gbit/s (with `streams`)
    #[arg(long, value_parser = LINKS.map(|(gbit, _)| gbit))]
    pub(crate) link: Option<String>,
    /// Only this pattern (with `streams`)
    #[arg(long, value_parser = PATTERNS.map(|pattern| pattern.name))]
    pub(crate) pattern: Option<String>,
    /// Only this data (with `streams`)
    #[arg(long, value_parser = ["bt", "is", "random"])]
    pub(crate) data: Option<String>,
    /// Only with this MPI (with `streams`)
    #[arg(long, value_parser = of_debian)]
    pub(crate) mpi: Option<Mpi>,
}

/// Messages of one kind: a name, the file that they are made from, and their elements.
struct Data {
    name: &'static str,
    file: PathBuf,
    elements: &'static str,
}

/// One of the MPIs that are measured.
fn of_debian(name: &str) -> Result<Mpi, String> {
    let mpi = Mpi::ALL.into_iter().find(|mpi| mpi.name() == name);
    mpi.ok_or_else(|| format!("there are {}", Mpi::ALL.map(Mpi::name).join(" and ")))
}

pub(crate) fn run(paths: &Paths, options: &Options) -> Result<(), Error> {
    let mpis: Vec<Mpi> =
        Mpi::ALL.into_iter().filter(|mpi| options.mpi.is_none_or(|only| only == *mpi)).collect();
    mpis.iter().try_for_each(|&mpi| build::for_mpi(paths, mpi))?;
    Cluster::permitted()?;
    let data = data(paths)?;
    match options.format {
        Format::Table => println!(
            "{:<10} {:<12} {:<9} {:<7} {:>9} {:>12} {:>12} {:>8}",
            "MPI", "link", "pattern", "data", "bytes", "plain us", "mpress us", "speedup"
        ),
        Format::Csv => println!("link,pattern,data,bytes,plain_us,mpress_us,speedup,mpi"),
    }
    for mpi in mpis {
        let program = super::c_program(paths, mpi, "streams")?;
        for (gbit, link) in LINKS {
            if options.link.as_ref().is_some_and(|only| only != gbit) {
                continue;
            }
            let cluster = Cluster::new(Config { nodes: 2, rate: Some(Rate::mbit(link)) })?;
            for pattern in PATTERNS {
                if options.pattern.as_ref().is_some_and(|only| only != pattern.name) {
                    continue;
                }
                let is_wanted = |data: &&Data| {
                    options.data.as_ref().is_none_or(|only| only == data.name)
                        && (!pattern.integers_alone || data.elements == "int")
                };
                for data in data.iter().filter(is_wanted) {
                    for (bytes, plain, ours) in measure(paths, &cluster, mpi, &program, &pattern, data)? {
                        let (link, speedup) = (format!("{gbit} Gbit/s"), plain / ours);
                        let (pattern, name) = (pattern.name, data.name);
                        match options.format {
                            Format::Table => println!(
                                "{:<10} {link:<12} {pattern:<9} {name:<7} {bytes:>9} {plain:>12.1} {ours:>12.1} {speedup:>8.3}",
                                mpi.title()
                            ),
                            Format::Csv => println!(
                                "{link},{pattern},{name},{bytes},{plain:.1},{ours:.1},{speedup:.3},{}",
                                mpi.name()
                            ),
                        }
                    }
                }
            }
            cluster.tear_down()?;
        }
    }
    Ok(())
}

/// Returns lengths in bytes, with the medians of plain and of mpress in microseconds.
fn measure(
    paths: &Paths,
    cluster: &Cluster,
    mpi: Mpi,
    program: &Path,
    pattern: &Pattern,
    data: &Data,
) -> Result<Vec<(&'static str, f64, f64)>, Error> {
    let mut times: Vec<_> = pattern.lengths.iter().map(|_| [Vec::new(), Vec::new()]).collect();
    for _ in 0..TURNS {
        for ours in [0, 1] {
            let mut job = cluster.mpirun(mpi, pattern.ranks_per_node);
            job.pinned();
            match ours {
                1 => job.program(paths.mpress()).args(["run", "--"]).arg(program),
                _ => job.program(program),
            };
            super::pass_settings(&mut job);
            job.arg(&data.file).args([data.elements, pattern.name, SECONDS]).args(pattern.lengths);
            let finished =
                job.run_patiently(LIMIT, TRIES, |stdout| medians(stdout, times.len()).is_some())?;
            let found = medians(&finished.output.stdout, times.len()).ok_or_else(|| super::no_time(mpi))?;
            for (times, time) in times.iter_mut().zip(found) {
                times[ours].push(time);
            }
        }
    }
    let lengths = pattern.lengths.iter().copied();
    Ok(lengths.zip(times).map(|(len, [plain, ours])| (len, median(plain), median(ours))).collect())
}

/// The medians that the program printed, if all `count` lines are complete.
fn medians(stdout: &[u8], count: usize) -> Option<Vec<f64>> {
    let text = std::str::from_utf8(stdout).ok()?;
    let (lines, _) = text.rsplit_once('\n')?;
    let of = |line: &str| line.split("median_us ").nth(1)?.trim().parse().ok();
    let found: Vec<f64> = lines.lines().filter_map(of).collect();
    (found.len() == count).then_some(found)
}

/// Random bytes, and recorded messages where they are available.
fn data(paths: &Paths) -> Result<Vec<Data>, Error> {
    let corpus = paths.root().join("../shared/corpus");
    let mut all = Vec::new();
    for (name, file, elements) in [("bt", "bt.f64", "double"), ("is", "is.i32", "int")] {
        let file = corpus.join(file);
        if file.is_file() {
            all.push(Data { name, file, elements });
        } else {
            eprintln!("SKIPPED: {name}: there is no {}", file.display());
        }
    }
    let file = paths.target("pingpong").join("random");
    write(&file, random(8 << 20))?;
    all.push(Data { name: "random", file, elements: "double" });
    Ok(all)
}

/// Bytes that no codec can shorten (xorshift64).
fn random(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    (0..len / 8).flat_map(|_| next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_are_read_once_all_are_there() {
        let line = |time| format!("bytes 8 rounds 9 median_us {time}\n");
        let all: String = (1..=5).map(line).collect();
        assert_eq!(medians(all.as_bytes(), 5), Some(vec![1.0, 2.0, 3.0, 4.0, 5.0]));
        assert_eq!(medians(&all.as_bytes()[..all.len() - 1], 5), None);
    }
}
