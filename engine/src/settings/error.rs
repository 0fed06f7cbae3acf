//! Why settings are invalid.

use std::path::PathBuf;

/// An invalid setting. `Display` prints one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The variable is known, but its value is invalid.
    #[error("{}={}: expected {expected}", one_line(name), one_line(value))]
    Value {
        /// The variable.
        name: String,
        /// Its value.
        value: String,
        /// The valid values.
        expected: String,
    },
    /// The file cannot be read, is not a settings file, or has an unknown key or an invalid value.
    #[error("{}: {}", one_line(&file.to_string_lossy()), one_line(why))]
    File {
        /// The file.
        file: PathBuf,
        /// The error in it.
        why: String,
    },
    /// The guided strategy without a record.
    #[error(
        "MPRESS_STRATEGY=guided needs MPRESS_GUIDE=FILE, a record of an earlier run (MPRESS_GUIDE=FILE with the strategy adaptive writes one)"
    )]
    NoGuide,
}

/// A text from outside, for a message of one line: control characters are escaped.
pub(super) fn one_line(text: &str) -> String {
    let shown = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(shown).collect()
}
