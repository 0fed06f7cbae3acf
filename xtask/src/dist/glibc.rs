//! The oldest glibc under which programs and libraries run.

use std::path::PathBuf;
use std::process::Command;

use crate::error::Error;
use crate::step::output;

/// Finds it from the versions of the functions that they use, such as `2.34`.
pub(super) fn needed(files: &[PathBuf]) -> Result<String, Error> {
    let text = output(Command::new("readelf").arg("--version-info").args(files))?;
    newest(&text).ok_or_else(|| Error::Program {
        run: "readelf --version-info".to_owned(),
        message: "names no version of glibc".to_owned(),
    })
}

fn newest(text: &str) -> Option<String> {
    let words = text.split(|c: char| c.is_whitespace());
    let versions = words.filter_map(|word| {
        let (major, minor) = word.strip_prefix("GLIBC_")?.split_once('.')?;
        // Some have a third number, which matters only among the oldest versions.
        let minor = minor.split('.').next()?;
        Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?))
    });
    versions.max().map(|(major, minor)| format!("{major}.{minor}"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn versions_are_numbers() {
        let text = "  0x0010:   Name: GLIBC_2.2.5  Flags: none\n Name: GLIBC_2.34 x\n Name: GLIBC_2.9\n Name: GCC_3.0";
        assert_eq!(super::newest(text).as_deref(), Some("2.34"));
        assert_eq!(super::newest("Name: GLIBC_PRIVATE"), None);
    }
}
