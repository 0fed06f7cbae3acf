//! `mpress calibrate`: heuristics files for this machine. Formats: `docs/format/heuristics.md`.

mod codecs;
mod data;
mod file;
mod memory;
mod progress;

use crate::launcher;
use clap::Args;
use mpress::knowledge::{COMPRESSION_FILE, CodecBehaviour, CompressionFile, MEMORY_FILE, MemoryFile};
use mpress_datatype::Machine;
use progress::Progress;
use std::path::PathBuf;
use std::time::Instant;

/// Measure the codecs and the memory of this machine, so that mpress decides well from the first message
///
/// Run it on a node like those of the jobs, while nothing else runs there:
///
///     mpress calibrate --out heuristics
///     export MPRESS_HEURISTICS=$PWD/heuristics
///
/// It writes compression.toml (how much and how fast each codec compresses data of each
/// kind on this machine, with cold caches) and memory.toml (sizes of pages, TLB and caches,
/// for packing derived datatypes), in less than a minute. The network needs no file: each
/// job measures it at its start.
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Options {
    /// The folder for the files; created if it does not exist
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
}

/// Why a file was not written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", file.display())]
pub(crate) struct Error {
    file: PathBuf,
    why: String,
}

/// Measures and writes. Of several ranks of a launcher, the first does that.
pub(crate) fn run(options: &Options) -> Result<(), Error> {
    if launcher::rank().is_some_and(|rank| rank > 0) {
        return Ok(());
    }
    let start = Instant::now();
    let wrong = |error: std::io::Error| Error { file: options.out.clone(), why: error.to_string() };
    std::fs::create_dir_all(&options.out).map_err(wrong)?;
    let mut progress = Progress::new();
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
    let (time, folder) = (start.elapsed().as_secs_f64(), std::path::absolute(&options.out));
    let folder = folder.unwrap_or_else(|_| options.out.clone());
    progress.say(&format!("measured in {time:.0} s; to use it, set MPRESS_HEURISTICS={}", folder.display()));
    Ok(())
}

/// Measures the codecs.
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
