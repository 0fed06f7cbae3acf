//! The settings that are paths.

use super::{Settings, names};
use std::path::{Path, PathBuf};

impl Settings {
    /// The paths that are set, each with the name of its variable. Those from variables or a file are absolute, so that in the environment of a
    /// program they stay valid when it changes its folder.
    #[must_use]
    pub fn paths(&self) -> Vec<(String, PathBuf)> {
        let mut own = self.clone();
        let set = own.paths_mut().into_iter();
        set.filter_map(|(key, path)| Some((names::variable(key), path.take()?))).collect()
    }

    /// All of them, with their keys.
    pub(super) fn paths_mut(&mut self) -> [(&'static str, &mut Option<PathBuf>); 6] {
        [
            ("heuristics", &mut self.heuristics),
            ("links", &mut self.links),
            ("guide", &mut self.guide),
            ("report_file", &mut self.report_file),
            ("trace", &mut self.trace),
            ("record", &mut self.record),
        ]
    }
}

/// The absolute path, which stays valid when the program changes its folder; the path itself if the current folder is not known.
pub(super) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    fn from(name: &str, value: &OsStr) -> Settings {
        Settings::from_vars([(name.into(), value.to_owned())]).unwrap()
    }

    #[test]
    fn paths_count_from_the_folder_where_they_are_read() {
        let here = std::env::current_dir().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("mpress.toml");
        std::fs::write(&config, "trace = \"t\"\nrecord = \"/r\"\n").unwrap();
        let settings = from("MPRESS_CONFIG", config.as_os_str());
        assert_eq!(
            (settings.trace.clone(), settings.record.clone()),
            (Some(here.join("t")), Some("/r".into()))
        );
        let paths = [("MPRESS_TRACE", here.join("t")), ("MPRESS_RECORD", "/r".into())];
        assert_eq!(settings.paths(), paths.map(|(name, path)| (name.to_owned(), path)));
        for key in ["heuristics", "links", "guide", "report_file", "trace", "record"] {
            let name = names::variable(key);
            assert_eq!(from(&name, "a/b".as_ref()).paths(), [(name, here.join("a/b"))]);
        }
    }

    #[test]
    fn paths_need_not_be_utf_8() {
        let path = OsStr::from_bytes(b"/d/\xe9");
        assert_eq!(from("MPRESS_RECORD", path).record, Some(path.into()));
    }
}
