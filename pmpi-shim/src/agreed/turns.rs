//! For how many calls a vote stands, and for how many a collective is left to the MPI.

use super::private;
use crate::sys::*;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The outcome of the last vote, and for how many blocking calls it stands. Every rank counts alike.
#[derive(Default)]
pub(super) struct Vote {
    pub(super) short: AtomicBool,
    pub(super) left: AtomicU32,
    next: AtomicU32,
}

impl Vote {
    /// Whether it stands for this call.
    pub(super) fn stands(&self) -> bool {
        let left = self.left.load(Ordering::Relaxed);
        self.left.store(left.saturating_sub(1), Ordering::Relaxed);
        left > 0
    }

    /// An outcome stands for twice as many calls as the one before, if it is the same.
    pub(super) fn learn(&self, short: bool) {
        let same = self.short.swap(short, Ordering::Relaxed) == short;
        let next = if same { (2 * self.next.load(Ordering::Relaxed)).clamp(1, LONGEST) } else { 1 };
        self.next.store(next, Ordering::Relaxed);
        self.left.store(next, Ordering::Relaxed);
    }

    /// No rank knows anything: the last outcome stands for as many calls as it did.
    fn stand_again(&self) {
        self.left.store(self.next.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

/// Whether collectives are made here of which a rank sees only what it sends itself. They are tried; then, from time to time, all ranks say
/// whether anything has got shorter. Every rank counts alike.
#[derive(Default)]
pub(crate) struct Trial {
    vote: Vote,
    /// Made here since the last vote that went against it.
    tried: AtomicBool,
    /// Something of this rank's has got shorter since the last vote, ...
    shorter: AtomicBool,
    /// ... or could have.
    known: AtomicBool,
    /// A call that was counted is made again, with this outcome.
    again: Mutex<Option<bool>>,
}

impl Trial {
    /// Whether this call is made here. If not it is the MPI's.
    ///
    /// # Errors
    /// Those of the vote; the MPI has called the communicator's error handler.
    pub(crate) fn is_made_here(&self, comm: MPI_Comm) -> Result<bool, c_int> {
        self.decide(|mine| private::minimum(mine, comm))
    }

    /// The same, where `minimum` is that over all ranks.
    fn decide(&self, minimum: impl FnOnce(c_int) -> Result<c_int, c_int>) -> Result<bool, c_int> {
        if let Some(here) = self.again.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Ok(here);
        }
        if self.vote.stands() {
            return Ok(!self.vote.short.load(Ordering::Relaxed));
        }
        if !self.tried.swap(true, Ordering::Relaxed) {
            return Ok(true);
        }
        let shorter = self.shorter.swap(false, Ordering::Relaxed);
        let known = self.known.swap(false, Ordering::Relaxed);
        // A rank that does not know goes before one that has seen nothing get shorter.
        let shorter = match minimum(if shorter { 0 } else { 1 + c_int::from(known) })? {
            1 => {
                self.vote.stand_again();
                !self.vote.short.load(Ordering::Relaxed)
            }
            least => {
                self.vote.learn(least != 0);
                least == 0
            }
        };
        self.tried.store(shorter, Ordering::Relaxed);
        Ok(shorter)
    }

    /// The call was not made, since the MPI refuses this rank's arguments. The program may make it again: the others count it once.
    pub(crate) fn repeat(&self, here: bool) {
        *self.again.lock().unwrap_or_else(PoisonError::into_inner) = Some(here);
    }

    /// In a call that was made here something of this rank's got shorter, or nothing.
    pub(crate) fn learn(&self, shorter: bool) {
        self.shorter.fetch_or(shorter, Ordering::Relaxed);
        self.known.store(true, Ordering::Relaxed);
    }
}

/// How long a collective is left to the MPI. Every rank sees the same outcomes and comes to the same numbers.
#[derive(Default)]
pub(crate) struct Pause {
    left: AtomicU32,
    next: AtomicU32,
}

/// The longest pause, in calls.
const LONGEST: u32 = 128;

impl Pause {
    /// Whether this call is left to the MPI.
    pub(crate) fn takes(&self) -> bool {
        let left = self.left.load(Ordering::Relaxed);
        self.left.store(left.saturating_sub(1), Ordering::Relaxed);
        left > 0
    }

    /// Something got shorter in this call, or nothing: then there is a pause, twice as long each time.
    pub(crate) fn learn(&self, shorter: bool) {
        let next = if shorter { 0 } else { (2 * self.next.load(Ordering::Relaxed)).clamp(1, LONGEST) };
        self.next.store(next, Ordering::Relaxed);
        self.left.store(next, Ordering::Relaxed);
    }
}

/// Whether a collective is made here or by the MPI: the way that has been faster. Both are tried in turn; then all ranks go by the times of
/// the slowest one for some calls. Every rank counts alike.
#[derive(Default)]
pub(crate) struct Race(Mutex<Tries>);

#[derive(Default)]
struct Tries {
    here: bool,
    /// For how many calls the outcome stands, and for how many the last one stood.
    left: u32,
    stood: u32,
    /// Calls that were tries since then, and the best times of a byte in them, here and by the MPI.
    tried: u32,
    best: [Option<Duration>; 2],
}

/// Calls that are tries: the first and the last of them are made here.
const TRIES: u32 = 4;

/// Times are compared for that many bytes.
const PER: f64 = 1e6;

impl Race {
    /// Whether this call is made here. If not it is the MPI's.
    ///
    /// # Errors
    /// Those of the MPI, where the ranks could not tell each other their times; it has called the communicator's error handler.
    pub(crate) fn is_made_here(&self, comm: MPI_Comm) -> Result<bool, c_int> {
        self.decide(|mine| private::minimum(mine, comm))
    }

    /// The same, where `minimum` is that over all ranks.
    fn decide(&self, minimum: impl Fn(c_int) -> Result<c_int, c_int>) -> Result<bool, c_int> {
        let best = {
            let mut tries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if tries.left > 0 {
                tries.left -= 1;
                return Ok(tries.here);
            }
            if tries.tried < TRIES {
                tries.tried += 1;
                // A program may have two sorts of calls in turn: each way gets both.
                return Ok(matches!(tries.tried, 1 | TRIES));
            }
            tries.best
        };
        // A rank that does not know both says 0, which the others' times outweigh.
        let [here, mpi] = match best {
            [Some(here), Some(mpi)] => [here, mpi].map(micros),
            _ => [0, 0],
        };
        // The largest is the least of the negative ones.
        let slowest = |time: c_int| minimum(-time).map(|least| -least);
        let (here, mpi) = (slowest(here)?, slowest(mpi)?);
        let mut tries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Where no rank knows, the last outcome stands.
        let here = if here == 0 { tries.here } else { here <= mpi };
        let stood = if here == tries.here { (2 * tries.stood).clamp(2 * TRIES, LONGEST) } else { 2 * TRIES };
        *tries = Tries { here, left: stood - 1, stood, ..Tries::default() };
        Ok(here)
    }

    /// A call of this number of bytes took that long. Only tries count, of which each way has as many.
    pub(crate) fn took(&self, here: bool, bytes: usize, time: Duration) {
        let mut tries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if tries.tried == 0 {
            return;
        }
        let time = time.mul_f64(PER / (bytes.max(1) as f64));
        let best = &mut tries.best[usize::from(!here)];
        *best = Some(best.map_or(time, |best| best.min(time)));
    }
}

/// Whole microseconds, at least one.
fn micros(time: Duration) -> c_int {
    c_int::try_from(time.as_micros()).unwrap_or(c_int::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls of two lengths in turn, of which a byte takes so long here and by the MPI; gives how many of the last ones were made here.
    fn run(race: &Race, here_ns: u64, mpi_ns: u64, calls: usize) -> usize {
        let made = (0..calls).map(|call| {
            let here = race.decide(Ok).unwrap();
            // Long calls take less for each byte.
            let (bytes, factor) = if call % 2 == 0 { (1_000_000, 1) } else { (100_000, 3) };
            let ns = if here { here_ns } else { mpi_ns };
            race.took(here, bytes, Duration::from_nanos(bytes as u64 * ns * factor));
            here
        });
        made.skip(calls / 2).filter(|here| *here).count()
    }

    #[test]
    fn the_faster_way_wins_whatever_calls_come_in_turn() {
        let race = Race::default();
        assert!(run(&race, 10, 12, 1000) > 450, "a little faster here");
        assert!(run(&race, 12, 10, 1000) < 50, "things have changed");
    }

    #[test]
    fn a_race_without_times_changes_nothing() {
        let race = Race::default();
        run(&race, 10, 12, 200);
        // Trials by the clock all the time.
        let made = (0..1000).filter(|_| race.decide(Ok).unwrap()).count();
        assert!(made > 900, "{made}");
        // A rank that knows nothing says what does not count.
        let said = std::cell::RefCell::new(Vec::new());
        while said.borrow().is_empty() {
            let note = |mine| {
                said.borrow_mut().push(mine);
                Ok(mine)
            };
            race.decide(note).unwrap();
        }
        assert_eq!(*said.borrow(), [0, 0]);
    }

    /// Calls of two ranks, in which nothing is learned in those that are on trial, and else whether something got shorter; gives how many
    /// were made here.
    fn vote(trials: &[Trial; 2], calls: usize, on_trial: [bool; 2], shorter: bool) -> usize {
        let made = (0..calls).filter(|_| {
            let said = |trial: &Trial| {
                let said = std::cell::Cell::new(None);
                // To see what it says, on a copy: a vote has one answer for all.
                let copy = Trial {
                    shorter: AtomicBool::new(trial.shorter.load(Ordering::Relaxed)),
                    known: AtomicBool::new(trial.known.load(Ordering::Relaxed)),
                    tried: AtomicBool::new(true),
                    ..Trial::default()
                };
                let _ = copy.decide(|mine| {
                    said.set(Some(mine));
                    Ok(mine)
                });
                said.get().unwrap()
            };
            let least = trials.iter().map(said).min().unwrap();
            let here = trials.each_ref().map(|trial| trial.decide(|_| Ok(least)).unwrap());
            assert_eq!(here[0], here[1]);
            for (trial, on_trial) in trials.iter().zip(on_trial) {
                if here[0] && !on_trial {
                    trial.learn(shorter);
                }
            }
            here[0]
        });
        made.count()
    }

    #[test]
    fn trials_by_the_clock_end_nothing() {
        let trials = [Trial::default(), Trial::default()];
        assert_eq!(vote(&trials, 1000, [false, false], true), 1000);
        assert_eq!(vote(&trials, 1000, [true, true], false), 1000, "nobody knows");
        assert_eq!(vote(&trials, 1000, [true, false], false), 1000, "one rank does not know");
        assert!(vote(&trials, 1000, [false, false], false) < 200, "all know that nothing gets shorter");
        assert!(vote(&trials, 1000, [false, false], true) > 700, "and that it does again");
    }
}
