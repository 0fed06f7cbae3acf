//! Compresses every message of some folders individually, checks the round trip, and prints ratio and speed.
#![forbid(unsafe_code)]

use clap::{Parser, ValueEnum};
use mpress_benches::Result;
use mpress_benches::compare::{Report, Settings, choose, markdown, measure, missing_peers, plot, table};
use mpress_benches::corpus::{File, Piece, size};
use mpress_codec::simd::{Simd, Tier};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// Compare codecs on files of MPI messages: ratio and speed, each round trip checked
///
/// Reads every *.f64, *.f32, *.i32, *.i64, *.i16 and *.bin of each folder with its .idx.
/// benches/README.md describes the files, the columns and the peers.
#[derive(Parser)]
#[command(name = "compare", verbatim_doc_comment)]
struct Args {
    /// Folders of messages
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Codecs by name, peers included [default: all of mpress]
    #[arg(long, value_delimiter = ',')]
    codecs: Option<Vec<String>>,
    /// Include the peers: codecs of others
    #[arg(long)]
    peers: bool,
    /// Include the special settings of mpress's codecs
    #[arg(long)]
    variants: bool,
    /// What to compress individually: each message, or pieces of the file of this size
    #[arg(long, value_name = "message|SIZE", default_value = "message")]
    piece: Piece,
    /// Only messages of at least this size, such as 16KiB
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "1")]
    from: usize,
    /// Only messages of at most this size, such as 4KiB
    #[arg(long, value_name = "SIZE", value_parser = size)]
    to: Option<usize>,
    /// Number of timed passes, at least 7; speeds are the median
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u16).range(7..))]
    passes: u16,
    /// The SIMD tier of mpress's codecs: scalar, avx2 or avx512 [default: this machine's best]
    #[arg(long, value_parser = simd)]
    simd: Option<Simd>,
    /// Speeds with cold caches: as after other work of the program, not message after message
    #[arg(long)]
    cold: bool,
    /// A folder for Pareto plots, one per kind of file
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Table,
    Csv,
    Markdown,
}

fn main() -> ExitCode {
    mpress_benches::cli::run(compare)
}

fn compare(args: Args) -> Result<()> {
    let subjects = choose(args.codecs.as_deref(), args.variants, args.peers)?;
    let mut files = Vec::new();
    for folder in &args.folders {
        files.extend(File::read_all(folder)?);
    }
    let mut names = BTreeSet::new();
    if let Some(file) = files.iter().find(|file| !names.insert(&file.name)) {
        return Err(format!("{} is there twice, in these folders", file.name).into());
    }
    if args.peers {
        // On standard error, so that it is visible even if the output goes to a file.
        missing_peers().iter().for_each(|line| eprintln!("{line}"));
    }
    let simd = args.simd.unwrap_or_else(Simd::detect);
    let (piece, passes) = (args.piece, usize::from(args.passes));
    let (from, to) = (args.from, args.to.unwrap_or(usize::MAX));
    let settings = Settings { simd, piece, from, to, passes, cold: args.cold };
    let report = Report::new(measure(&files, &subjects, &settings)?);
    let text = match args.format {
        Format::Csv => report.csv()?,
        Format::Markdown => markdown(&report),
        Format::Table => format!("{}\n{}", conditions(&settings), table(&report)),
    };
    std::io::stdout().write_all(text.as_bytes())?;
    if let Some(folder) = args.plot {
        plot(&report, &folder, &subtitle(&settings))?;
    }
    Ok(())
}

fn simd(name: &str) -> std::result::Result<Simd, String> {
    let tier = Tier::ALL.iter().copied().find(|tier| tier.name() == name);
    Simd::new(tier.ok_or("not scalar, avx2 or avx512")?).ok_or_else(|| "this machine does not have it".into())
}

/// Where and how the measurement was made, for the record.
fn conditions(settings: &Settings) -> String {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu = cpu.lines().find(|line| line.starts_with("model name")).and_then(|line| line.split(':').nth(1));
    let rustc = Command::new("rustc").arg("-V").output().map(|output| output.stdout).unwrap_or_default();
    format!(
        "machine:  {}, {}\ncompiler: {}\nmeasured: {}\n",
        cpu.unwrap_or("unknown").trim(),
        std::env::consts::ARCH,
        String::from_utf8_lossy(&rustc).trim(),
        subtitle(settings)
    )
}

fn subtitle(settings: &Settings) -> String {
    let piece = match settings.piece {
        Piece::Message => "each message alone".to_owned(),
        Piece::Bytes(bytes) => format!("pieces of {bytes} bytes"),
    };
    let range = match (settings.from, settings.to) {
        (1, usize::MAX) => String::new(),
        (from, usize::MAX) => format!(", of at least {from} bytes"),
        (1, to) => format!(", of at most {to} bytes"),
        (from, to) => format!(", of {from} to {to} bytes"),
    };
    let simd = settings.simd.tier().name();
    let caches = if settings.cold { "; caches cold before each message" } else { "" };
    format!(
        "{piece}{range}; tier {simd}; median of {} passes of processor time, one thread{caches}",
        settings.passes
    )
}
