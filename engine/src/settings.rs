//! Settings from the environment: the `MPRESS_*` variables.

use std::ffi::OsString;

/// What to print when the program ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Report {
    /// Nothing.
    #[default]
    None,
    /// The totals of the job.
    Summary,
    /// The totals, and a line for each element kind and codec.
    Full,
}

/// What to do with messages that stay inside a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SameNode {
    /// Pass them on untouched.
    #[default]
    Pass,
    /// Treat them like messages for another node. For tests: memory is faster than any codec.
    Compress,
}

/// Everything that can be set from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `MPRESS_REPORT=none|summary|full`.
    pub report: Report,
    /// `MPRESS_SAME_NODE=pass|compress`.
    pub same_node: SameNode,
    /// `MPRESS_THREADS=1..1024`: threads of a rank for messages of more than a MiB.
    pub threads: usize,
    /// `MPRESS_DISABLE=0|1`: pass everything through.
    pub disable: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { report: Report::default(), same_node: SameNode::default(), threads: 1, disable: false }
    }
}

/// A setting that cannot be understood. `Display` gives one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The variable is known, its value is not.
    #[error("{name}={value}: expected {expected}")]
    Value {
        /// The variable.
        name: &'static str,
        /// What it is set to.
        value: String,
        /// What it may be set to.
        expected: &'static str,
    },
    /// A variable with our prefix that means nothing to us: most likely a slip of the pen.
    #[error("{0}: unknown setting (known: {KNOWN})")]
    Name(String),
}

const KNOWN: &str = "MPRESS_REPORT, MPRESS_SAME_NODE, MPRESS_THREADS, MPRESS_DISABLE";

/// The most threads that a rank may have.
const MAX_THREADS: usize = 1024;

/// Variables with our prefix that other parts of the project read.
const FOREIGN: [&str; 2] = ["MPRESS_LIBDIR", "MPRESS_REQUIRE_LEVEL"];

impl Settings {
    /// Reads the settings from environment variables; those without our prefix are skipped. An empty value means
    /// the default.
    ///
    /// # Errors
    /// The first variable that is unknown or has a value out of its range.
    pub fn from_vars(vars: impl IntoIterator<Item = (OsString, OsString)>) -> Result<Self, SettingsError> {
        let mut settings = Self::default();
        for (name, value) in vars {
            let Some(name) = name.to_str().filter(|n| n.starts_with("MPRESS_")) else { continue };
            let value = value.to_string_lossy();
            if value.is_empty() || FOREIGN.contains(&name) || name.starts_with("MPRESS_TEST_") {
                continue;
            }
            let wrong =
                |name, expected| SettingsError::Value { name, value: value.clone().into_owned(), expected };
            match name {
                "MPRESS_REPORT" => {
                    settings.report = match &*value {
                        "none" => Report::None,
                        "summary" => Report::Summary,
                        "full" => Report::Full,
                        _ => return Err(wrong("MPRESS_REPORT", "none, summary or full")),
                    }
                }
                "MPRESS_SAME_NODE" => {
                    settings.same_node = match &*value {
                        "pass" => SameNode::Pass,
                        "compress" => SameNode::Compress,
                        _ => return Err(wrong("MPRESS_SAME_NODE", "pass or compress")),
                    }
                }
                "MPRESS_THREADS" => {
                    let threads = value.parse().ok().filter(|threads| (1..=MAX_THREADS).contains(threads));
                    settings.threads = threads.ok_or(wrong("MPRESS_THREADS", "a number from 1 to 1024"))?;
                }
                "MPRESS_DISABLE" => {
                    settings.disable = match &*value {
                        "0" => false,
                        "1" => true,
                        _ => return Err(wrong("MPRESS_DISABLE", "0 or 1")),
                    }
                }
                _ => return Err(SettingsError::Name(name.to_owned())),
            }
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(vars: &[(&str, &str)]) -> Result<Settings, SettingsError> {
        Settings::from_vars(vars.iter().map(|(n, v)| (n.into(), v.into())))
    }

    #[test]
    fn defaults_and_values() {
        assert_eq!(from(&[("HOME", "/"), ("MPRESS_LIBDIR", "x")]), Ok(Settings::default()));
        assert_eq!(
            from(&[
                ("MPRESS_REPORT", "full"),
                ("MPRESS_SAME_NODE", "compress"),
                ("MPRESS_THREADS", "4"),
                ("MPRESS_DISABLE", "1")
            ]),
            Ok(Settings { report: Report::Full, same_node: SameNode::Compress, threads: 4, disable: true })
        );
        assert_eq!(from(&[("MPRESS_REPORT", "")]), Ok(Settings::default()), "empty means default");
    }

    #[test]
    fn errors_are_one_clear_line() {
        for (vars, line) in [
            (("MPRESS_REPORT", "loud"), "MPRESS_REPORT=loud: expected none, summary or full"),
            (("MPRESS_DISABLE", "yes"), "MPRESS_DISABLE=yes: expected 0 or 1"),
            (("MPRESS_THREADS", "0"), "MPRESS_THREADS=0: expected a number from 1 to 1024"),
            (("MPRESS_THREADS", "two"), "MPRESS_THREADS=two: expected a number from 1 to 1024"),
            (
                ("MPRESS_REPROT", "full"),
                "MPRESS_REPROT: unknown setting (known: MPRESS_REPORT, MPRESS_SAME_NODE, MPRESS_THREADS, \
                 MPRESS_DISABLE)",
            ),
        ] {
            assert_eq!(from(&[vars]).unwrap_err().to_string(), line);
        }
    }
}
