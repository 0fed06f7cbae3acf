//! The files: how they are written, and the description of their origin.

use super::Error;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Replaces a file. A reader sees the old or the new file, never a part.
pub(super) fn write(path: &Path, text: Result<String, toml::ser::Error>) -> Result<(), Error> {
    let wrong = |why: String| Error { file: path.to_owned(), why };
    let text = text.map_err(|error| wrong(error.to_string()))?;
    let new = path.with_extension(format!("toml.{}.new", std::process::id()));
    let written = std::fs::write(&new, text).and_then(|()| std::fs::rename(&new, path));
    written.map_err(|error| {
        // A partial file is useless, and a failed removal matters less than the first error.
        let _gone_or_not: std::io::Result<()> = std::fs::remove_file(&new);
        wrong(error.to_string())
    })
}

/// The time, place, machine and command of a file's creation.
pub(super) fn made() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let cpus = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let args = std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned());
    let command: Vec<_> = std::iter::once("mpress".to_owned()).chain(args).collect();
    format!(
        "{} on {} ({}) by `{}`, mpress {}",
        utc(now.as_secs()),
        Some(host.trim()).filter(|host| !host.is_empty()).unwrap_or("an unknown host"),
        cpu_model(&cpus).unwrap_or(std::env::consts::ARCH),
        command.join(" "),
        env!("CARGO_PKG_VERSION"),
    )
}

/// The first processor's name; some architectures do not list one.
fn cpu_model(cpuinfo: &str) -> Option<&str> {
    let line = cpuinfo.lines().find_map(|line| line.strip_prefix("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim()).filter(|name| !name.is_empty())
}

/// Formats a time in seconds since 1970.
fn utc(seconds: u64) -> String {
    let divides = |number: u64, year: u64| year.is_multiple_of(number);
    let is_leap = |year| divides(4, year) && (!divides(100, year) || divides(400, year));
    let (mut days, mut year) = (seconds / 86_400, 1970);
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let mut month = 1;
    for length in [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02} {:02}:{:02} UTC", days + 1, seconds / 3600 % 24, seconds / 60 % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_399, "2000-02-28 23:59 UTC"),
            (951_782_400, "2000-02-29 00:00 UTC"),
            (1_709_251_199, "2024-02-29 23:59 UTC"),
            (1_735_689_599, "2024-12-31 23:59 UTC"),
            (1_735_689_600, "2025-01-01 00:00 UTC"),
            (4_107_542_400, "2100-03-01 00:00 UTC"),
        ] {
            assert_eq!(utc(seconds), text);
        }
    }

    #[test]
    fn the_processor_is_named_or_not() {
        assert_eq!(cpu_model("processor\t: 0\nmodel name\t: A Chip @ 2 GHz\n"), Some("A Chip @ 2 GHz"));
        assert_eq!(cpu_model("processor : 0\nCPU part : 0xd40\n"), None);
        assert!(made().contains(concat!("mpress ", env!("CARGO_PKG_VERSION"))));
    }

    #[test]
    fn a_file_is_there_as_a_whole_or_as_it_was() {
        let dir = std::env::temp_dir().join(format!("mpress-calibrate-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let file = dir.join("a.toml");
        write(&file, Ok("a = 1\n".into())).unwrap();
        write(&file, Ok("a = 2\n".into())).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "a = 2\n");
        // A target that cannot be replaced stays, and no temporary file remains.
        let folder = dir.join("b.toml");
        std::fs::create_dir_all(folder.join("full")).unwrap();
        let error = write(&folder, Ok(String::new())).unwrap_err().to_string();
        assert!(error.starts_with(&folder.display().to_string()) && !error.contains('\n'), "{error}");
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 2);
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
