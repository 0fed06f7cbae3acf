//! System processes: short commands run to completion, and signals without unsafe code.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

use crate::Error;

/// The polling interval for conditions of other processes.
const POLL: Duration = Duration::from_millis(5);

/// A command that Ctrl-C in the terminal does not reach, with the administrator's tools on its path.
pub(crate) fn system(program: impl AsRef<OsStr>) -> Command {
    let mut path = std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/bin:/bin"));
    path.push(":/usr/sbin:/sbin");
    let mut command = Command::new(program);
    command.env("PATH", path).stdin(Stdio::null()).process_group(0);
    command
}

/// Runs a short command to completion and returns its output.
pub(crate) fn call(program: &str, args: &[&str]) -> Result<String, Error> {
    let mut command = system(program);
    command.args(args);
    let output = command.output().map_err(|source| Error::Start { command: program.to_owned(), source })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let message = match stderr.trim() {
        "" => output.status.to_string(),
        text => text.lines().collect::<Vec<_>>().join("; "),
    };
    Err(Error::Command { command: line(&command), message })
}

/// A command in one line, for messages.
pub(crate) fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Kills a process; ignores one that has already ended.
pub(crate) fn end(pid: u32) {
    signal(pid, Signal::SIGKILL);
}

/// Sends a signal to every process in a group.
pub(crate) fn signal_group(group: u32, signal: Signal) {
    if let Some(group) = target(group) {
        // The group may no longer exist; other failures cannot be handled.
        let _gone: Result<(), Errno> = killpg(group, signal);
    }
}

fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = target(pid) {
        let _gone: Result<(), Errno> = kill(pid, signal);
    }
}

/// Rejects 0 and 1, which would mean "my own group" and "all processes" to `kill`.
fn target(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().filter(|&pid| pid > 1).map(Pid::from_raw)
}

/// Waits until `done` returns true, for at most `limit`. Returns whether it did.
pub(crate) fn wait_until(limit: Duration, mut done: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while !done() {
        if start.elapsed() >= limit {
            return false;
        }
        std::thread::sleep(POLL);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_command_says_why() {
        let error = call("sh", &["-c", "echo one >&2; echo two >&2; exit 3"]).unwrap_err().to_string();
        assert_eq!(error, "`sh -c echo one >&2; echo two >&2; exit 3` failed: one; two");
        let error = call("sh", &["-c", "exit 3"]).unwrap_err().to_string();
        assert!(error.ends_with("failed: exit status: 3"), "{error}");
        assert!(matches!(call("no-such-command-here", &[]), Err(Error::Start { .. })));
    }

    #[test]
    fn no_signal_goes_to_everything() {
        assert_eq!([0, 1, u32::MAX].map(target), [None; 3]);
    }
}
