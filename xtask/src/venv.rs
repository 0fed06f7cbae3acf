//! Python virtual environments with packages from PyPI.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::error::Error;
use crate::paths::create_folder;
use crate::step;

/// Creates a virtual environment in `dir`, if it is missing, with these calls of its pip, and completes it with `then`. `Ok(Err(_))`: the packages
/// are not available, for this reason.
pub(crate) fn ensure(
    dir: &Path,
    what: &str,
    calls: &[&[&str]],
    then: impl FnOnce() -> Result<(), Error>,
) -> Result<Result<(), String>, Error> {
    // Written last, when everything else is complete.
    let mark = dir.join("complete");
    if mark.is_file() {
        return Ok(Ok(()));
    }
    eprintln!("    installing {what}");
    // Removes the rest of an incomplete attempt.
    let _there_or_not: std::io::Result<()> = fs::remove_dir_all(dir);
    create_folder(dir)?;
    step::run("python3 -m venv", Command::new("python3").args(["-m", "venv"]).arg(dir))?;
    for words in calls {
        let mut pip = Command::new(dir.join("bin/pip"));
        pip.current_dir(dir).args(*words).args(["--quiet", "--disable-pip-version-check"]);
        if let Err(reason) = fetched(&mut pip) {
            return Ok(Err(reason));
        }
    }
    then()?;
    fs::write(&mark, "").map_err(Error::file(&mark))?;
    Ok(Ok(()))
}

/// Runs a command that needs the network. `Err`: the reason why it failed.
fn fetched(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("pip cannot be started: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let line = stderr.lines().find(|line| line.starts_with("ERROR")).unwrap_or("no reason given");
    Err(format!("PyPI does not provide the packages: {line}"))
}
