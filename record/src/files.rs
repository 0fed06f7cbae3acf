//! The files of a rank: their names, and permissions that keep other users from reading them.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The rank that is recorded, and its run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    app: String,
    ranks: u32,
    rank: u32,
}

impl Run {
    /// `rank` of a program's run on `ranks` ranks. Program names that already contain the number of ranks (`bt.W.4`) do not get it twice.
    #[must_use]
    pub fn new(app: &str, ranks: u32, rank: u32) -> Self {
        // A file name without characters that are special to shells.
        let plain = |letter: char| {
            if letter.is_ascii_alphanumeric() || "._-+".contains(letter) { letter } else { '_' }
        };
        let app = app.strip_suffix(&format!(".{ranks}")).unwrap_or(app);
        let app: String = app.chars().map(plain).collect();
        Self { app: if app.is_empty() { "unknown".to_owned() } else { app }, ranks, rank }
    }

    /// The file of this rank with this extension: `APP.RANKS.rRANK.EXTENSION`.
    #[must_use]
    pub fn file(&self, folder: &Path, extension: &str) -> PathBuf {
        folder.join(format!("{}.{}.r{}.{extension}", self.app, self.ranks, self.rank))
    }
}

/// Creates a folder that only its owner can access, unless it exists.
///
/// # Errors
/// If that fails; as a line for the user.
pub fn make_folder(folder: &Path) -> Result<(), String> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(at(folder))
}

/// Creates a file that only its owner can read, and replaces an existing one.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    remove(path)?;
    // Never opens an existing file: it may be a link, or readable for others.
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Removes a file if it exists.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Formats an error with its path as text for the user.
pub(crate) fn at(path: &Path) -> impl Fn(io::Error) -> String {
    move |error| format!("{}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn names_are_those_of_traces() {
        let file = |app: &str| Run::new(app, 16, 3).file(Path::new("d"), "csv.gz");
        assert_eq!(file("bt.W"), Path::new("d/bt.W.16.r3.csv.gz"));
        assert_eq!(file("bt.W.16"), Path::new("d/bt.W.16.r3.csv.gz"));
        assert_eq!(file("bt.W.4"), Path::new("d/bt.W.4.16.r3.csv.gz"));
        assert_eq!(file("my app/é"), Path::new("d/my_app__.16.r3.csv.gz"));
        assert_eq!(file(""), Path::new("d/unknown.16.r3.csv.gz"));
    }

    #[test]
    fn only_the_owner_can_read() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("a/b");
        make_folder(&inside).unwrap();
        make_folder(&inside).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder.path().join("a")), mode(&inside)), (0o700, 0o700));
        let file = inside.join("f");
        std::fs::write(&file, "of an earlier run").unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).unwrap();
        create(&file).unwrap();
        assert_eq!((mode(&file), std::fs::metadata(&file).unwrap().len()), (0o600, 0));
    }

    #[test]
    fn a_link_is_replaced_and_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (victim, link) = (folder.path().join("victim"), folder.path().join("link"));
        std::fs::write(&victim, "precious").unwrap();
        std::os::unix::fs::symlink(&victim, &link).unwrap();
        create(&link).unwrap();
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
        assert!(!std::fs::symlink_metadata(&link).unwrap().is_symlink());
    }
}
