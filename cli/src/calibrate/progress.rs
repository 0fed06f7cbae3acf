//! Progress on standard error: a bar on a terminal, otherwise a plain line for each part.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// Shows what is being measured; dropping it removes the bar.
pub(super) enum Progress {
    Bar(ProgressBar),
    Lines,
}

impl Progress {
    pub(super) fn new() -> Self {
        if std::io::stderr().is_terminal() { Self::Bar(ProgressBar::hidden()) } else { Self::Lines }
    }

    /// Begins a part with this number of steps.
    pub(super) fn part(&mut self, what: &str, steps: usize) {
        match self {
            Self::Bar(bar) => {
                bar.finish_and_clear();
                *bar = ProgressBar::new(steps as u64);
                if let Ok(style) = ProgressStyle::with_template("{prefix} {bar:30} {elapsed} {wide_msg}") {
                    bar.set_style(style);
                }
                bar.set_prefix(what.to_owned());
                bar.enable_steady_tick(Duration::from_millis(120));
            }
            Self::Lines => eprintln!("mpress: measuring {what}"),
        }
    }

    /// Shows a step of the part: the number of completed steps, and the name of the current or last one. As plain lines there would be too many,
    /// so they are not shown there.
    pub(super) fn step(&self, done: usize, what: &str) {
        if let Self::Bar(bar) = self {
            bar.set_position(done as u64);
            bar.set_message(what.to_owned());
        }
    }

    /// Prints a line that stays.
    pub(super) fn say(&self, line: &str) {
        match self {
            Self::Bar(bar) => bar.suspend(|| eprintln!("mpress: {line}")),
            Self::Lines => eprintln!("mpress: {line}"),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}
