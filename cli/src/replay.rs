//! `mpress replay`: evaluates the selector without a cluster. The links over which recorded messages are sent are simulated; compressed sizes and
//! codec times are measured.

mod dump;
mod input;
mod measure;
mod plot;
mod simulate;
mod table;

use clap::{Args, ValueEnum};
use input::Input;
pub(crate) use input::datatype;
use measure::{Caches, measure};
use mpress::Knowledge;
use mpress::selector::{Link, Mechanism, Transfer};
use simulate::{Channel, Times, cold_decisions, simulate};
use std::fs::File;
use std::io::Write as _;
use std::num::NonZeroI32;
use std::path::{Path, PathBuf};

/// Simulate the selector's decisions for recorded messages, and their gain
///
/// Compresses every message with every codec made for its kind, and measures ratios and
/// times on this machine with cold caches: between two messages, a program's own work
/// evicts code and data of mpress. Then simulates sending the messages, one after
/// another, over five links: all raw, all with each codec, as the adaptive strategy
/// decides, and with the best choice for each message in hindsight (the oracle); serial, and pipelined in chunks. The first table shows the result of each
/// codec for all messages, as a job with MPRESS_STRATEGY=fixed:CODEC would send them.
///
/// PATH is a file of messages with its index FILE.idx next to it, a folder of such files,
/// or a trace of receive calls (*.csv, *.csv.gz).
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Options {
    /// Files of messages, folders of such files, or traces
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// The file of messages that fills the messages of traces, which contain no data
    #[arg(long, value_name = "FILE")]
    payload: Option<PathBuf>,

    /// The folder of heuristics to start from, instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    heuristics: Option<PathBuf>,

    /// Only this link instead of the five: latency in microseconds and bandwidth of a rank in MB/s, as in a job's report
    #[arg(long, value_name = "US,MB/S", value_parser = link)]
    link: Option<Link>,

    /// Leave out messages inside a node, where ranks 0 to N-1 are on the first node, the next N on the second and so on
    #[arg(long, value_name = "N", value_parser = ranks)]
    ranks_per_node: Option<NonZeroI32>,

    /// Whether mpress finds its code and data in the caches
    #[arg(long, value_enum, value_name = "cold|hot|both", default_value_t = Wanted::Cold)]
    caches: Wanted,

    /// Let messages refer to earlier ones of their channel, as in a job with MPRESS_MEMORY.
    /// Each channel is one in both directions
    #[arg(long)]
    memory: bool,

    /// Also show the results of the selector without this mechanism: length, idle, sample,
    /// learning, hope or probe; may be given several times
    #[arg(long, value_name = "NAME", value_parser = mechanism)]
    ablate: Vec<Mechanism>,

    /// A file for the measurements of each message and codec, as CSV
    #[arg(long, value_name = "FILE")]
    dump: Option<PathBuf>,

    /// A file for a picture of the result, as SVG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

/// Why nothing could be simulated.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{0}")]
    Input(String),
    #[error("a message of {0} bytes is too long")]
    TooLong(usize),
    #[error("codec {0} did not restore a message; this is a bug in mpress, please report it")]
    NotLossless(&'static str),
    #[error("{}: {why}", file.display())]
    Write { file: PathBuf, why: String },
    #[error("cannot write the result: {0}")]
    Output(#[from] std::io::Error),
}

/// The links, slowest first: name, and latency and bandwidth for a rank.
const LINKS: [(&str, Link); 5] = [
    ("100 Mbit/s", Link { latency_us: 40.0, bandwidth_mb_s: 11.8 }),
    ("1 Gbit/s", Link { latency_us: 25.0, bandwidth_mb_s: 118.0 }),
    ("10 Gbit/s", Link { latency_us: 10.0, bandwidth_mb_s: 1180.0 }),
    ("25 Gbit/s", Link { latency_us: 3.0, bandwidth_mb_s: 2950.0 }),
    ("100 Gbit/s", Link { latency_us: 1.5, bandwidth_mb_s: 11_800.0 }),
];

/// The ways to transfer a message: as a whole, and in chunks as in the engine.
const TRANSFERS: [(&str, Transfer); 2] =
    [("serial", Transfer::Serial), ("pipelined", Transfer::Pipelined { chunk: 63 << 10, from: 128 << 10 })];

/// The requested state of the caches.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Wanted {
    /// No, as after work of the program
    Cold,
    /// Yes, as if message followed message
    Hot,
    /// Both, one after the other
    Both,
}

impl Wanted {
    fn caches(self) -> &'static [Caches] {
        match self {
            Self::Cold => &[Caches::Cold],
            Self::Hot => &[Caches::Hot],
            Self::Both => &[Caches::Cold, Caches::Hot],
        }
    }
}

/// A table: the same transfer, link and caches for all files.
struct Table {
    transfer: &'static str,
    link: String,
    caches: Caches,
    /// The files' names, and the times of each strategy for them.
    files: Vec<(String, Times)>,
}

pub(crate) fn run(options: &Options) -> Result<(), Error> {
    let inputs = input::read(&options.paths, options.payload.as_deref(), options.ranks_per_node)?;
    let links = match options.link {
        Some(link) => vec![(format!("{} us, {} MB/s", link.latency_us, link.bandwidth_mb_s), link)],
        None => LINKS.map(|(name, link)| (name.to_owned(), link)).to_vec(),
    };
    let knowledge = options.heuristics.as_deref().map_or_else(Knowledge::default, read_knowledge);
    let is_cold_wanted = options.dump.is_some() || options.caches.caches().contains(&Caches::Cold);
    let measured = measure(&inputs, (is_cold_wanted, options.memory))?;
    if let Some(file) = &options.dump {
        let written = File::create(file).map_err(csv::Error::from).and_then(|to| dump::write(to, &measured));
        written.map_err(|error| Error::Write { file: file.clone(), why: error.to_string() })?;
    }
    let channel = |file, link, transfer, caches, cold_decisions| Channel {
        file,
        knowledge: &knowledge,
        link,
        transfer,
        caches,
        ablate: &options.ablate,
        cold_decisions,
    };
    let everywhere = measured.iter().flat_map(|file| links.iter().map(move |(_, link)| (file, *link)));
    let everywhere = everywhere
        .map(|(file, link)| channel(file, link, Transfer::Serial, Caches::Cold, Default::default()));
    let cold_decisions =
        if is_cold_wanted { cold_decisions(&everywhere.collect::<Vec<_>>()) } else { Default::default() };
    let mut tables = Vec::new();
    for &caches in options.caches.caches() {
        for (transfer_name, transfer) in TRANSFERS {
            for (link_name, link) in &links {
                let simulate = |file| simulate(&channel(file, *link, transfer, caches, cold_decisions));
                let times = measured.iter().map(|file| (file.name.to_owned(), simulate(file)));
                tables.push(Table {
                    transfer: transfer_name,
                    link: link_name.clone(),
                    caches,
                    files: times.collect(),
                });
            }
        }
    }
    if let Some(file) = &options.plot {
        plot::write(file, &tables).map_err(|why| Error::Write { file: file.clone(), why })?;
    }
    let text = table::by_codec(&measured, options.caches.caches()) + &table::of(&tables, &cold_decisions);
    match std::io::stdout().write_all(text.as_bytes()) {
        // The reader may stop early.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        result => Ok(result?),
    }
}

fn ranks(text: &str) -> Result<NonZeroI32, String> {
    let ranks = text.parse().ok().filter(|ranks: &NonZeroI32| ranks.get() > 0);
    ranks.ok_or_else(|| "not a number from 1 on".to_owned())
}

/// Parses the value of the option for a link.
fn link(text: &str) -> Result<Link, String> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    let parts = text.split_once(',').map(|(latency, bandwidth)| (number(latency), number(bandwidth)));
    match parts {
        Some((Some(latency_us), Some(bandwidth_mb_s))) if latency_us >= 0.0 && bandwidth_mb_s > 0.0 => {
            Ok(Link { latency_us, bandwidth_mb_s })
        }
        _ => Err("not latency in microseconds, a comma and bandwidth in MB/s, such as 25,118".to_owned()),
    }
}

fn mechanism(text: &str) -> Result<Mechanism, String> {
    let found = Mechanism::ALL.into_iter().find(|mechanism| mechanism.name() == text);
    found.ok_or_else(|| format!("expected {}", Mechanism::ALL.map(Mechanism::name).join(", ")))
}

fn read_knowledge(folder: &Path) -> Knowledge {
    let (knowledge, errors) = Knowledge::read(folder);
    errors.iter().for_each(|error| eprintln!("mpress: {error}"));
    knowledge
}
