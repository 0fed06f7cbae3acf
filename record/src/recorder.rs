//! The recorder of a rank: its receive calls, samples of its messages, or both.

use crate::files::Run;
use crate::recorded::Recorded;
use crate::samples::Samples;
use crate::trace::Trace;
use std::path::{Path, PathBuf};

/// What a rank records. If one part cannot start, the other does.
pub struct Recorder {
    /// The receive calls.
    pub trace: Option<Trace>,
    /// The messages.
    pub samples: Option<Samples>,
    run: Run,
    /// The folder of the samples.
    folder: Option<PathBuf>,
    /// Whether something that was asked for could not start.
    failed: bool,
}

impl Recorder {
    /// Starts what is asked for; `None` if nothing is. `trace`: the folder for receive calls; `samples`: that for messages, and the bytes of memory
    /// that they may take. `say` gets each error as a line for the user.
    pub fn start(
        trace: Option<&Path>,
        samples: Option<(&Path, usize)>,
        run: &Run,
        say: impl Fn(&str) + Copy + Send + 'static,
    ) -> Option<Self> {
        if trace.is_none() && samples.is_none() {
            return None;
        }
        let failed = |why: &String| say(&format!("{why}; nothing is recorded there"));
        let calls = trace.and_then(|folder| Trace::start(folder, run, say).inspect_err(failed).ok());
        let messages = samples.and_then(|(folder, limit)| {
            Samples::prepare(folder, run).inspect_err(failed).ok()?;
            Some(Samples::new(limit))
        });
        Some(Self {
            failed: trace.is_some() != calls.is_some() || samples.is_some() != messages.is_some(),
            trace: calls,
            samples: messages,
            run: run.clone(),
            folder: samples.map(|(folder, _)| folder.to_owned()),
        })
    }

    /// Writes everything and closes the files. `say` gets an error as a line for the user.
    pub fn finish(&self, say: impl Fn(&str)) -> Recorded {
        let calls = self.trace.as_ref().map(Trace::finish).unwrap_or_default();
        let mut kept = self.samples.as_ref().map(Samples::kept).unwrap_or_default();
        let mut failed = self.failed || calls.error.is_some();
        if let (Some(samples), Some(folder)) = (&self.samples, &self.folder)
            && let Err(why) = samples.write(folder, &self.run)
        {
            failed = true;
            (kept.messages, kept.bytes) = (0, 0);
            say(&format!("{why}; the samples of messages are not complete"));
        }
        Recorded { calls, kept, failed: failed.into() }
    }
}
