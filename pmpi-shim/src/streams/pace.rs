//! How fast the tail of a stream comes. Beside the times at which its chunks were sent, this shows the bandwidth, whether the sender was late
//! or computed meanwhile.

use crate::waiting::{self, Moment};
use mpress::{Engine, SentAt};
use std::time::{Duration, Instant};

/// Greatest time between two looks for a chunk, if the time at which it is found is to be that at which it came. Between polls a rank may give its
/// processor away for milliseconds.
const PROMPT: Duration = Duration::from_micros(100);

/// The first and the last chunk that this rank has waited for: only when they came is known.
#[derive(Default)]
pub(super) struct Pace {
    /// When the last look found nothing.
    missed: Option<Instant>,
    first: Option<(Moment, SentAt)>,
    last: Option<(Moment, SentAt)>,
}

impl Pace {
    /// The next chunk has not come yet.
    pub(super) fn missed(&mut self) {
        self.missed = Some(Instant::now());
    }

    /// The next chunk has come.
    pub(super) fn came(&mut self, chunk: &[u8]) {
        let missed = self.missed.take();
        let prompt = |now: &Moment| missed.is_some_and(|missed| now.at() - missed <= PROMPT);
        let now = waiting::came(chunk.len()).filter(prompt).zip(SentAt::of(chunk));
        let Some((moment, _)) = now else { return };
        if self.first.is_none_or(|(first, _)| moment.since(&first).is_none()) {
            self.first = now;
        }
        self.last = now;
    }

    /// The last chunk has come.
    pub(super) fn tell(&self, engine: &Engine) {
        let Some(((first, first_sent), (last, last_sent))) = self.first.zip(self.last) else { return };
        if let Some((bytes, time)) = last.since(&first) {
            engine.came(bytes, time, last_sent.since(first_sent));
        }
    }
}
