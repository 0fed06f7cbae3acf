//! Decides which collectives a message layer performs itself, and which it leaves to the MPI: by a vote or the result of a call, valid for some calls
//! ([`Outcome`]), or by a race for the shortest time ([`Race`]). All processes count the same calls, so their decisions are equal. The caller
//! exchanges what the processes must know of each other.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What the processes last found, and for how many calls it is valid.
#[derive(Debug, Default)]
pub struct Outcome {
    short: AtomicBool,
    left: AtomicU32,
    next: AtomicU32,
}

/// The maximum number of calls for which an outcome is valid.
const LONGEST: u32 = 128;

impl Outcome {
    /// Whether any process has a long block to send: by the last vote, or by a new one. `vote` says whether none has.
    ///
    /// # Errors
    /// Those of the vote.
    pub fn decide<E>(&self, vote: impl FnOnce() -> Result<bool, E>) -> Result<bool, E> {
        if !self.stands() {
            self.learn(vote()?);
        }
        Ok(self.is_long())
    }

    /// The last outcome: whether there was a long block, or something got shorter.
    pub fn is_long(&self) -> bool {
        !self.short.load(Ordering::Relaxed)
    }

    /// Whether the outcome is valid for this call.
    fn stands(&self) -> bool {
        let left = self.left.load(Ordering::Relaxed);
        self.left.store(left.saturating_sub(1), Ordering::Relaxed);
        left > 0
    }

    /// How a call is made, for collectives whose calls show all processes whether anything got shorter.
    pub fn way(&self) -> Way {
        if self.stands() && !self.is_long() { Way::Mpi } else { Way::Compressed }
    }

    /// Keeps an outcome. One that equals the previous one is valid for twice as many calls.
    pub fn learn(&self, short: bool) {
        let same = self.short.swap(short, Ordering::Relaxed) == short;
        let next = if same { (2 * self.next.load(Ordering::Relaxed)).clamp(1, LONGEST) } else { 1 };
        self.next.store(next, Ordering::Relaxed);
        self.left.store(next, Ordering::Relaxed);
    }
}

/// How a collective is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// By the layer, each block compressed or not, as is decided for messages.
    Compressed,
    /// By the layer, with all blocks uncompressed: its messages may be in a better order than the MPI's, even if coding takes too long.
    Raw,
    /// By the MPI.
    #[default]
    Mpi,
}

impl Way {
    const ALL: [Self; 3] = [Self::Compressed, Self::Raw, Self::Mpi];
}

/// Decides how a collective is made: in the way that has been fastest for calls of its class of lengths. All ways are tried in turn; then the times of the
/// slowest process decide for some calls.
#[derive(Debug, Default)]
pub struct Race(Mutex<BTreeMap<u32, Tries>>);

#[derive(Debug, Default)]
struct Tries {
    way: Way,
    /// The number of further calls for which the outcome is valid, and the number for which it was valid at first.
    left: u32,
    stood: u32,
    /// Number of trial calls since then, and the best time per byte of each way in them.
    tried: usize,
    best: [Option<Duration>; Way::ALL.len()],
}

/// The ways of trial calls. A program may alternate two kinds of calls: each way is tried with both.
const TRIES: [Way; 6] = [Way::Compressed, Way::Raw, Way::Mpi, Way::Mpi, Way::Raw, Way::Compressed];

/// The minimum number of calls for which an outcome is valid.
const SHORTEST: u32 = 8;

/// The way without compression must be faster by its time divided by this.
const CLEARLY: i32 = 16;

/// Times are compared per this many bytes.
const PER: f64 = 1e6;

impl Race {
    /// How this call of `bytes` bytes is made; the number must be the same on all processes. `minima` computes the minima over all processes, element
    /// by element; all of them call it, or none.
    ///
    /// # Errors
    /// Those of `minima`.
    pub fn way<E>(
        &self,
        bytes: usize,
        minima: impl FnOnce([i32; 3]) -> Result<[i32; 3], E>,
    ) -> Result<Way, E> {
        let best = {
            let mut all = self.lock();
            let nearest = nearest(&all, class(bytes));
            let tries = all.entry(class(bytes)).or_insert(nearest);
            if tries.left > 0 {
                tries.left -= 1;
                return Ok(tries.way);
            }
            if let Some(way) = TRIES.get(tries.tried) {
                tries.tried += 1;
                return Ok(*way);
            }
            tries.best
        };
        // A process that lacks one of the times sends 0, which the others' times exceed.
        let mine = if best.contains(&None) { [0; 3] } else { best.map(|time| time.map_or(0, micros)) };
        // The largest are found as the minima of the negated ones.
        let mut slowest = minima(mine.map(|time| -time))?.map(|least| -least);
        // Without compression only if that is clearly faster. Where nothing gets shorter, the two are the same, and the selector learns nothing from
        // messages that it does not see.
        let raw = &mut slowest[Way::Raw as usize];
        *raw = raw.saturating_add(*raw / CLEARLY);
        let mut all = self.lock();
        let tries = all.entry(class(bytes)).or_default();
        // Of equal ones, the first; if no process has times, the last outcome remains.
        let fastest =
            std::iter::zip(slowest, Way::ALL).filter(|(time, _)| *time > 0).min_by_key(|(time, _)| *time);
        let way = fastest.map_or(tries.way, |(_, way)| way);
        let same = (way == Way::Mpi) == (tries.way == Way::Mpi);
        let stood = if same { (2 * tries.stood).clamp(SHORTEST, LONGEST) } else { SHORTEST };
        *tries = Tries { way, left: stood - 1, stood, ..Tries::default() };
        Ok(way)
    }

    /// Records the time of a call of this number of bytes. Only trial calls count; each way has the same number.
    pub fn took(&self, way: Way, bytes: usize, time: Duration) {
        let mut all = self.lock();
        let Some(tries) = all.get_mut(&class(bytes)).filter(|tries| tries.tried > 0) else { return };
        let time = time.mul_f64(PER / (bytes.max(1) as f64));
        let best = &mut tries.best[way as usize];
        *best = Some(best.map_or(time, |best| best.min(time)));
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u32, Tries>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The class of a call's length: class n has the lengths from 16^n to below 16^(n+1). An MPI has other algorithms for shorter and longer calls.
fn class(bytes: usize) -> u32 {
    bytes.max(1).ilog2() / 4
}

/// How a class begins: as the nearest one has decided, for some calls. A program may make only a few calls of its longest class.
fn nearest(all: &BTreeMap<u32, Tries>, class: u32) -> Tries {
    let decided = all.iter().filter(|(_, tries)| tries.stood > 0);
    let nearest = decided.min_by_key(|(other, _)| other.abs_diff(class));
    nearest.map_or_else(Tries::default, |(_, tries)| Tries {
        way: tries.way,
        left: SHORTEST,
        ..Tries::default()
    })
}

/// Whole microseconds, at least one.
fn micros(time: Duration) -> i32 {
    i32::try_from(time.as_micros()).unwrap_or(i32::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With a single process, its values are the minima.
    fn ok(mine: [i32; 3]) -> Result<[i32; 3], ()> {
        Ok(mine)
    }

    /// Makes calls of two lengths in turn, which take this time per byte in each way; returns how the last ones were made.
    fn run(race: &Race, ns: [u64; 3], calls: usize) -> Vec<Way> {
        let made = (0..calls).map(|call| {
            // Long calls take less time per byte.
            let (bytes, factor) = if call % 2 == 0 { (1_000_000, 1) } else { (100_000, 3) };
            let way = race.way(bytes, ok).unwrap();
            race.took(way, bytes, Duration::from_nanos(bytes as u64 * ns[way as usize] * factor));
            way
        });
        made.skip(calls / 2).collect()
    }

    #[test]
    fn the_fastest_way_wins_whatever_calls_come_in_turn() {
        let race = Race::default();
        for (ns, wanted) in [
            ([10, 12, 12], Way::Compressed),
            ([12, 12, 10], Way::Mpi),
            ([12, 10, 11], Way::Raw),
            ([100, 97, 110], Way::Compressed),
        ] {
            let made = run(&race, ns, 1000);
            let won = made.iter().filter(|way| **way == wanted).count();
            assert!(won > 460, "{ns:?}: {won} of {}", made.len());
        }
    }

    #[test]
    fn short_calls_say_nothing_about_long_ones() {
        let race = Race::default();
        let call = |bytes: usize, ns: [u64; 3]| {
            let way = race.way(bytes, ok).unwrap();
            race.took(way, bytes, Duration::from_nanos(bytes as u64 * ns[way as usize]));
            way
        };
        for _ in 0..1000 {
            call(8_000, [20, 20, 10]);
        }
        // Before they have been tried, long calls go like short ones.
        assert!((0..SHORTEST).all(|_| call(500_000, [10, 20, 20]) == Way::Mpi));
        let long: Vec<_> = (0..100).map(|_| call(500_000, [10, 20, 20])).collect();
        assert!(long[10..].iter().filter(|way| **way == Way::Compressed).count() > 70, "{long:?}");
        assert_eq!(call(9_000, [20, 20, 10]), Way::Mpi);
    }

    #[test]
    fn a_race_without_times_changes_nothing() {
        let race = Race::default();
        run(&race, [10, 12, 12], 200);
        // Timed trials throughout.
        let made = (0..1000).filter(|_| race.way(1_000_000, ok).unwrap() == Way::Compressed).count();
        assert!(made > 900, "{made}");
        // The value of a rank without times does not count.
        let said = std::cell::Cell::new(None);
        while said.get().is_none() {
            let note = |mine| {
                said.set(Some(mine));
                ok(mine)
            };
            race.way(1_000_000, note).unwrap();
        }
        assert_eq!(said.get(), Some([0; 3]));
    }
}
