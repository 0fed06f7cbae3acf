//! Heuristics files: knowledge of the codecs and the memory before the first message. Formats: `docs/format/heuristics.md`.

mod memory;

use mpress_codec::Kind;
use mpress_selector::{Behaviour, DEFAULT_LINK, Level, Link, Speed};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

pub use memory::{MEMORY_FILE, Memory, MemoryFile};

/// The name of the codec file in a folder of heuristics.
pub const COMPRESSION_FILE: &str = "compression.toml";

/// The knowledge before the first message.
#[derive(Clone, Debug, PartialEq)]
pub struct Knowledge {
    /// The network, until a job has measured it.
    pub link: Link,
    /// The behaviour of the codecs.
    pub codecs: Vec<CodecBehaviour>,
}

impl Default for Knowledge {
    /// A gigabit network, and codecs as measured on a server of 2023.
    fn default() -> Self {
        let codecs = BUILT_IN.iter().map(|&(kind, level, codec, ratio, encode, decode)| {
            let speed = |[start_us, mb_s, cold_us]: [f64; 3]| Speed { start_us, mb_s, cold_us };
            let (encode, decode) = (speed(encode), speed(decode));
            CodecBehaviour {
                kind: kind.into(),
                level: level.into(),
                codec: codec.into(),
                ratio,
                encode,
                decode,
            }
        });
        Self { link: DEFAULT_LINK, codecs: codecs.collect() }
    }
}

/// Kind, level, codec, ratio, and start, speed and cold part of encoding and decoding.
type Row = (&'static str, &'static str, &'static str, f64, [f64; 3], [f64; 3]);

/// The file `heuristics/compression.toml`.
#[allow(clippy::approx_constant, reason = "a measured time may be like that")]
static BUILT_IN: &[Row] = &include!(concat!(env!("OUT_DIR"), "/built_in.rs"));

/// The codec file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompressionFile {
    format: String,
    version: u32,
    /// When, where and with which command it was measured.
    pub made: String,
    /// The behaviour of the codecs.
    pub behaviour: Vec<CodecBehaviour>,
}

/// The behaviour of a codec on messages of a kind and redundancy level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodecBehaviour {
    /// The name of the kind.
    pub kind: String,
    /// The name of the level.
    pub level: String,
    /// The name of the codec.
    pub codec: String,
    /// Raw bytes divided by compressed bytes.
    pub ratio: f64,
    /// Encoding speed.
    pub encode: Speed,
    /// Decoding speed.
    pub decode: Speed,
}

impl CompressionFile {
    /// A file of these behaviours.
    #[must_use]
    pub fn new(made: String, behaviour: Vec<CodecBehaviour>) -> Self {
        Self { format: Self::FORMAT.into(), version: Self::VERSION, made, behaviour }
    }
}

/// A file of heuristics that cannot be used. `Display` prints one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {why}; {} are used", file.display(), self.instead())]
pub struct KnowledgeError {
    /// The file.
    pub file: PathBuf,
    /// What is wrong with it.
    pub why: String,
}

impl KnowledgeError {
    /// What is used in place of the file.
    fn instead(&self) -> &'static str {
        if self.file.ends_with(MEMORY_FILE) { "the processor's own tables" } else { "built-in defaults" }
    }
}

impl Knowledge {
    /// Reads the files of a folder. Files that cannot be used are replaced by defaults and reported. A folder may lack one of
    /// the files, but not both.
    #[must_use]
    pub fn read(folder: &Path) -> (Self, Vec<KnowledgeError>) {
        let mut knowledge = Self::default();
        let mut errors = Vec::new();
        let has_any = [COMPRESSION_FILE, MEMORY_FILE].iter().any(|name| folder.join(name).exists());
        let mut take = |name: &str, take: &mut dyn FnMut(&str) -> Result<(), String>| {
            let file = folder.join(name);
            let text = match std::fs::read_to_string(&file) {
                Err(error) if error.kind() == ErrorKind::NotFound && has_any => return,
                text => text.map_err(|error| error.to_string()),
            };
            if let Err(why) = text.and_then(|text| take(&text)) {
                errors.push(KnowledgeError { file, why });
            }
        };
        take(COMPRESSION_FILE, &mut |text| {
            let file: CompressionFile = parse(text)?;
            if let Some(wrong) = file.behaviour.iter().find(|b| b.to_behaviour().is_none_or(|b| !b.is_sane()))
            {
                return Err(format!("no codec behaves so: {} {} {}", wrong.kind, wrong.level, wrong.codec));
            }
            knowledge.codecs = file.behaviour;
            Ok(())
        });
        (knowledge, errors)
    }

    /// The behaviours in the selector's format.
    pub(crate) fn behaviours(&self) -> Vec<Behaviour<'_>> {
        self.codecs.iter().filter_map(CodecBehaviour::to_behaviour).collect()
    }
}

impl CodecBehaviour {
    fn to_behaviour(&self) -> Option<Behaviour<'_>> {
        Some(Behaviour {
            kind: Kind::ALL.into_iter().find(|kind| kind.name() == self.kind)?,
            level: Level::ALL.into_iter().find(|level| level.name() == self.level)?,
            codec: &self.codec,
            ratio: self.ratio,
            encode: self.encode,
            decode: self.decode,
        })
    }
}

/// A TOML file in one of mpress's formats.
pub(crate) trait File: DeserializeOwned {
    /// The format name that the file must contain.
    const FORMAT: &str;
    /// The version that is written and read.
    const VERSION: u32 = 1;
    /// What writes such a file.
    const WRITTEN_BY: &str = "mpress calibrate";

    /// The format and version in the file.
    fn head(&self) -> (&str, u32);
}

impl File for CompressionFile {
    const FORMAT: &str = "mpress compression heuristics";
    const VERSION: u32 = 2;

    fn head(&self) -> (&str, u32) {
        (&self.format, self.version)
    }
}

/// The fields at the start of all these files.
#[derive(Deserialize)]
struct Head {
    format: Option<String>,
    version: Option<u32>,
}

/// Parses such a file.
pub(crate) fn parse<T: File>(text: &str) -> Result<T, String> {
    let error = |error: toml::de::Error| crate::toml_error(text, &error);
    let file = toml::from_str::<T>(text).map_err(error);
    // A single pass if the file is valid, because every start of a program does this.
    if file.as_ref().is_ok_and(|file| file.head() == (T::FORMAT, T::VERSION)) {
        return file;
    }
    let head: Head = toml::from_str(text).map_err(error)?;
    if head.format.as_deref() != Some(T::FORMAT) {
        return Err(format!("not a file of {}", T::FORMAT));
    }
    match head.version {
        Some(version) if version == T::VERSION => file,
        Some(version) => {
            let again = format!(" (run {} again)", T::WRITTEN_BY);
            let advice = if version < T::VERSION { &again } else { "" };
            Err(format!("version {version} of {}; this is for version {}{advice}", T::FORMAT, T::VERSION))
        }
        None => Err("no version".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_heuristics_are_those_of_the_file() {
        let file: CompressionFile = parse(include_str!("../heuristics/compression.toml")).unwrap();
        assert_eq!(Knowledge::default().codecs, file.behaviour);
        assert!(!file.behaviour.is_empty());
    }
}
