//! How fast the tail of a stream arrives. Together with the times at which its chunks were ready to be sent, this shows the bandwidth, even if the
//! sender is late or computes before it starts them.

use super::{Moment, call};
use crate::engine::Engine;
use crate::stream::SentAt;
use std::time::{Duration, Instant};

/// The maximum time between two looks for a chunk if the time of the second is to count as that of arrival. Between polls a rank may yield its
/// processor for milliseconds.
const PROMPT: Duration = Duration::from_micros(100);

/// The number of looks that must find nothing before a chunk can be the first: by then, chunks that arrived while this rank computed have been found.
const LOOKS: u32 = 3;

/// How fast the chunks of one message arrive: the first and the last that this process has waited for, because only their times of arrival are known.
#[derive(Debug, Default)]
pub struct Pace {
    /// The waiting call in which the latest looks found nothing, their number, and when the last one was.
    missed: Option<(u64, u32, Instant)>,
    first: Option<(Moment, SentAt)>,
    last: Option<(Moment, SentAt)>,
}

impl Pace {
    /// Reports that the next chunk has not arrived yet.
    pub fn missed(&mut self) {
        let call = call();
        let looks = self.missed.filter(|missed| missed.0 == call).map_or(0, |(_, looks, _)| looks);
        self.missed = Some((call, looks + 1, Instant::now()));
    }

    /// Reports that the next chunk has arrived.
    pub fn arrived(&mut self, chunk: &[u8]) {
        let missed = self.missed.take().filter(|missed| missed.0 == call());
        let prompt = |now: &Moment| {
            missed.is_some_and(|(.., missed)| now.at.saturating_duration_since(missed) <= PROMPT)
        };
        let now = super::arrived(chunk.len()).filter(prompt).zip(SentAt::of(chunk));
        let Some((moment, _)) = now else { return };
        if self.first.is_none_or(|(first, _)| moment.since(&first).is_none()) {
            self.first = now.filter(|_| missed.is_some_and(|(_, looks, _)| looks >= LOOKS));
        }
        self.last = now;
    }

    /// Tells the engine, after the last chunk of the message, which is from another node, has arrived.
    pub fn tell(&self, engine: &Engine) {
        let Some(((first, first_sent), (last, last_sent))) = self.first.zip(self.last) else { return };
        if let Some((bytes, time, coding)) = last.since(&first) {
            engine.arrived(bytes, (time, coding), last_sent.since(first_sent));
        }
    }
}
