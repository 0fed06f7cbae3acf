//! Python virtual environments with packages from PyPI.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use mpress_cluster::{Outcome, run_with_timeout};

use crate::error::Error;
use crate::paths::create_folder;
use crate::step;

/// The time limit of pip. It downloads up to 100 MB.
const LIMIT: Duration = Duration::from_secs(900);

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
    if mark.is_file() && works(dir) {
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
        if let Err(reason) = fetched(&mut pip, LIMIT)? {
            return Ok(Err(reason));
        }
    }
    then()?;
    fs::write(&mark, "").map_err(Error::file(&mark))?;
    Ok(Ok(()))
}

/// Whether the environment's Python still finds its packages. After an upgrade of the system's Python it does not.
fn works(dir: &Path) -> bool {
    let output = Command::new(dir.join("bin/python")).args(["-m", "pip", "--version"]).output();
    output.is_ok_and(|output| output.status.success())
}

/// Runs a command that needs the network. `Ok(Err(_))`: the reason why it failed.
fn fetched(command: &mut Command, limit: Duration) -> Result<Result<(), String>, Error> {
    let output = match run_with_timeout(command, limit)? {
        Outcome::Finished(output) => output,
        Outcome::TimedOut(_) => return Ok(Err(format!("PyPI has not sent the packages after {limit:?}"))),
    };
    if output.status.success() {
        return Ok(Ok(()));
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let line = stderr.lines().find(|line| line.starts_with("ERROR")).unwrap_or("no reason given");
    Ok(Err(format!("PyPI does not provide the packages: {line}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_without_its_python_is_made_again() {
        let dir = tempfile::tempdir().unwrap();
        let python = dir.path().join("bin/python");
        crate::mpis::script(&python, "exit 0\n").unwrap();
        fs::write(dir.path().join("complete"), "").unwrap();
        let ensure = || ensure(dir.path(), "nothing", &[], || Err(Error::ResultsDiffer));
        assert!(matches!(ensure(), Ok(Ok(()))));
        fs::remove_file(&python).unwrap();
        std::os::unix::fs::symlink("/no/such/python", &python).unwrap();
        // It is not what it was: either it is made again, up to the last call, or this system cannot make one.
        assert!(matches!(ensure(), Err(Error::ResultsDiffer | Error::Failed { .. } | Error::Start { .. })));
    }

    #[test]
    fn pip_does_not_wait_for_ever() {
        let mut pip = Command::new("sleep");
        let reason = fetched(pip.arg("600"), Duration::from_millis(100)).unwrap().unwrap_err();
        assert!(reason.contains("100ms"), "{reason}");
    }
}
