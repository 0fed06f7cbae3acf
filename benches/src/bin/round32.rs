//! Converts files of doubles to files of floats.
#![forbid(unsafe_code)]

use clap::Parser;
use mpress_benches::Result;
use mpress_benches::corpus::{Entry, File, Piece, write};
use mpress_benches::element::Element;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Round each *.f64 of a folder to an *.f32 with the same messages
///
/// A file with a value outside the range of floats is skipped and reported.
#[derive(Parser)]
#[command(name = "round32", verbatim_doc_comment)]
struct Args {
    /// The folder of doubles
    #[arg(value_name = "SRC")]
    from: PathBuf,
    /// The folder to write to
    #[arg(value_name = "DST")]
    to: PathBuf,
    /// Only these files, such as bt,sp
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    only: Option<Vec<String>>,
}

fn main() -> ExitCode {
    mpress_benches::cli::run(round)
}

fn round(args: Args) -> Result<()> {
    fs::create_dir_all(&args.to).map_err(|error| format!("{}: {error}", args.to.display()))?;
    let mut files = File::read_all(&args.from)?;
    files.retain(|file| file.element == Element::F64);
    if let Some(only) = &args.only {
        let stem = |file: &File| file.name.trim_end_matches(".f64").to_owned();
        if let Some(name) = only.iter().find(|name| !files.iter().any(|file| stem(file) == **name)) {
            return Err(format!("{}: no {name}.f64 here", args.from.display()).into());
        }
        files.retain(|file| only.contains(&stem(file)));
    }
    for file in &files {
        match floats(file) {
            Ok((bytes, index)) => {
                let name = Path::new(&file.name).with_extension("f32");
                write(&args.to, &name.to_string_lossy(), &bytes, &index)?;
            }
            Err(why) => eprintln!("LEFT OUT: {}: {why}", file.name),
        }
    }
    Ok(())
}

/// The file's payload as floats, and the matching index.
fn floats(file: &File) -> std::result::Result<(Vec<u8>, Vec<Entry>), &'static str> {
    let (mut bytes, mut index) = (Vec::new(), Vec::new());
    for (message, entry) in file.pieces(Piece::Message).into_iter().zip(&file.index) {
        let (doubles, []) = message.as_chunks() else {
            return Err("a message that is not a whole number of doubles");
        };
        let offset = bytes.len();
        for double in doubles {
            let double = f64::from_le_bytes(*double);
            let float = double as f32;
            if float.is_infinite() && double.is_finite() {
                return Err("a value that no float can hold");
            }
            bytes.extend_from_slice(&float.to_le_bytes());
        }
        index.push(Entry { offset, bytes: bytes.len() - offset, ..entry.clone() });
    }
    Ok((bytes, index))
}
