//! `mpress`: run MPI programs with their messages compressed.

#![deny(unsafe_code)]

mod bars;
mod calibrate;
mod detect;
mod doctor;
mod elf;
mod launcher;
mod libraries;
mod manual;
mod predict;
mod program;
#[path = "../../preload/src/ranks.rs"]
#[allow(dead_code, reason = "the preload library needs the rest")]
mod ranks;
mod replay;
mod report;
mod run;
mod version;

use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};

/// Run MPI programs with their messages compressed
///
/// The program is not changed and not recompiled. mpress preloads a library that
/// compresses messages between nodes where that saves time, and passes all others
/// on. The program receives exactly the bytes that were sent.
#[derive(Parser)]
#[command(name = "mpress", version, long_version = version::long(), verbatim_doc_comment)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(run::Options),
    Calibrate(calibrate::Options),
    Doctor(doctor::Options),
    Replay(replay::Options),
    Predict(predict::Options),
    Report(report::Options),
    #[command(hide = true)]
    Manual(manual::Options),
}

/// How much later than the first rank the others fail.
const AFTER_THE_SPEAKER: Duration = Duration::from_millis(300);

fn main() -> ExitCode {
    let result = Cli::try_parse();
    // All ranks meet the same error; one line of it is enough.
    let speaks = launcher::rank().is_none_or(|rank| rank == 0);
    let command = match result {
        Ok(cli) => cli.command,
        Err(error) => {
            if speaks {
                // Help and version come this way, too; if they cannot be written, nothing can be reported.
                let _unwritten: std::io::Result<()> = error.print();
            }
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let options = match command {
        Command::Run(options) => options,
        Command::Report(options) => return report::run(&options),
        Command::Calibrate(options) => {
            return match calibrate::run(&options) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => {
                    complain(speaks, &error);
                    ExitCode::FAILURE
                }
            };
        }
        Command::Doctor(options) => {
            return match doctor::run(&options) {
                Ok(well) => ExitCode::from(u8::from(!well)),
                Err(error) => {
                    complain(speaks, &error);
                    ExitCode::FAILURE
                }
            };
        }
        Command::Replay(options) => return exit(replay::run(&options)),
        Command::Predict(options) => return exit(predict::run(&options)),
        Command::Manual(options) => return exit(manual::run::<Cli>(&options)),
    };
    let error = run::run(&options);
    complain(speaks, &error);
    ExitCode::from(error.exit_status())
}

/// The end of a command that is not run on ranks.
fn exit<E: std::error::Error>(result: Result<(), E>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mpress: {error}");
            ExitCode::FAILURE
        }
    }
}

/// One rank says why all fail.
fn complain(speaks: bool, error: &dyn std::error::Error) {
    if speaks {
        eprintln!("mpress: {error}");
    } else {
        // mpirun ends the job when the first rank fails: not before the one that speaks has spoken.
        std::thread::sleep(AFTER_THE_SPEAKER);
    }
}
