//! `mpress`: run MPI programs with their messages compressed.

#![deny(unsafe_code)]

mod bars;
mod bench;
mod calibrate;
mod command;
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
mod sides;
mod signals;
mod similar;
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
    Bench(bench::Options),
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
    // All ranks meet the same error, and one message is enough.
    let speaks = launcher::rank().is_none_or(|rank| rank == 0);
    let command = match result {
        Ok(cli) => cli.command,
        Err(error) => {
            if speaks {
                // Help and version are also returned as errors; if they cannot be written, nothing can be reported.
                let _unwritten: std::io::Result<()> = error.print();
            } else {
                let_the_speaker_print();
            }
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let options = match command {
        Command::Run(options) => options,
        Command::Report(options) => return report::run(&options),
        Command::Calibrate(options) => return exit(calibrate::run(&options)),
        Command::Doctor(options) => {
            return match doctor::run(&options) {
                Ok(well) => ExitCode::from(u8::from(!well)),
                Err(error) => {
                    complain(speaks, &error);
                    ExitCode::FAILURE
                }
            };
        }
        Command::Bench(options) => return bench::run(&options),
        Command::Replay(options) => return exit(replay::run(&options)),
        Command::Predict(options) => return exit(predict::run(&options)),
        Command::Manual(options) => return exit(manual::run::<Cli>(&options)),
    };
    let error = run::run(&options);
    complain(speaks, &error);
    if !speaks && error.is_of_node() && launcher::is_first_on_node() {
        // Still alive: most likely the speaking rank has no error and will not report this one.
        eprintln!("mpress: {error}");
    }
    ExitCode::from(error.exit_status())
}

/// The exit code of a command that is no part of a job.
fn exit<E: std::error::Error>(result: Result<(), E>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mpress: {error}");
            ExitCode::FAILURE
        }
    }
}

/// One rank reports why all fail.
fn complain(speaks: bool, error: &dyn std::error::Error) {
    if speaks {
        eprintln!("mpress: {error}");
    } else {
        let_the_speaker_print();
    }
}

/// mpirun ends the job when a rank fails: the others wait until the speaking rank has printed its message.
fn let_the_speaker_print() {
    std::thread::sleep(AFTER_THE_SPEAKER);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// Lines in blocks of commands of the user pages, from `mpress` on.
    fn shown() -> Vec<String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let docs = std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
        let readmes = ["README.md", "examples/README.md", "xtask/dist/README.md"].map(|page| root.join(page));
        let mut found = Vec::new();
        for page in docs.chain(readmes).filter(|page| page.extension().is_some_and(|end| end == "md")) {
            let text = std::fs::read_to_string(&page).unwrap();
            for block in text.split("```sh\n").skip(1) {
                let lines = block.split("\n```").next().unwrap().lines();
                let lines = lines.map(|line| line.split('#').next().unwrap());
                let at = |line: &str| {
                    line.match_indices("mpress ").map(|(at, _)| at).find(|&at| is_word(line, at))
                };
                found.extend(lines.filter_map(|line| Some(line[at(line)?..].to_owned())));
            }
        }
        found
    }

    /// Whether this is the command, not the folder or the package of the same name.
    fn is_word(line: &str, at: usize) -> bool {
        let before = &line[..at];
        before.is_empty() || before.ends_with(' ') && !before.ends_with(" -p ") || before.ends_with("bin/")
    }

    #[test]
    fn commands_in_pages_are_as_they_are_shown() {
        let shown = shown();
        assert!(shown.len() > 15, "{shown:?}");
        for line in shown {
            let parsed = Cli::try_parse_from(line.split_whitespace());
            assert!(parsed.is_ok(), "{line}: {}", parsed.err().unwrap());
        }
    }
}
