//! Progress of long work: a bar on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Counts steps and shows the current one; dropping it removes the bar.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    done: u64,
}

impl Progress {
    /// Progress of approximately this number of steps.
    pub(crate) fn new(steps: u64) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(steps);
            if let Ok(style) = ProgressStyle::with_template(
                "{spinner} [{pos}/{len}] {elapsed}, about {eta} left: {wide_msg}",
            ) {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Self { bar, done: 0 }
    }

    /// Begins the next step.
    pub(crate) fn begin(&mut self, what: &str) {
        match &self.bar {
            Some(bar) => {
                bar.set_position(self.done);
                bar.set_message(what.to_owned());
            }
            None => eprintln!("  {what}"),
        }
        self.done += 1;
    }

    /// Removes steps that will not run.
    pub(crate) fn skip(&mut self, steps: u64) {
        if let Some(bar) = &self.bar {
            bar.set_length(bar.length().unwrap_or(steps).saturating_sub(steps));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
