//! Records of decisions, for the guided strategy. Format: `docs/format/heuristics.md`.

use crate::codecs::{Codec, RAW};
use crate::knowledge::{self, File};
use mpress_codec::Kind;
use mpress_selector::{Choice, Guide, Guided, SizeClass, Tally};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A record of decisions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    format: String,
    version: u32,
    /// The decisions.
    #[serde(default)]
    pub decision: Vec<Entry>,
}

/// The most frequent decision for messages of a kind and size class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The name of the kind.
    pub kind: String,
    /// The minimum message length of the size class, in bytes.
    pub from: u64,
    /// The name of the codec, or `raw`.
    pub codec: String,
    /// The number of messages with this decision.
    pub messages: u64,
}

impl File for Record {
    const FORMAT: &str = "mpress decisions";
    const VERSION: u32 = 2;
    const WRITTEN_BY: &str = "the program with MPRESS_STRATEGY=adaptive";

    fn head(&self) -> (&str, u32) {
        (&self.format, self.version)
    }
}

impl Record {
    /// The record of a tally.
    #[must_use]
    pub fn of(tally: &Tally) -> Self {
        let decision = tally.most_chosen().map(|(guide, messages)| Entry {
            kind: guide.kind.name().into(),
            from: guide.size.start() as u64,
            codec: match guide.choice {
                Choice::Raw => RAW,
                Choice::Encode(offer) => Codec::at(usize::from(offer)).map_or(RAW, Codec::name),
            }
            .into(),
            messages,
        });
        Self { format: Self::FORMAT.into(), version: Self::VERSION, decision: decision.collect() }
    }

    /// Reads a record.
    ///
    /// # Errors
    /// One line: why the file cannot be read or is not a record of decisions.
    pub fn read(file: &Path) -> Result<Self, String> {
        let wrong = |why: String| format!("{}: {why}", file.display());
        let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
        let record: Self = knowledge::parse(&text).map_err(wrong)?;
        if let Some(entry) = record.decision.iter().find(|entry| entry.to_guide().is_none()) {
            return Err(wrong(format!("no such decision: {} {}", entry.kind, entry.codec)));
        }
        Ok(record)
    }

    /// The record as the text of a file.
    ///
    /// # Errors
    /// One line; no cause is known.
    pub fn to_toml(&self) -> Result<String, String> {
        toml::to_string(self).map_err(|error| error.to_string())
    }

    /// The decisions of this record, for the guided strategy.
    #[must_use]
    pub fn guided(&self) -> Guided {
        Guided::new(self.decision.iter().filter_map(Entry::to_guide))
    }
}

impl Entry {
    fn to_guide(&self) -> Option<Guide> {
        Some(Guide {
            kind: Kind::ALL.into_iter().find(|kind| kind.name() == self.kind)?,
            size: SizeClass::of(usize::try_from(self.from).ok()?),
            choice: match &*self.codec {
                RAW => Choice::Raw,
                name => Choice::Encode(u8::try_from(Codec::named(name)?.index()).ok()?),
            },
        })
    }
}
