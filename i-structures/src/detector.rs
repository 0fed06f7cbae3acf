//! Detects the end of a run, and deadlock: Mattern's four-counter method, in waves started by rank 0 (docs/format/i-structures.md).

use crate::{
    error::Waiting,
    message::{Answer, RankState, VERDICT_NAMES, Verdict},
};

/// Rank 0's data on the current wave.
#[derive(Debug)]
struct Wave {
    number: u64,
    answers: Vec<Option<Answer>>,
    missing: usize,
    /// Messages received by all ranks according to the previous wave.
    received: Option<u64>,
}

/// The messages to be sent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Nothing,
    /// Probe all other ranks.
    Probe(u64),
    /// Answer rank 0.
    Answer(u64, Answer),
    /// Send the verdict to all other ranks.
    Verdict(Verdict),
}

/// A rank's part in the detection.
#[derive(Debug)]
pub(crate) struct Detector {
    rank: u32,
    ranks: u32,
    /// Messages of kinds 1 to 4 since the creation of the rank.
    pub(crate) sent: u64,
    pub(crate) received: u64,
    /// The wave that this rank must answer.
    probe: Option<u64>,
    wave: Option<Wave>,
}

impl Detector {
    pub(crate) fn new(rank: u32, ranks: u32) -> Self {
        Self { rank, ranks, sent: 0, received: 0, probe: None, wave: None }
    }

    /// Begins a run.
    pub(crate) fn begin(&mut self) {
        (self.probe, self.wave) = (None, None);
    }

    /// Takes part in the detection as a passive rank: it has ended, failed, or been passive for a long time.
    pub(crate) fn passive(&mut self, answer: impl FnOnce(u64, u64) -> Answer) -> Action {
        if self.rank == 0 && self.wave.is_none() {
            return self.next_wave(0, None);
        }
        let Some(wave) = self.probe.take() else { return Action::Nothing };
        let answer = answer(self.sent, self.received);
        if self.rank == 0 { self.collect(0, wave, answer) } else { Action::Answer(wave, answer) }
    }

    /// Rank 0 probes this rank.
    pub(crate) fn probed(&mut self, wave: u64) {
        self.probe = Some(wave);
    }

    /// Handles the answer of a rank. Answers to waves that are not open are ignored.
    pub(crate) fn collect(&mut self, rank: u32, number: u64, answer: Answer) -> Action {
        let Some(wave) = self.wave.as_mut().filter(|wave| wave.number == number) else {
            return Action::Nothing;
        };
        match wave.answers.get_mut(rank as usize) {
            Some(place @ None) => *place = Some(answer),
            _ => return Action::Nothing,
        }
        wave.missing -= 1;
        if wave.missing > 0 {
            return Action::Nothing;
        }
        let total =
            |count: fn(&Answer) -> u64| wave.answers.iter().flatten().map(count).fold(0, u64::wrapping_add);
        let (sent, received) = (total(|answer| answer.sent), total(|answer| answer.received));
        if wave.received == Some(sent) {
            return Action::Verdict(verdict(&wave.answers));
        }
        self.next_wave(number.wrapping_add(1), Some(received))
    }

    fn next_wave(&mut self, number: u64, received: Option<u64>) -> Action {
        let answers = vec![None; self.ranks as usize];
        self.wave = Some(Wave { number, missing: answers.len(), answers, received });
        self.probe = Some(number);
        Action::Probe(number)
    }
}

fn verdict(answers: &[Option<Answer>]) -> Verdict {
    let answers = || (0..).zip(answers.iter().flatten());
    if let Some((rank, answer)) = answers().find(|(_, answer)| answer.state == RankState::Failed) {
        return Verdict::Failed { rank, why: answer.text.clone() };
    }
    if answers().all(|(_, answer)| answer.state == RankState::Ended) {
        return Verdict::Ended;
    }
    let names = answers().flat_map(|(rank, answer)| {
        answer.names.iter().map(move |address| Waiting { rank, address: *address })
    });
    Verdict::Deadlock {
        waiting: answers().fold(0, |sum, (_, answer)| answer.waiting.saturating_add(sum)),
        names: names.take(VERDICT_NAMES).collect(),
    }
}
