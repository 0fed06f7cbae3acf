//! Runs a command until it ends or a time limit is reached, and ends all of its processes.

use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;

use crate::Error;
use crate::process::{all, end, line, signal_group, wait_until};
use crate::registry::{Running, interrupted};

/// The time a command has to end after SIGTERM: mpirun ends its ranks and removes its files.
pub(crate) const GRACE: Duration = Duration::from_secs(3);

/// The interval between calls of the watcher.
const ASK: Duration = Duration::from_millis(200);

/// The variable that identifies the processes of a job wherever the MPI has put them: mpirun gives every rank its own process group, and the ranks
/// of a killed mpirun get another parent.
const MARK: &str = "CLUSTER_JOB";

/// How a command ended.
#[derive(Debug)]
pub enum Outcome {
    /// On its own, successfully or not.
    Finished(Output),
    /// It was ended at the limit.
    TimedOut(Partial),
}

/// The output of a command up to the limit, before SIGTERM; mpirun writes more after it.
#[derive(Debug, Default)]
pub struct Partial {
    /// On its standard output.
    pub stdout: Vec<u8>,
    /// On its standard error.
    pub stderr: Vec<u8>,
}

/// Runs `command` and reads its output; at `limit`, ends it and everything it has started.
///
/// The command runs in its own process group, so Ctrl-C in the terminal reaches only this process. Processes that it leaves behind are ended after a
/// grace period.
///
/// # Errors
/// [`Error::Start`]; [`Error::Interrupted`] after [`crate::tear_down_all`].
pub fn run_with_timeout(command: &mut Command, limit: Duration) -> Result<Outcome, Error> {
    supervise(command, limit, |_| false)
}

/// A running job, for its watcher.
pub(crate) struct Watched<'a> {
    mark: &'a str,
    stdout: &'a Reader,
}

impl Watched<'_> {
    /// The output of the job so far.
    pub(crate) fn stdout(&self) -> Vec<u8> {
        self.stdout.so_far()
    }

    /// Its living processes.
    pub(crate) fn processes(&self) -> Vec<u32> {
        marked(self.mark)
    }
}

/// Like [`run_with_timeout`], but also ends the command as soon as `hopeless`, which is called often, returns true.
pub(crate) fn supervise(
    command: &mut Command,
    limit: Duration,
    mut hopeless: impl FnMut(&Watched<'_>) -> bool,
) -> Result<Outcome, Error> {
    static SERIAL: AtomicU32 = AtomicU32::new(0);
    let mark = format!("{}-{}", std::process::id(), SERIAL.fetch_add(1, Ordering::Relaxed));
    command.env(MARK, &mark).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let (mut child, running) =
        Running::start(|| command.spawn().map_err(|source| Error::Start { command: line(command), source }))?;
    let group = child.id();
    let (stdout, stderr) = (Reader::start(child.stdout.take()), Reader::start(child.stderr.take()));

    let watched = Watched { mark: &mark, stdout: &stdout };
    let mut asked = Instant::now();
    wait_until(limit, || {
        let ask = asked.elapsed() >= ASK;
        if ask {
            asked = Instant::now();
        }
        interrupted() || has_ended(&child) || (ask && hopeless(&watched))
    });
    let ended = has_ended(&child);
    let at_limit = match ended {
        true => Partial::default(),
        false => Partial { stdout: stdout.so_far(), stderr: stderr.so_far() },
    };
    if !ended {
        signal_group(group, Signal::SIGTERM);
    }
    // Processes started by the command may still be cleaning up after its end.
    wait_until(GRACE, || has_ended(&child) && marked(&mark).is_empty());
    // Until the child is reaped, its number cannot be reused by another process.
    signal_group(group, Signal::SIGKILL);
    wait_until(GRACE, || {
        let left = marked(&mark);
        left.iter().copied().for_each(end);
        left.is_empty()
    });
    drop(running);
    let status = child.wait().map_err(|source| Error::Start { command: line(command), source })?;
    let (stdout, stderr) = (stdout.finish(), stderr.finish());
    if interrupted() {
        return Err(Error::Interrupted);
    }
    Ok(if ended { Outcome::Finished(Output { status, stdout, stderr }) } else { Outcome::TimedOut(at_limit) })
}

/// Whether the child has ended. Does not reap it.
fn has_ended(child: &Child) -> bool {
    let Ok(pid) = i32::try_from(child.id()) else { return true };
    let look = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    !matches!(waitid(Id::Pid(Pid::from_raw(pid)), look), Ok(WaitStatus::StillAlive))
}

/// The living processes of a job.
fn marked(mark: &str) -> Vec<u32> {
    let wanted = format!("{MARK}={mark}");
    all()
        .filter(|pid| {
            // Not readable: the process has ended, or belongs to another user.
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|&byte| byte == 0).any(|variable| variable == wanted.as_bytes())
        })
        .collect()
}

/// Reads a pipe to its end in a separate thread.
struct Reader {
    read: Arc<Mutex<Vec<u8>>>,
    thread: JoinHandle<()>,
}

impl Reader {
    fn start(pipe: Option<impl Read + Send + 'static>) -> Self {
        let read = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&read);
        let thread = std::thread::spawn(move || {
            let Some(mut pipe) = pipe else { return };
            let mut buffer = [0; 8192];
            while let Ok(count @ 1..) = pipe.read(&mut buffer) {
                let mut all = shared.lock().unwrap_or_else(PoisonError::into_inner);
                all.extend_from_slice(buffer.get(..count).unwrap_or_default());
            }
        });
        Self { read, thread }
    }

    fn so_far(&self) -> Vec<u8> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The whole output, or the output so far if an escaped process keeps the pipe open.
    fn finish(self) -> Vec<u8> {
        wait_until(GRACE, || self.thread.is_finished());
        self.so_far()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Far longer than any command here takes, so a command that takes this long hangs.
    const LONG: Duration = Duration::from_secs(120);

    fn sh(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_command_that_ends_gives_its_output() {
        let outcome = run_with_timeout(&mut sh("echo out; echo err >&2; exit 7"), LONG);
        let Ok(Outcome::Finished(output)) = outcome else { panic!("{outcome:?}") };
        assert_eq!(output.status.code(), Some(7));
        assert_eq!((&output.stdout[..], &output.stderr[..]), (&b"out\n"[..], &b"err\n"[..]));
    }

    #[test]
    fn long_output_does_not_block() {
        let outcome = run_with_timeout(&mut sh("head -c 3000000 /dev/zero"), LONG);
        let Ok(Outcome::Finished(output)) = outcome else { panic!("{outcome:?}") };
        assert_eq!(output.stdout.len(), 3_000_000);
    }

    #[test]
    fn at_the_limit_nothing_of_it_is_left() {
        // A child in its own session, like a rank of Open MPI, that ignores SIGTERM.
        let script = "echo $$; setsid sh -c 'trap \"\" TERM; echo $$; while :; do sleep 1; done' & wait";
        let at = |limit: Duration| {
            let start = Instant::now();
            let outcome = run_with_timeout(&mut sh(script), limit);
            let Ok(Outcome::TimedOut(partial)) = outcome else { panic!("{outcome:?}") };
            assert!(start.elapsed() >= limit);
            String::from_utf8(partial.stdout).unwrap()
        };
        // A busy machine needs longer to start both.
        let mut limit = Duration::from_millis(500);
        let mut text = at(limit);
        while text.lines().count() < 2 && limit < LONG {
            limit *= 4;
            text = at(limit);
        }
        assert_eq!(text.lines().count(), 2, "{text}");
        for pid in text.lines() {
            let state = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            assert!(state.is_empty() || state.contains(") Z "), "{state}");
        }
    }

    #[test]
    fn a_command_that_is_not_there_is_named() {
        let error = run_with_timeout(&mut Command::new("no-such-command-here"), Duration::from_secs(1));
        assert!(error.unwrap_err().to_string().starts_with("cannot start `no-such-command-here`"));
    }
}
