//! Settings from the environment (the `MPRESS_*` variables) and from a file.

mod choices;
mod error;
mod files;
mod names;
mod paths;
mod text;

pub use choices::{Predict, Reduce, Report, SameNode, Streams};
pub use error::SettingsError;

use crate::codecs::Codecs;
use crate::strategy::Strategy;
use crate::{FLOOR, size};
use error::one_line;
use names::{CONFIG, KEYS, PREFIX};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;
use text::in_words;

/// All external settings, and the codecs of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `MPRESS_STRATEGY=adaptive|ras|guided|fixed:CODEC|off|measure`.
    pub strategy: Strategy,
    /// `MPRESS_HEURISTICS=DIR`: the folder with the files written by `mpress calibrate`.
    pub heuristics: Option<PathBuf>,
    /// `MPRESS_LINKS=FILE`: the file in which jobs keep what they know of the network, for later jobs on the same nodes.
    pub links: Option<PathBuf>,
    /// `MPRESS_GUIDE=FILE`: the record of decisions that the guided strategy reads, and that the other strategies write at the end.
    pub guide: Option<PathBuf>,
    /// `MPRESS_THRESHOLD=BYTES`: shorter messages are not compressed. At least [`FLOOR`].
    pub threshold: usize,
    /// `MPRESS_REPORT=none|summary|full`.
    pub report: Report,
    /// `MPRESS_REPORT_FILE=FILE`: the file for the full report; in JSON if the name ends in `.json`. Standard error then gets at most the summary.
    pub report_file: Option<PathBuf>,
    /// `MPRESS_SAME_NODE=pass|compress`.
    pub same_node: SameNode,
    /// `MPRESS_THREADS=1..1024`: threads of a rank for messages of more than a MiB.
    pub threads: usize,
    /// `MPRESS_STREAMS=auto|off|BYTES`: the length from which messages are sent in chunks.
    pub streams: Streams,
    /// `MPRESS_MEMORY=BYTES`: maximum total size of the messages that a rank keeps so that later ones refer to them; 0: none.
    pub memory: usize,
    /// `MPRESS_REDUCE=off|exact|reorder`.
    pub reduce: Reduce,
    /// `MPRESS_CLOCK=off|on`: whether the adaptive strategy occasionally sends messages another way for a short time, to compare both by the clock.
    pub clock: bool,
    /// `MPRESS_PREDICT=off|on|all`.
    pub predict: Predict,
    /// `MPRESS_PREDICT_MEMORY=BYTES`: maximum total size of the messages that a rank receives before the program asks for them. At least [`FLOOR`].
    pub predict_memory: usize,
    /// `MPRESS_TRACE=DIR`: the folder where each rank records its receive calls.
    pub trace: Option<PathBuf>,
    /// `MPRESS_RECORD=DIR`: the folder where each rank stores samples of the messages that it sends.
    pub record: Option<PathBuf>,
    /// `MPRESS_RECORD_LIMIT=BYTES`: maximum total size of the samples of a rank.
    pub record_limit: usize,
    /// `MPRESS_PATIENCE=SECONDS`: how long the first process waits for the last one at the start of a job.
    pub patience: Duration,
    /// `MPRESS_DISABLE=0|1`: pass everything through.
    pub disable: bool,
    /// `MPRESS_DUMP_CONFIG=0|1`: print the effective settings when the program starts.
    pub dump_config: bool,
    /// The codecs of others that this process has. No variable: a program or a layer names them before it reads the variables
    /// ([`with_vars`](Self::with_vars)).
    pub codecs: Codecs,
    /// The variables with our prefix that are not settings. They are ignored, because environment modules set such names, for example `MPRESS_ROOT`.
    pub unknown: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            strategy: Strategy::default(),
            heuristics: None,
            links: None,
            guide: None,
            threshold: FLOOR,
            report: Report::default(),
            report_file: None,
            same_node: SameNode::default(),
            threads: 1,
            streams: Streams::default(),
            memory: MEMORY,
            reduce: Reduce::default(),
            clock: true,
            predict: Predict::default(),
            predict_memory: PREDICT_MEMORY,
            trace: None,
            record: None,
            record_limit: RECORD_LIMIT,
            patience: PATIENCE,
            disable: false,
            dump_config: false,
            codecs: Codecs::default(),
            unknown: Vec::new(),
        }
    }
}

/// The maximum number of threads of a rank.
const MAX_THREADS: usize = 1024;

/// The default of `patience`. Processes of one job may start minutes apart if a slow file system must deliver programs and libraries to all nodes; no
/// job starts an hour apart.
const PATIENCE: Duration = Duration::from_secs(3600);

/// The default of `memory`, in bytes.
const MEMORY: usize = 64 << 20;

/// The default of `predict_memory`, in bytes: as much as the engine keeps of pooled memory.
const PREDICT_MEMORY: usize = 64 << 20;

/// The default of `record_limit`, in bytes. The samples stay in memory until the program ends, and a node may have more than a hundred ranks.
const RECORD_LIMIT: usize = 16 << 20;

impl Settings {
    /// Reads the settings from the file in `MPRESS_CONFIG`, if set, and from the environment variables, which take precedence. Variables without our
    /// prefix are ignored. An empty variable counts as not set. Paths become absolute: the program may change its folder before they are used.
    ///
    /// # Errors
    /// The first setting that has an invalid value; a file that cannot be read or has an unknown key.
    pub fn from_vars(vars: impl IntoIterator<Item = (OsString, OsString)>) -> Result<Self, SettingsError> {
        Self::default().with_vars(vars)
    }

    /// These settings, changed by the file and the variables as in [`from_vars`](Self::from_vars). A strategy may be fixed on one of these settings'
    /// [`codecs`](Self::codecs).
    ///
    /// # Errors
    /// As for [`from_vars`](Self::from_vars).
    pub fn with_vars(
        self,
        vars: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Self, SettingsError> {
        let vars: Vec<_> = vars
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value)))
            .filter(|(name, value)| name.starts_with(PREFIX) && !value.is_empty())
            .collect();
        let mut settings = self;
        if let Some((_, file)) = vars.iter().find(|(name, _)| name == CONFIG) {
            settings.read(Path::new(file))?;
        }
        for (name, value) in &vars {
            match KEYS.into_iter().find(|key| names::variable(key) == *name) {
                Some(key) => settings.set(key, name, value)?,
                None if names::is_read_elsewhere(name) => {}
                None => settings.unknown.push(name.clone()),
            }
        }
        settings.check_guide()?;
        Ok(settings)
    }

    fn check_guide(&self) -> Result<(), SettingsError> {
        match &self.guide {
            None if self.strategy == Strategy::Guided => Err(SettingsError::NoGuide),
            _ => Ok(()),
        }
    }

    /// Checks the values, which a program may have set.
    ///
    /// # Errors
    /// The first setting that has an invalid value.
    pub fn check(&self) -> Result<(), SettingsError> {
        self.check_guide()?;
        let (mut same, text) = (self.clone(), self.to_toml());
        let table: toml::Table = text.parse().map_err(|error| SettingsError::File {
            file: "settings".into(),
            why: crate::toml_error(&text, &error),
        })?;
        table.iter().try_for_each(|(key, value)| same.set(key, key, in_words(key, value).as_ref()))
    }

    /// A line about the [`unknown`](Self::unknown) variables, if there are any, with the settings that they were most likely meant to be.
    #[must_use]
    pub fn unknown_line(&self) -> Option<String> {
        let mut names: Vec<_> = self.unknown.iter().map(|name| one_line(&names::described(name))).collect();
        names.sort();
        (!names.is_empty())
            .then(|| format!("ignored, since mpress has no such setting: {}", names.join(", ")))
    }

    /// Applies the contents of a settings file.
    fn read(&mut self, file: &Path) -> Result<(), SettingsError> {
        let wrong = |why: String| SettingsError::File { file: file.to_owned(), why };
        let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
        let table: toml::Table =
            text.parse().map_err(|error: toml::de::Error| wrong(crate::toml_error(&text, &error)))?;
        for (name, value) in &table {
            let key = KEYS.into_iter().find(|key| key == name);
            let key =
                key.ok_or_else(|| wrong(format!("{name}: unknown setting (known: {})", KEYS.join(", "))))?;
            let value = in_words(key, value);
            self.set(key, key, value.as_ref()).map_err(|error| wrong(error.to_string()))?;
        }
        Ok(())
    }

    fn set(&mut self, key: &str, name: &str, value: &OsStr) -> Result<(), SettingsError> {
        if let Some((_, path)) = self.paths_mut().into_iter().find(|(of, _)| *of == key) {
            *path = Some(paths::absolute(value.as_ref()));
            return Ok(());
        }
        // No valid value contains the character that replaces what is not UTF-8.
        let value = &*value.to_string_lossy();
        let wrong =
            |expected: String| SettingsError::Value { name: name.into(), value: value.into(), expected };
        let pick = |choices: &[&str]| {
            let at = choices.iter().position(|choice| *choice == value);
            at.ok_or_else(|| wrong(alternatives(choices)))
        };
        match key {
            "strategy" => {
                self.strategy = self.codecs.strategy(value).map_err(|error| wrong(error.to_string()))?;
            }
            "threshold" => {
                let bytes = size::parse(value).filter(|bytes| *bytes >= FLOOR);
                self.threshold =
                    bytes.ok_or_else(|| wrong(format!("at least {FLOOR} bytes, such as 4096 or 16KiB")))?;
            }
            "report" => {
                self.report =
                    [Report::None, Report::Summary, Report::Full][pick(&["none", "summary", "full"])?];
            }
            "same_node" => {
                self.same_node = [SameNode::Pass, SameNode::Compress][pick(&["pass", "compress"])?]
            }
            "threads" => {
                let threads = value.parse().ok().filter(|threads| (1..=MAX_THREADS).contains(threads));
                self.threads = threads.ok_or_else(|| wrong(format!("a number from 1 to {MAX_THREADS}")))?;
            }
            "streams" => {
                self.streams = match value {
                    "auto" => Streams::Auto,
                    "off" => Streams::Off,
                    bytes => {
                        let bytes = size::parse(bytes).filter(|bytes| *bytes >= Streams::LEAST);
                        let expected = || format!("auto, off or at least {} bytes", Streams::LEAST);
                        Streams::From(bytes.ok_or_else(|| wrong(expected()))?)
                    }
                };
            }
            "memory" => {
                let bytes = size::parse(value).filter(|bytes| *bytes == 0 || *bytes >= FLOOR);
                self.memory =
                    bytes.ok_or_else(|| wrong(format!("0 or at least {FLOOR} bytes, such as 64MiB")))?;
            }
            "reduce" => {
                self.reduce =
                    [Reduce::Off, Reduce::Exact, Reduce::Reorder][pick(&["off", "exact", "reorder"])?];
            }
            "clock" => self.clock = pick(&["off", "on"])? == 1,
            "predict" => {
                self.predict = [Predict::Off, Predict::On, Predict::All][pick(&["off", "on", "all"])?];
            }
            "predict_memory" => {
                let bytes = size::parse(value).filter(|bytes| *bytes >= FLOOR);
                self.predict_memory =
                    bytes.ok_or_else(|| wrong(format!("at least {FLOOR} bytes, such as 64MiB")))?;
            }
            "record_limit" => {
                let bytes = size::parse(value).filter(|bytes| *bytes >= FLOOR);
                self.record_limit =
                    bytes.ok_or_else(|| wrong(format!("at least {FLOOR} bytes, such as 64MiB")))?;
            }
            "patience" => {
                let seconds = value.parse().ok().filter(|seconds| *seconds > 0);
                self.patience = seconds
                    .map(Duration::from_secs)
                    .ok_or_else(|| wrong("a number of seconds, at least 1".to_owned()))?;
            }
            "disable" => self.disable = pick(&["0", "1"])? == 1,
            _ => self.dump_config = pick(&["0", "1"])? == 1,
        }
        Ok(())
    }
}

/// `a, b or c`.
fn alternatives(choices: &[&str]) -> String {
    match choices {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => choices.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(vars: &[(&str, &str)]) -> Result<Settings, SettingsError> {
        Settings::from_vars(vars.iter().map(|(n, v)| (n.into(), v.into())))
    }

    fn file(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        file
    }

    #[test]
    fn defaults_and_values() {
        let here = |name: &str| Some(std::env::current_dir().unwrap().join(name));
        assert_eq!(from(&[("HOME", "/"), ("MPRESS_LIBDIR", "x")]), Ok(Settings::default()));
        let all = Settings {
            strategy: "fixed:dfcm".parse().unwrap(),
            heuristics: Some("/h".into()),
            links: here("l"),
            guide: here("g"),
            threshold: 16 << 10,
            report: Report::Full,
            report_file: here("r.json"),
            same_node: SameNode::Compress,
            threads: 4,
            streams: Streams::From(32 << 10),
            memory: 1 << 20,
            reduce: Reduce::Reorder,
            clock: false,
            predict: Predict::All,
            predict_memory: 8 << 20,
            trace: Some("/t".into()),
            record: here("r"),
            record_limit: 1 << 20,
            patience: Duration::from_secs(7200),
            disable: true,
            dump_config: true,
            codecs: Codecs::default(),
            unknown: Vec::new(),
        };
        assert_eq!(
            from(&[
                ("MPRESS_STRATEGY", "fixed:dfcm"),
                ("MPRESS_HEURISTICS", "/h"),
                ("MPRESS_LINKS", "l"),
                ("MPRESS_GUIDE", "g"),
                ("MPRESS_THRESHOLD", "16KiB"),
                ("MPRESS_REPORT", "full"),
                ("MPRESS_REPORT_FILE", "r.json"),
                ("MPRESS_SAME_NODE", "compress"),
                ("MPRESS_THREADS", "4"),
                ("MPRESS_STREAMS", "32KiB"),
                ("MPRESS_MEMORY", "1MiB"),
                ("MPRESS_REDUCE", "reorder"),
                ("MPRESS_CLOCK", "off"),
                ("MPRESS_PREDICT", "all"),
                ("MPRESS_PREDICT_MEMORY", "8MiB"),
                ("MPRESS_TRACE", "/t"),
                ("MPRESS_RECORD", "r"),
                ("MPRESS_RECORD_LIMIT", "1MiB"),
                ("MPRESS_PATIENCE", "7200"),
                ("MPRESS_DISABLE", "1"),
                ("MPRESS_DUMP_CONFIG", "1"),
            ]),
            Ok(all.clone())
        );
        assert_eq!(from(&[("MPRESS_REPORT", "")]), Ok(Settings::default()), "empty: not set");
        let dumped = file(&all.to_toml());
        assert_eq!(
            from(&[("MPRESS_CONFIG", dumped.path().to_str().unwrap())]),
            Ok(all),
            "what is dumped is read"
        );
    }

    #[test]
    fn values_set_by_a_program_are_checked() {
        let with = |settings: Settings| settings.check().map_err(|error| error.to_string());
        let (usual, codec) = (Settings::default, "fixed:dfcm".parse().unwrap());
        assert_eq!(with(Settings { strategy: codec, disable: true, ..usual() }), Ok(()));
        let wrong = |settings, line: &str| assert_eq!(with(settings), Err(line.to_owned()));
        wrong(Settings { threads: 0, ..usual() }, "threads=0: expected a number from 1 to 1024");
        wrong(
            Settings { streams: Streams::From(8), ..usual() },
            "streams=8: expected auto, off or at least 4096 bytes",
        );
        assert!(with(Settings { strategy: Strategy::Guided, ..usual() }).is_err());
        // TOML has no numbers as great as these.
        let most = |threads| Settings { memory: usize::MAX, threads, ..usual() };
        assert_eq!(with(most(1)), Ok(()));
        wrong(most(0), "threads=0: expected a number from 1 to 1024");
        assert_eq!(with(Settings { patience: Duration::from_millis(500), ..usual() }), Ok(()));
    }

    #[test]
    fn the_environment_goes_before_the_file() {
        let config = file("strategy = \"off\"\nthreads = 3\ndisable = false\nrecord_limit = \"8M\"\n");
        let path = config.path().to_str().unwrap();
        let settings = from(&[("MPRESS_CONFIG", path), ("MPRESS_STRATEGY", "measure")]).unwrap();
        assert_eq!((settings.strategy, settings.threads), (Strategy::Measure, 3));
        assert_eq!(settings.record_limit, 8 << 20);
    }

    #[test]
    fn unknown_variables_are_ignored_and_named() {
        let settings = from(&[
            ("MPRESS_ROOT", "/opt/mpress"),
            ("MPRESS_REPROT", "full"),
            ("MPRESS_THREADS", "2"),
            ("MPRESS_DIR", "/opt"),
            ("MPRESS_CONFG", "x"),
            ("MPRESS_", "x"),
        ])
        .unwrap();
        assert_eq!((settings.threads, settings.report), (2, Report::None));
        assert_eq!(
            settings.unknown_line().unwrap(),
            "ignored, since mpress has no such setting: MPRESS_, MPRESS_CONFG (did you mean MPRESS_CONFIG?), \
             MPRESS_DIR, MPRESS_REPROT (did you mean MPRESS_REPORT?), MPRESS_ROOT"
        );
        assert_eq!(from(&[("MPRESS_THREADS", "2")]).unwrap().unknown_line(), None);
    }

    #[test]
    fn errors_are_one_clear_line() {
        for (vars, line) in [
            (("MPRESS_REPORT", "loud"), "MPRESS_REPORT=loud: expected none, summary or full"),
            (("MPRESS_DISABLE", "yes"), "MPRESS_DISABLE=yes: expected 0 or 1"),
            (("MPRESS_THREADS", "0"), "MPRESS_THREADS=0: expected a number from 1 to 1024"),
            (("MPRESS_PATIENCE", "0"), "MPRESS_PATIENCE=0: expected a number of seconds, at least 1"),
            (("MPRESS_PATIENCE", "1m"), "MPRESS_PATIENCE=1m: expected a number of seconds, at least 1"),
            (("MPRESS_STREAMS", "1024"), "MPRESS_STREAMS=1024: expected auto, off or at least 4096 bytes"),
            (("MPRESS_CLOCK", "1"), "MPRESS_CLOCK=1: expected off or on"),
            (("MPRESS_PREDICT", "1"), "MPRESS_PREDICT=1: expected off, on or all"),
            (
                ("MPRESS_PREDICT_MEMORY", "1"),
                "MPRESS_PREDICT_MEMORY=1: expected at least 1024 bytes, such as 64MiB",
            ),
            (("MPRESS_THREADS", "two"), "MPRESS_THREADS=two: expected a number from 1 to 1024"),
            (
                ("MPRESS_RECORD_LIMIT", "0"),
                "MPRESS_RECORD_LIMIT=0: expected at least 1024 bytes, such as 64MiB",
            ),
            (
                ("MPRESS_THRESHOLD", "100"),
                "MPRESS_THRESHOLD=100: expected at least 1024 bytes, such as 4096 or 16KiB",
            ),
            (
                ("MPRESS_STRATEGY", "best"),
                "MPRESS_STRATEGY=best: expected adaptive, ras, guided, fixed:CODEC, off or measure",
            ),
            (
                ("MPRESS_STRATEGY", "guided"),
                "MPRESS_STRATEGY=guided needs MPRESS_GUIDE=FILE, a record of an earlier run (MPRESS_GUIDE=FILE with the strategy adaptive writes one)",
            ),
            (("MPRESS_THREADS", "1\n2"), "MPRESS_THREADS=1\\n2: expected a number from 1 to 1024"),
            (("MPRESS_CONFIG", "/none\n/x"), "/none\\n/x: No such file or directory (os error 2)"),
            (("MPRESS_CONFIG", "/none/x"), "/none/x: No such file or directory (os error 2)"),
        ] {
            assert_eq!(from(&[vars]).unwrap_err().to_string(), line);
        }
        for (text, part) in [
            ("threads = 0", "threads=0: expected a number"),
            ("treads = 1", "treads: unknown setting"),
            ("record_limit = \"8X\"", "record_limit=8X: expected at least 1024 bytes"),
            ("threads = [1]", "threads=[1]: expected"),
            ("threads = true", "threads=true: expected a number"),
            ("clock = true", "clock=true: expected off or on"),
            ("threads = \"1\\n2\"", "threads=1\\n2: expected a number"),
            ("\"a\\nb\" = 1", "a\\nb: unknown setting"),
            ("threads 1", "line 1: "),
            ("a\0", "line 1: "),
        ] {
            let config = file(text);
            let error = from(&[("MPRESS_CONFIG", config.path().to_str().unwrap())]).unwrap_err().to_string();
            assert!(error.contains(part) && error.lines().count() == 1, "{text}: {error}");
        }
    }
}
