//! Settings as text, in the format of a settings file.

use super::names::FLAGS;
use super::{Settings, Streams};
use std::fmt::Write as _;
use std::path::PathBuf;

impl Settings {
    /// The settings in the format of a settings file.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        let mut line = |key: &str, value: Option<String>| {
            // Writing to a String cannot fail.
            let _ = match value {
                Some(value) => writeln!(text, "{key} = {value}"),
                None => writeln!(text, "# {key} is not set"),
            };
        };
        // TOML has no greater integers.
        let number = |value: u64| match i64::try_from(value) {
            Ok(value) => value.to_string(),
            Err(_) => format!("\"{value}\""),
        };
        let quoted = |value: &str| toml::Value::String(value.to_owned()).to_string();
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| quoted(&path.to_string_lossy()));
        line("strategy", Some(quoted(&self.strategy.to_string())));
        line("heuristics", path(&self.heuristics));
        line("links", path(&self.links));
        line("guide", path(&self.guide));
        line("threshold", Some(number(self.threshold as u64)));
        line("report", Some(quoted(["none", "summary", "full"][self.report as usize])));
        line("report_file", path(&self.report_file));
        line("same_node", Some(quoted(["pass", "compress"][self.same_node as usize])));
        line("threads", Some(number(self.threads as u64)));
        line(
            "streams",
            Some(match self.streams {
                Streams::Auto => quoted("auto"),
                Streams::Off => quoted("off"),
                Streams::From(bytes) => number(bytes as u64),
            }),
        );
        line("memory", Some(number(self.memory as u64)));
        line("reduce", Some(quoted(["off", "exact", "reorder"][self.reduce as usize])));
        line("clock", Some(quoted(["off", "on"][usize::from(self.clock)])));
        line("predict", Some(quoted(["off", "on", "all"][self.predict as usize])));
        line("predict_memory", Some(number(self.predict_memory as u64)));
        line("trace", path(&self.trace));
        line("record", path(&self.record));
        line("record_limit", Some(number(self.record_limit as u64)));
        line("patience", Some(number(self.patience.as_secs_f64().ceil() as u64)));
        line("disable", Some(self.disable.to_string()));
        line("dump_config", Some(self.dump_config.to_string()));
        text
    }
}

/// A value of a settings file, as its variable would have it.
pub(super) fn in_words(key: &str, value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Boolean(yes) if FLAGS.contains(&key) => u8::from(*yes).to_string(),
        other => other.to_string(),
    }
}
