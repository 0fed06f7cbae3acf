//! Signals that end this command while it runs a job: the job gets them, and ends first.

#![allow(unsafe_code, reason = "signal handlers")]

use std::ffi::c_int;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicI32, Ordering::SeqCst};

use nix::errno::Errno;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, killpg, sigaction};
use nix::unistd::Pid;

/// The signals by which users, terminals and batch systems end a command.
const ENDS: [Signal; 4] = [Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT, Signal::SIGTERM];

/// The process group of the job; 0 if none is running.
static JOB: AtomicI32 = AtomicI32::new(0);

/// The signal that arrived last; 0 if there was none.
static LAST: AtomicI32 = AtomicI32::new(0);

/// The same, until the job has it.
static PENDING: AtomicI32 = AtomicI32::new(0);

/// From now on these signals do not end this process, except those that it ignores, as under `nohup`.
pub(crate) fn catch() {
    let action = SigAction::new(SigHandler::Handler(arrived), SaFlags::SA_RESTART, SigSet::empty());
    for signal in ENDS {
        // SAFETY: the handler uses only atomics and `kill`, and leaves `errno` as it was.
        let before = unsafe { sigaction(signal, &action) };
        if let Ok(before) = before
            && matches!(before.handler(), SigHandler::SigIgn)
        {
            // SAFETY: this is what was there.
            let _unchanged = unsafe { sigaction(signal, &before) };
        }
    }
}

/// The signal that has arrived, if any.
pub(crate) fn last() -> Option<Signal> {
    Signal::try_from(LAST.load(SeqCst)).ok()
}

/// Runs a job to its end. It is a process group of its own: otherwise the terminal would also send it Ctrl-C, and launchers kill their ranks at the
/// second one.
///
/// # Errors
/// If it cannot be started.
pub(crate) fn status(job: &mut Command) -> io::Result<ExitStatus> {
    let mut child = job.process_group(0).spawn()?;
    JOB.store(i32::try_from(child.id()).unwrap_or(0), SeqCst);
    // It may have arrived before the job had started.
    pass();
    let status = child.wait();
    JOB.store(0, SeqCst);
    status
}

extern "C" fn arrived(signal: c_int) {
    let errno = Errno::last_raw();
    LAST.store(signal, SeqCst);
    PENDING.store(signal, SeqCst);
    pass();
    Errno::set_raw(errno);
}

/// Passes a pending signal to the job, once.
fn pass() {
    let job = JOB.load(SeqCst);
    if job != 0
        && let Ok(signal) = Signal::try_from(PENDING.swap(0, SeqCst))
    {
        // The job may have ended; then there is nothing to pass it to.
        let _ended = killpg(Pid::from_raw(job), signal);
    }
}
