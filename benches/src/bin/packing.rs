//! Compares the speed of packing datatypes.
#![forbid(unsafe_code)]

use clap::{Parser, ValueEnum};
use mpress_benches::Result;
use mpress_benches::packing::loops::Way;
use mpress_benches::packing::measure::{Line, geometric_mean, measure};
use mpress_benches::packing::patterns::{self, Pattern};
use mpress_codec::simd::{Simd, Tier};
use mpress_datatype::Machine;
use mpress_datatype::peer::Peer;
use std::process::ExitCode;

/// Pack MPI datatypes: with mpress, with MPI_Pack of the MPIs of this machine, with a plain loop; and memcpy of the same number of bytes
///
/// The patterns are transposes of matrices of doubles, and the exchanges of the applications in DDTBench. Speeds are in 10^9 packed bytes per second.
/// An MPI without mpicc.openmpi or mpicc.mpich is skipped and reported.
#[derive(Parser)]
#[command(name = "packing", verbatim_doc_comment)]
struct Args {
    /// A table for reading, or lines for a program
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Unpack (MPI_Unpack) instead
    #[arg(long)]
    unpack: bool,
    /// Only patterns whose names contain one of these, such as transpose,wrf
    #[arg(long, value_delimiter = ',', value_name = "PART")]
    only: Option<Vec<String>>,
    /// The SIMD tier of mpress: scalar, avx2 or avx512
    #[arg(long, value_name = "TIER")]
    simd: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Table,
    Csv,
}

fn main() -> ExitCode {
    mpress_benches::cli::run(run)
}

fn run(args: Args) -> Result<()> {
    let simd = match &args.simd {
        None => Simd::detect(),
        Some(name) => {
            let tier = Tier::ALL.iter().copied().find(|tier| tier.name() == name);
            tier.and_then(Simd::new).ok_or_else(|| format!("no tier {name} here"))?
        }
    };
    let wanted = |pattern: &Pattern| match &args.only {
        None => true,
        Some(parts) => parts.iter().any(|part| pattern.name.contains(part.as_str())),
    };
    let way = if args.unpack { Way::Unpack } else { Way::Pack };
    let mut peers = Vec::new();
    for peer in Peer::all() {
        match peer {
            Ok(peer) => peers.push(peer),
            Err(why) => eprintln!("LEFT OUT: {why}"),
        }
    }
    let mut rows = Vec::new();
    if args.format == Format::Csv {
        println!("pattern,bytes,method,gbps");
    }
    for pattern in patterns::all().into_iter().filter(wanted) {
        let lines = measure(&pattern, way, simd, &mut peers)?;
        match args.format {
            Format::Csv => {
                for Line { pattern, bytes, method, gbps } in &lines {
                    println!("{pattern},{bytes},{method},{gbps:.4}");
                }
            }
            Format::Table => {
                if rows.is_empty() {
                    println!("machine of the plans, in bytes: {}", Machine::detect());
                    let names: String = lines.iter().map(|line| format!(" {:>8}", line.method)).collect();
                    println!("{:<16} {:>11}{names}   x MPI  x memcpy", "pattern", "bytes");
                }
                row(&lines);
            }
        }
        rows.push(lines);
    }
    if args.format == Format::Table {
        means(&rows);
    }
    Ok(())
}

/// The speed of a method.
fn speed(lines: &[Line], method: &str) -> Option<f64> {
    lines.iter().find(|line| line.method == method).map(|line| line.gbps)
}

/// The speedup over a method or, for several, over the fastest one.
fn over(lines: &[Line], methods: &[&str]) -> Option<f64> {
    let other = methods.iter().filter_map(|method| speed(lines, method)).reduce(f64::max)?;
    Some(speed(lines, "mpress")? / other)
}

const MPIS: [&str; 2] = ["openmpi", "mpich"];

fn row(lines: &[Line]) {
    let Some(first) = lines.first() else { return };
    let speeds: String = lines.iter().map(|line| format!(" {:>8.3}", line.gbps)).collect();
    let ratio = |methods: &[&str]| over(lines, methods).map_or("-".to_owned(), |ratio| format!("{ratio:.2}"));
    println!(
        "{:<16} {:>11}{speeds} {:>7} {:>9}",
        first.pattern,
        first.bytes,
        ratio(&MPIS),
        ratio(&["memcpy"])
    );
}

fn means(rows: &[Vec<Line>]) {
    let name = |lines: &[Line]| lines.first().map(|line| line.pattern.clone()).unwrap_or_default();
    let transpose = |lines: &Vec<Line>| name(lines).starts_with("transpose-");
    let mean = |what: &str, which: &dyn Fn(&Vec<Line>) -> bool| {
        let rows: Vec<_> = rows.iter().filter(|lines| which(lines)).collect();
        if rows.is_empty() {
            return;
        }
        let of = |methods: &[&str]| geometric_mean(rows.iter().filter_map(|lines| over(lines, methods)));
        println!(
            "geometric mean of {what}: {:.2} x openmpi, {:.2} x mpich, {:.2} x the better of them, {:.2} x loop, {:.2} x memcpy",
            of(&["openmpi"]),
            of(&["mpich"]),
            of(&MPIS),
            of(&["loop"]),
            of(&["memcpy"])
        );
    };
    mean("transposes of 1024 and more", &|lines| transpose(lines) && name(lines) != "transpose-512");
    mean("the other patterns", &|lines| !transpose(lines));
    let least = rows.iter().filter_map(|lines| Some((over(lines, &MPIS)?, name(lines))));
    if let Some((ratio, name)) = least.min_by(|one, other| one.0.total_cmp(&other.0)) {
        println!("least: {ratio:.2} x the better MPI, {name}");
    }
}
