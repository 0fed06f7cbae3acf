//! Progress of long work: a bar on a terminal, plain lines elsewhere; both say what is left.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::step::seconds;

/// Counts steps and shows the current one; dropping it removes the bar.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    start: Instant,
    done: u64,
    steps: u64,
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
        Self { bar, start: Instant::now(), done: 0, steps }
    }

    /// Begins the next step.
    pub(crate) fn begin(&mut self, what: &str) {
        match &self.bar {
            Some(bar) => {
                bar.set_position(self.done);
                bar.set_message(what.to_owned());
            }
            None => eprintln!("  {}", line(self.done, self.steps, self.start.elapsed(), what)),
        }
        self.done += 1;
    }

    /// Removes steps that will not run.
    pub(crate) fn skip(&mut self, steps: u64) {
        self.steps = self.steps.saturating_sub(steps);
        if let Some(bar) = &self.bar {
            bar.set_length(self.steps);
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

/// The count of the step that begins after `done` others, and the time left, as far as one can tell from those.
fn line(done: u64, steps: u64, elapsed: Duration, what: &str) -> String {
    let left = steps.saturating_sub(done) as f64;
    let time = match done {
        0 => String::new(),
        done => format!(", about {} left", seconds(elapsed.mul_f64(left / done as f64))),
    };
    format!("[{}/{steps}]{time}: {what}", done + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_is_left() {
        assert_eq!(line(0, 10, Duration::ZERO, "x"), "[1/10]: x");
        assert_eq!(line(4, 10, Duration::from_secs(100), "x"), "[5/10], about 2 min 30 s left: x");
    }
}
