//! System processes: short commands run to completion, and signals without unsafe code.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
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

/// All processes.
pub(crate) fn all() -> impl Iterator<Item = u32> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The parent of a process; `None` if the process has ended, whether it was reaped or not.
pub(crate) fn parent(pid: u32) -> Option<u32> {
    // `PID (NAME) STATE PARENT ...`, where the name may contain anything.
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut words = stat.rsplit_once(')')?.1.split_whitespace();
    words.next().filter(|&state| state != "Z")?;
    words.next()?.parse().ok()
}

/// The living processes that this process has started, directly or not.
pub(crate) fn descendants() -> Vec<u32> {
    let parents: BTreeMap<u32, u32> = all().filter_map(|pid| Some((pid, parent(pid)?))).collect();
    let own = std::process::id();
    let above = |pid: u32| std::iter::successors(Some(pid), |pid| parents.get(pid).copied());
    // Processes that change meanwhile must not make the search endless.
    parents
        .keys()
        .copied()
        .filter(|&pid| above(pid).take(parents.len()).skip(1).any(|pid| pid == own))
        .collect()
}

/// Sends a signal to every process in a group.
pub(crate) fn signal_group(group: u32, signal: Signal) {
    if let Some(group) = target(group) {
        // The group may no longer exist; other failures cannot be handled.
        let _gone: Result<(), Errno> = killpg(group, signal);
    }
}

/// Sends a signal to a process.
pub(crate) fn signal(pid: u32, signal: Signal) {
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
