//! Whole programs on emulated links, alternating plain runs and runs with mpress: the NAS Parallel Benchmarks, built by the caller, or any other
//! programs that print their time. A measurement, not a test.
//!
//! Each round runs a program plain, with mpress, and plain again. The two plain runs are the control: their difference shows how much two equal runs
//! differ on this machine.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mpress_cluster::{Cluster, Config, Mpi, Rate};

use crate::build;
use crate::error::Error;
use crate::median::median;
use crate::paths::{Paths, create_folder};
use crate::pingpong;
use crate::pingpong::streams::Format;

const NODES: usize = 2;
const LIMIT: Duration = Duration::from_secs(600);
/// MPICH sometimes hangs at its end; the cluster recognises this and tries again.
const TRIES: u32 = 20;
/// NPB prints these words if its results are right, and if they are wrong.
const VERIFIED: &str = "SUCCESSFUL";
const WRONG: &str = "UNSUCCESSFUL";

/// The choices of a measurement.
#[derive(Clone, clap::Args)]
pub(crate) struct Options {
    /// The folder of the programs, built for the MPI; those of NPB are called PROGRAM.CLASS.RANKS
    #[arg(long, value_name = "DIR")]
    programs: PathBuf,
    /// The MPI that they are built for
    #[arg(long, default_value = "openmpi")]
    mpi: Mpi,
    /// Only these programs, by their file names
    #[arg(long, value_delimiter = ',', value_name = "PROGRAM,...")]
    only: Vec<String>,
    /// The links, in Mbit/s
    #[arg(long, value_delimiter = ',', default_values_t = [100, 1_000, 10_000], value_parser = clap::value_parser!(u64).range(1..))]
    links: Vec<u64>,
    /// Number of times that each program runs on each link: plain, with mpress and plain again
    #[arg(long, default_value_t = 7, value_parser = crate::positive())]
    rounds: usize,
    /// Number of ranks of programs whose names do not end in it
    #[arg(long, default_value_t = 4, value_parser = crate::positive())]
    ranks: usize,
    /// The words before the time in seconds in the program's output; the last such line counts
    #[arg(long, default_value = "Time in seconds")]
    time: String,
    /// The working folder of the programs; their own folder if not given
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Do not run the programs on an uncapped link, which is needed to compute the allowed gain
    #[arg(long)]
    no_uncapped: bool,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// The result of one run.
#[derive(Clone, Copy)]
struct Run {
    seconds: f64,
    /// Bytes sent by all nodes.
    bytes: f64,
    /// The gain according to the report, in seconds for each rank.
    claimed: f64,
}

/// A program, and its number of ranks per node.
struct Program {
    name: String,
    path: PathBuf,
    ranks_per_node: usize,
}

pub(crate) fn run(paths: &Paths, options: &Options) -> Result<(), Error> {
    build::command_and_libraries(paths)?;
    Cluster::permitted()?;
    let programs = programs(options)?;
    let report = paths.target("npb").join("report.json");
    create_folder(&paths.target("npb"))?;
    match options.format {
        Format::Table => println!(
            "{:<8} {:>10} {:<12} {:>6} {:>9} {:>9} {:>8} {:>8} {:>9} {:>9} {:>9} {:>7} {:>9}",
            "MPI",
            "Mbit/s",
            "program",
            "rounds",
            "plain s",
            "mpress s",
            "speedup",
            "control",
            "plain MB",
            "mpress MB",
            "no cap s",
            "share",
            "claimed s"
        ),
        Format::Csv => println!(
            "mpi,mbit_s,program,rounds,plain_s,mpress_s,speedup,control,plain_mb,mpress_mb,uncapped_s,share,claimed_s"
        ),
    }
    let mut uncapped = vec![f64::NAN; programs.len()];
    if !options.no_uncapped {
        let cluster = Cluster::new(Config { nodes: NODES, rate: None })?;
        for (program, uncapped) in programs.iter().zip(&mut uncapped) {
            let times: Result<Vec<_>, Error> = (0..options.rounds.min(3))
                .map(|_| Ok(one_run(paths, options, &cluster, program, None)?.seconds))
                .collect();
            *uncapped = median(times?);
        }
        cluster.tear_down()?;
    }
    for &link in &options.links {
        let cluster = Cluster::new(Config { nodes: NODES, rate: Some(Rate::mbit(link)) })?;
        for (program, &uncapped) in programs.iter().zip(&uncapped) {
            let rounds: Result<Vec<_>, Error> = (0..options.rounds)
                .map(|_| {
                    let run = |report| one_run(paths, options, &cluster, program, report);
                    Ok([run(None)?, run(Some(&*report))?, run(None)?])
                })
                .collect();
            print(options, link, &program.name, &rounds?, uncapped);
        }
        cluster.tear_down()?;
    }
    Ok(())
}

/// The programs of the folder, sorted by name.
fn programs(options: &Options) -> Result<Vec<Program>, Error> {
    let folder = fs::canonicalize(&options.programs).map_err(Error::file(&options.programs))?;
    let mut names = executables(&folder).map_err(Error::file(&folder))?;
    names.retain(|name| options.only.is_empty() || options.only.contains(name));
    if names.is_empty() {
        return Err(Error::Program {
            run: folder.display().to_string(),
            message: "has none of the programs".to_owned(),
        });
    }
    let program = |name: String| {
        let ranks = name.rsplit('.').next().and_then(|ranks| ranks.parse().ok()).unwrap_or(options.ranks);
        let message = || format!("{ranks} ranks cannot be placed on {NODES} nodes");
        if ranks == 0 || !ranks.is_multiple_of(NODES) {
            return Err(Error::Program { run: name.clone(), message: message() });
        }
        Ok(Program { path: folder.join(&name), name, ranks_per_node: ranks / NODES })
    };
    names.into_iter().map(program).collect()
}

/// The names of the programs in a folder, sorted: executable files and links to them.
fn executables(folder: &Path) -> io::Result<Vec<String>> {
    let is_program = |path: &Path| {
        fs::metadata(path).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
    };
    let files = fs::read_dir(folder)?.filter_map(Result::ok).filter(|file| is_program(&file.path()));
    let mut names: Vec<_> = files.filter_map(|file| file.file_name().into_string().ok()).collect();
    names.sort();
    Ok(names)
}

/// Runs a program plain, or with mpress and a report to this file.
fn one_run(
    paths: &Paths,
    options: &Options,
    cluster: &Cluster,
    program: &Program,
    report: Option<&Path>,
) -> Result<Run, Error> {
    let mut job = cluster.mpirun(options.mpi, program.ranks_per_node);
    job.pinned();
    if let Some(report) = report {
        let _nothing_there = fs::remove_file(report);
        job.program(paths.mpress()).args(["run", "--"]).arg(&program.path).env("MPRESS_REPORT_FILE", report);
        pingpong::pass_settings(&mut job);
    } else {
        job.program(&program.path);
    }
    job.current_dir(options.dir.as_deref().or(program.path.parent()).unwrap_or_else(|| Path::new(".")));
    let before = cluster.traffic()?;
    let time = |stdout: &[u8]| seconds(&String::from_utf8_lossy(stdout), &options.time);
    let output = job.run_patiently(LIMIT, TRIES, |stdout| time(stdout).is_some())?.output;
    let bytes = cluster.traffic()?.since(&before).total() as f64;
    let text = String::from_utf8_lossy(&output.stdout);
    let wrong = |message: &str| {
        let with = if report.is_some() { "with mpress" } else { "plain" };
        let stderr = String::from_utf8_lossy(&output.stderr);
        let message = format!("{message} ({}):\n{}", output.status, stderr.trim_end());
        Error::Program { run: format!("{}, {with}", program.name), message }
    };
    if text.contains(WRONG) {
        return Err(wrong("its results are wrong"));
    }
    let is_npb = text.contains("NAS Parallel Benchmarks");
    if !output.status.success() || (is_npb && !text.contains(VERIFIED)) {
        return Err(wrong("it failed"));
    }
    // Some Fortran programs write to unit 0.
    let seconds = time(&output.stdout).or_else(|| time(&output.stderr));
    let seconds = seconds.ok_or_else(|| wrong("it gave no time"))?;
    let claimed = report.map_or(f64::NAN, |report| claimed(report).unwrap_or(f64::NAN));
    Ok(Run { seconds, bytes, claimed })
}

/// The last number after these words.
fn seconds(text: &str, words: &str) -> Option<f64> {
    let (lines, _) = text.rsplit_once('\n')?;
    let number = |line: &str| {
        let rest = line.split_once(words)?.1;
        rest.split([' ', '=', ':', '\t']).find(|word| !word.is_empty())?.parse().ok()
    };
    lines.lines().rev().find_map(number)
}

/// The gain of a rank in seconds, according to the report.
fn claimed(report: &Path) -> Option<f64> {
    let report: serde_json::Value = serde_json::from_str(&fs::read_to_string(report).ok()?).ok()?;
    Some(report.pointer("/gain/measured_s")?.as_f64()? / report.pointer("/job/ranks")?.as_f64()?)
}

fn print(options: &Options, link: u64, program: &str, rounds: &[[Run; 3]], uncapped: f64) {
    let of = |value: &dyn Fn(&[Run; 3]) -> f64| median(rounds.iter().map(value).collect());
    // Compares adjacent runs, because the machine changes over time.
    let speedup = of(&|[before, ours, after]| f64::midpoint(before.seconds, after.seconds) / ours.seconds);
    let control = of(&|[before, _, after]| before.seconds / after.seconds);
    let plain = of(&|[before, _, after]| f64::midpoint(before.seconds, after.seconds));
    let [ours, claimed] = [of(&|run| run[1].seconds), of(&|run| run[1].claimed)];
    let [plain_mb, ours_mb] = [of(&|run| run[0].bytes / 1e6), of(&|run| run[1].bytes / 1e6)];
    // The part of the link's cost that corresponds to the saved bytes.
    let allowed = (plain - uncapped) * (1.0 - ours_mb / plain_mb);
    let share = (plain - ours) / allowed;
    let (mpi, count) = (options.mpi.name(), rounds.len());
    match options.format {
        Format::Table => println!(
            "{mpi:<8} {link:>10} {program:<12} {count:>6} {plain:>9.3} {ours:>9.3} {speedup:>8.3} {control:>8.3} {plain_mb:>9.1} {ours_mb:>9.1} \
             {uncapped:>9.3} {share:>7.2} {claimed:>9.3}"
        ),
        Format::Csv => println!(
            "{mpi},{link},{program},{count},{plain:.3},{ours:.3},{speedup:.3},{control:.3},{plain_mb:.1},{ours_mb:.1},{uncapped:.3},{share:.3},{claimed:.3}"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_files_that_may_be_executed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name| folder.path().join(name);
        for (name, mode) in [("lu.A.4", 0o755), ("notes.txt", 0o644), ("cg.A.4", 0o700)] {
            fs::write(at(name), "x").unwrap();
            fs::set_permissions(at(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        fs::create_dir(at("results")).unwrap();
        std::os::unix::fs::symlink(at("lu.A.4"), at("ua.A.4")).unwrap();
        std::os::unix::fs::symlink(at("gone"), at("gone.A.4")).unwrap();
        assert_eq!(executables(folder.path()).unwrap(), ["cg.A.4", "lu.A.4", "ua.A.4"]);
    }

    #[test]
    fn the_last_time_counts_once_its_line_is_whole() {
        let text = " Time in seconds =                    12.34\n";
        assert_eq!(seconds(text, "Time in seconds"), Some(12.34));
        assert_eq!(seconds(text.trim_end(), "Time in seconds"), None);
        let steps = " Wall clock   0.1\n step 2\n Wall clock   0.7\n done\n";
        assert_eq!(seconds(steps, "Wall clock"), Some(0.7));
        assert_eq!(seconds("time 2.386 s\n", "time"), Some(2.386));
        assert_eq!(seconds("nothing\n", "time"), None);
    }
}
