//! The files that settings name.

use super::Settings;
use crate::guide::Record;
use crate::knowledge::{Knowledge, Memory};
use crate::links::Links;
use crate::strategy::Strategy;

impl Settings {
    /// Reads the files that a job with these settings reads at its start, to see whether it can: heuristics, kept links, and the record of decisions
    /// for the guided strategy. A job runs on without a file that it cannot use.
    ///
    /// # Errors
    /// One line, with the file: why the first that cannot be used cannot.
    pub fn check_files(&self) -> Result<(), String> {
        if let Some(folder) = &self.heuristics {
            let (_, mut errors) = Knowledge::read(folder);
            // A folder may lack one of its files: not everything was measured.
            let none = errors.len() == 2;
            errors.retain(|error| none || error.file.exists());
            if let Some(error) = errors.into_iter().next().or(Memory::read(folder).err()) {
                return Err(format!("{}: {}", error.file.display(), error.why));
            }
        }
        if let Some(file) = &self.links {
            Links::read(file).map_err(|why| format!("{}: {why}", file.display()))?;
        }
        match &self.guide {
            Some(file) if self.strategy == Strategy::Guided => {
                Record::read_with(file, &self.codecs).map(drop)
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn files_that_cannot_be_used_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            Some(path)
        };
        let none = || Some(PathBuf::from("/none"));
        let own = Settings::default;
        let heuristics = Some(folder.path().to_owned());
        let checked = |settings: Settings, part: &str| {
            let line = settings.check_files().err().unwrap_or_default();
            assert_eq!((line.contains(part), line.is_empty()), (true, part.is_empty()), "{line}");
        };
        checked(own(), "");
        checked(Settings { links: none(), guide: none(), ..own() }, "");
        checked(Settings { guide: none(), strategy: Strategy::Guided, ..own() }, "/none: No such file");
        checked(Settings { heuristics: none(), ..own() }, "/none/network.toml: No such file");
        checked(Settings { heuristics: heuristics.clone(), ..own() }, "network.toml: No such file");
        file("compression.toml", include_str!("../../heuristics/compression.toml"));
        checked(Settings { heuristics: heuristics.clone(), ..own() }, "");
        for name in ["memory.toml", "network.toml"] {
            let path = file(name, "Dear diary\n");
            checked(Settings { heuristics: heuristics.clone(), ..own() }, &format!("{name}: line 1: "));
            checked(Settings { links: path, ..own() }, &format!("{name}: line 1: "));
        }
    }
}
