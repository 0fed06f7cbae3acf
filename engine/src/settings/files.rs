//! The files that settings name.

use super::{Settings, one_line};
use crate::guide::Record;
use crate::knowledge::{Knowledge, Memory};
use crate::links::Links;
use crate::strategy::Strategy;
use std::fmt::Display;

impl Settings {
    /// Checks the files of a process of a job with these settings, and writes none of them: whether it can use those that it reads at its start
    /// (heuristics, kept links, the record of decisions for the guided strategy), and whether the folders exist of those that it writes at its end
    /// (report, links, record of decisions). `is_first`: whether it is the first process, the only one with links and output. A job runs on without a
    /// file that it cannot use.
    ///
    /// # Errors
    /// One line about the first file that cannot be used: which one, and why.
    pub fn check_files(&self, is_first: bool) -> Result<(), String> {
        self.check_read(is_first)
            .and_then(|()| if is_first { self.check_written() } else { Ok(()) })
            .map_err(|line| one_line(&line))
    }

    fn check_read(&self, is_first: bool) -> Result<(), String> {
        if self.strategy == Strategy::Off {
            return Ok(());
        }
        if let Some(folder) = &self.heuristics {
            let (_, errors) = Knowledge::read(folder);
            if let Some(error) = errors.into_iter().next().or(Memory::read(folder).err()) {
                return Err(format!("{}: {}", error.file.display(), error.why));
            }
        }
        if let Some(file) = self.links.as_ref().filter(|_| is_first) {
            Links::read(file).map_err(|why| format!("{}: {why}", file.display()))?;
        }
        match &self.guide {
            Some(file) if self.strategy == Strategy::Guided => {
                Record::read_with(file, &self.codecs).map(drop)
            }
            _ => Ok(()),
        }
    }

    fn check_written(&self) -> Result<(), String> {
        let links = self.links.as_ref().filter(|_| self.strategy != Strategy::Off);
        let guide = self.guide.as_ref().filter(|_| self.strategy.learns());
        for file in [self.report_file.as_ref(), links, guide].into_iter().flatten() {
            let wrong = |why: &dyn Display| format!("{} cannot be written: {why}", file.display());
            if file.is_dir() {
                return Err(wrong(&"it is a folder"));
            }
            // With the dot, a file in place of the folder is an error.
            let folder = file.parent().unwrap_or(file);
            let missing = |error| wrong(&format_args!("{error}: {}", folder.display()));
            std::fs::metadata(folder.join(".")).map_err(missing)?;
        }
        Ok(())
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
            let line = settings.check_files(true).err().unwrap_or_default();
            assert_eq!((line.contains(part), line.is_empty()), (true, part.is_empty()), "{line}");
        };
        checked(own(), "");
        checked(Settings { links: none(), guide: none(), ..own() }, "");
        checked(Settings { guide: none(), strategy: Strategy::Guided, ..own() }, "/none: No such file");
        let broken = Some(PathBuf::from("/no\nne"));
        checked(Settings { heuristics: broken, ..own() }, "/no\\nne/compression.toml: No such file");
        checked(Settings { heuristics: none(), ..own() }, "/none/compression.toml: No such file");
        checked(Settings { heuristics: heuristics.clone(), ..own() }, "compression.toml: No such file");
        file("compression.toml", include_str!("../../heuristics/compression.toml"));
        checked(Settings { heuristics: heuristics.clone(), ..own() }, "");
        let memory = file("memory.toml", "Dear diary\n");
        checked(Settings { heuristics, ..own() }, "memory.toml: line 1: ");
        checked(Settings { links: memory, ..own() }, "memory.toml: line 1: ");
    }

    #[test]
    fn files_that_cannot_be_written_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let inside = Settings { report_file: Some("/no/such/r.json".into()), ..Settings::default() };
        assert!(inside.check_files(true).unwrap_err().ends_with(": /no/such"), "the folder is named");
        let report = |place: PathBuf| Settings { report_file: Some(place), ..Settings::default() };
        let learning = |place: PathBuf| Settings { guide: Some(place), ..Settings::default() };
        let links = |place: PathBuf| Settings { links: Some(place), ..Settings::default() };
        for (place, part) in [
            (folder.path().join("new"), ""),
            (folder.path().join("none/new"), "none/new cannot be written: No such file"),
            (file.join("new"), "file/new cannot be written: Not a directory"),
            (folder.path().to_owned(), " cannot be written: it is a folder"),
        ] {
            for settings in [report(place.clone()), learning(place.clone())] {
                let line = settings.check_files(true).err().unwrap_or_default();
                assert_eq!((line.contains(part), line.is_empty()), (true, part.is_empty()), "{line}");
                assert_eq!(settings.check_files(false), Ok(()), "others do not write it");
                let off = Settings { strategy: Strategy::Off, ..settings };
                assert_eq!(off.check_files(true).is_ok(), part.is_empty() || off.report_file.is_none());
            }
            assert_eq!(links(place).check_files(true).is_ok(), part.is_empty());
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing was written");
    }
}
