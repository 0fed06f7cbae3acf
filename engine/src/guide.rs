//! Records of decisions, for the guided strategy. Format: `docs/format/heuristics.md`.

use crate::codecs::{Codecs, RAW, Table};
use crate::engine::Engine;
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
    /// The record of a tally of decisions for the engine's own codecs; [`Engine::record`] also knows those of others.
    #[must_use]
    pub fn of(tally: &Tally) -> Self {
        Self::by(tally, &Table::default())
    }

    /// The record of a tally by an engine with this table.
    fn by(tally: &Tally, table: &Table) -> Self {
        let decision = tally.most_chosen().map(|(guide, messages)| Entry {
            kind: guide.kind.name().into(),
            from: guide.size.start() as u64,
            codec: match guide.choice {
                Choice::Raw => RAW,
                Choice::Encode(offer) => table.name(offer),
            }
            .into(),
            messages,
        });
        Self { format: Self::FORMAT.into(), version: Self::VERSION, decision: decision.collect() }
    }

    /// Reads a record of decisions for the engine's own codecs.
    ///
    /// # Errors
    /// One line: why the file cannot be read or is not a record of decisions.
    pub fn read(file: &Path) -> Result<Self, String> {
        Self::read_with(file, &Codecs::default())
    }

    /// Reads a record of decisions for the engine's own codecs and these.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub fn read_with(file: &Path, codecs: &Codecs) -> Result<Self, String> {
        let wrong = |why: String| format!("{}: {why}", file.display());
        let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
        let record: Self = knowledge::parse(&text).map_err(wrong)?;
        let is_known = |name: &str| name == RAW || codecs.named(name).is_some();
        let is_right = |entry: &Entry| is_known(&entry.codec) && entry.messages_like().is_some();
        if let Some(entry) = record.decision.iter().find(|entry| !is_right(entry)) {
            return Err(wrong(format!("no such decision: {} {}", entry.kind, entry.codec)));
        }
        Ok(record)
    }

    /// The record as the text of a file.
    ///
    /// # Errors
    /// One line; there is no known cause.
    pub fn to_toml(&self) -> Result<String, String> {
        toml::to_string(self).map_err(|error| error.to_string())
    }

    /// Writes the record to a file.
    ///
    /// # Errors
    /// One line, with the file: why it cannot be written.
    pub fn write(&self, file: &Path) -> Result<(), String> {
        let written =
            self.to_toml().and_then(|text| std::fs::write(file, text).map_err(|error| error.to_string()));
        written.map_err(|why| format!("{}: {why}", file.display()))
    }

    /// The decisions of this record, for the guided strategy of an engine with this table. Messages whose codec the engine does not have are sent
    /// raw.
    pub(crate) fn guided(&self, table: &Table) -> Guided {
        Guided::new(self.decision.iter().filter_map(|entry| entry.to_guide(table)))
    }
}

impl Entry {
    /// The kind and size class of its messages.
    fn messages_like(&self) -> Option<(Kind, SizeClass)> {
        let kind = Kind::ALL.into_iter().find(|kind| kind.name() == self.kind)?;
        Some((kind, SizeClass::of(usize::try_from(self.from).ok()?)))
    }

    fn to_guide(&self, table: &Table) -> Option<Guide> {
        let (kind, size) = self.messages_like()?;
        let choice = table.named(&self.codec).map_or(Choice::Raw, Choice::Encode);
        Some(Guide { kind, size, choice })
    }
}

impl Engine {
    /// The record of a tally of this engine's decisions ([`tally`](Self::tally)), or of a sum of the tallies of all processes.
    #[must_use]
    pub fn record(&self, tally: &Tally) -> Record {
        Record::by(tally, self.table())
    }
}
