//! Retries for MPICH, which hangs in `MPI_Finalize` over UCX and TCP, with and without mpress.
//!
//! A rank that has flushed its connections waits for the others in a barrier of the process manager and does not answer other ranks in the meantime.
//! A rank that still has a connection to flush waits for such an answer. MPICH 4.2 removed that barrier ([pmodels/mpich#6596]). With 4.0.2, it
//! affected 12 of 20 jobs of a few messages with two ranks on each of two nodes, and 3 of 20 with one rank on each.
//!
//! [pmodels/mpich#6596]: https://github.com/pmodels/mpich/pull/6596

use std::fs;
use std::process::Output;
use std::time::{Duration, Instant};

use crate::process::line;
use crate::run::supervise;
use crate::{Error, Job, Mpi, Outcome};

/// The maximum time for `MPI_Finalize` after the last line; it takes a fraction of this or hangs forever.
const FINALIZE: Duration = Duration::from_secs(2);

/// A job that ended by itself.
#[derive(Debug)]
pub struct Finished {
    /// Exit status and output.
    pub output: Output,
    /// The number of previous attempts that completed their work and then hung in `MPI_Finalize`.
    pub hung: u32,
}

impl Job {
    /// Runs the job, and again if MPICH hung in `MPI_Finalize` after the work, with up to `tries` attempts in total.
    ///
    /// `worked` gets the standard output and returns whether the job has completed its work; for that, the program must flush its last line. A job
    /// is retried only if it is MPICH's, runs over a network, has completed its work, and one of its ranks waits for its process manager. The retry
    /// is immediate: about 3 seconds per attempt. 20 tries are plenty. Any other hang lasts until the limit and is an error, without a retry.
    ///
    /// # Errors
    /// [`Error::TimedOut`] for a hang other than the known one, [`Error::HungInFinalize`] after too many of the known ones, and as for [`Job::run`].
    pub fn run_patiently(
        &self,
        limit: Duration,
        tries: u32,
        worked: impl Fn(&[u8]) -> bool,
    ) -> Result<Finished, Error> {
        let may_hang = self.mpi() == Mpi::Mpich && self.is_networked();
        let mut hung = 0;
        loop {
            let mut command = self.command();
            let (mut since, mut known) = (None, false);
            let outcome = supervise(&mut command, limit, |job| {
                if may_hang && (since.is_some() || worked(&job.stdout())) {
                    let since = *since.get_or_insert_with(Instant::now);
                    known = since.elapsed() >= FINALIZE && job.processes().into_iter().any(waits_for_manager);
                }
                known
            })?;
            let partial = match outcome {
                Outcome::Finished(output) => return Ok(Finished { output, hung }),
                Outcome::TimedOut(partial) => partial,
            };
            if !known {
                let last = [&partial.stderr, &partial.stdout].into_iter().find_map(|text| last_line(text));
                let last = last.unwrap_or_else(|| "none".to_owned());
                return Err(Error::TimedOut { command: line(&command), limit, last });
            }
            hung += 1;
            if hung >= tries {
                return Err(Error::HungInFinalize { command: line(&command), tries, partial });
            }
        }
    }
}

/// Whether a rank is blocked in a `read` of its connection to the process manager.
fn waits_for_manager(pid: u32) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let call = fs::read_to_string(format!("/proc/{pid}/syscall")).unwrap_or_default();
    manager_line(&environment).is_some_and(|line| line_read(&call) == Some(line))
}

/// The file descriptor that MPICH's launcher gives a rank.
fn manager_line(environment: &[u8]) -> Option<u32> {
    let fd = environment.split(|&byte| byte == 0).find_map(|variable| variable.strip_prefix(b"PMI_FD="))?;
    std::str::from_utf8(fd).ok()?.parse().ok()
}

/// The file descriptor that a process is reading, from its `/proc/PID/syscall`: number, then arguments.
fn line_read(call: &str) -> Option<u32> {
    let mut words = call.split(' ');
    // `read` is call 0 on x86-64 and 63 on the newer architectures.
    let number = if cfg!(target_arch = "x86_64") { "0" } else { "63" };
    (words.next()? == number).then_some(())?;
    u32::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()
}

fn last_line(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(|line| format!("`{line}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_are_the_last_line_with_any() {
        assert_eq!(last_line(b"one\ntwo \n\n").as_deref(), Some("`two`"));
        assert_eq!(last_line(b"\n"), None);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_rank_that_reads_from_its_manager_is_told() {
        assert_eq!(manager_line(b"A=1\0PMI_FD=12\0B=2\0"), Some(12));
        assert_eq!(manager_line(b"A=1\0XPMI_FD=12\0"), None);
        assert_eq!(line_read("0 0xc 0x7ff282bd1280 0x3ff 0x0 0x0 0x0 0x7ffd 0x7ff2"), Some(12));
        // Waiting in epoll, and running.
        assert_eq!(line_read("232 0xc 0x7ff282bd1280 0x3ff 0x0 0x0 0x0 0x7ffd 0x7ff2"), None);
        assert_eq!(line_read("running\n"), None);
    }
}
