//! The names that wrong ones were most likely meant to be.

use std::ffi::OsStr;
use std::path::Path;

use crate::program::executable;

/// ` (did you mean FILE?)` for a file that does not exist, if its folder has one with a similar name; otherwise empty.
pub(crate) fn file(path: &Path) -> String {
    among(path, |_| true)
}

/// The same, of the files in the folder that may be meant.
fn among(path: &Path, may_be: impl Fn(&Path) -> bool) -> String {
    let Some(name) = path.file_name().filter(|_| !path.exists()) else { return String::new() };
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new("."))).into_iter().flatten().flatten();
    let names = entries
        .filter(|entry| may_be(&entry.path()))
        .filter_map(|entry| entry.file_name().into_string().ok());
    let nearest = nearest(&name.to_string_lossy(), names);
    nearest
        .map(|name| meant(&folder.map_or_else(|| name.clone().into(), |folder| folder.join(&name))))
        .unwrap_or_default()
}

/// The same for a program, which is an executable file: a name without a folder may be that of a file here, which is not looked for in `PATH`.
pub(crate) fn program(name: &OsStr) -> String {
    let path = Path::new(name);
    let is_program = |file: &Path| executable(file) == Some(true);
    if name.as_encoded_bytes().contains(&b'/') {
        return among(path, is_program);
    }
    let here = Path::new(".").join(path);
    if !name.is_empty() && is_program(&here) { meant(&here) } else { among(&here, is_program) }
}

/// Names of files may have characters that would control a terminal or begin a new line.
fn meant(path: &Path) -> String {
    let path = path.display().to_string().replace(char::is_control, "\u{fffd}");
    format!(" (did you mean {path}?)")
}

/// The name from which a letter differs, or up to a quarter of them. Of two letters, any other two differ little.
fn nearest(name: &str, names: impl Iterator<Item = String>) -> Option<String> {
    let others = names.map(|other| (strsim::osa_distance(name, &other), other));
    // A link to a file that does not exist has the name itself.
    let (distance, nearest) = others.filter(|(distance, _)| *distance > 0).min()?;
    let len = name.chars().count();
    (len > 2 && distance <= (len / 4).max(1)).then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_named() {
        let names = || ["app", "apples", "input.dat"].map(str::to_owned).into_iter();
        assert_eq!(nearest("aps", names()).as_deref(), Some("app"));
        assert_eq!(nearest("imput.dat", names()).as_deref(), Some("input.dat"));
        for name in ["solver", "ap", "none.dat"] {
            assert_eq!(nearest(name, names()), None, "{name}");
        }
        assert_eq!(nearest("apples", ["apples".to_owned()].into_iter()), None, "itself");
        assert_eq!(nearest("app", std::iter::empty()), None);
    }

    #[test]
    fn only_what_is_not_there_has_a_hint() {
        // Tests run in the folder of the crate.
        assert_eq!(file(Path::new("Cargo.tolm")), " (did you mean Cargo.toml?)");
        assert_eq!(file(Path::new("src/mian.rs")), " (did you mean src/main.rs?)");
        assert_eq!(file(Path::new("Cargo.toml")), "");
        assert_eq!(file(Path::new("/no/such/file")), "");
        for name in ["Cargo.toml", "./Cargo.tolm", "Cargo.tolm", "no-such-program", ""] {
            assert_eq!(program(OsStr::new(name)), "", "{name}: no program");
        }
        assert_eq!(meant(Path::new("a\x1b[2J\nb")), " (did you mean a\u{fffd}[2J\u{fffd}b?)");
    }
}
