//! Writes a folder of hold-out data.
#![forbid(unsafe_code)]

use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;

/// Write messages of small simulations that were not used to tune any codec, as a folder for `compare`
#[derive(Parser)]
#[command(name = "holdout")]
struct Args {
    /// The folder to write to
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Seed; other numbers give other data of the same kinds
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> ExitCode {
    mpress_benches::cli::run(|args: Args| mpress_benches::holdout::write_all(&args.folder, args.seed))
}
