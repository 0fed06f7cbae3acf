//! What the program is expected to ask for next is looked for while it waits for something else (A. Afsahi and N. J. Dimopoulos,
//! *Efficient Communication Using Message Prediction for Cluster of Multiprocessors*, 2000, sections 3 and 7).
//!
//! A predictor sees the receive calls of this rank, and its matched probes. While a call waits, messages of exactly those sources, tags and
//! communicators that it expects next are probed for. Where such a message may be a frame, and is the first that its source has sent and this
//! rank has not received, it goes to the stash, and is received and decoded there, a frame or a chunk in each turn. So the order of messages
//! is that of any message that is taken early ([`stash`](crate::stash)). Nothing else is taken. Behind a receive with a wildcard nothing is
//! looked for.
//!
//! The end of a synchronous send tells the sender that the program has received the message. So no such message goes in a frame
//! ([`Shim::frame_of`](crate::state::Shim::frame_of)), and none is taken.
//!
//! Whether that pays is measured: the time of decoding that was over when a message was asked for, less that of copying it, against the
//! time that the predictor takes, and by which calls may have come back later ([`Trial`]).

use crate::context::Context;
use crate::error::Error;
use crate::peers::Peers;
use crate::span::greatest_tag;
use crate::stash::{Stash, look_into_the_mpi};
use crate::sys::*;
use mpress::{Predict, Settings};
use mpress_predict::{Envelope as Call, Predictor, Tournament};
use std::ffi::c_int;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Calls after the next one that are looked at.
const FAR: usize = 32;

/// Different messages that are looked for at a time.
const MOST: usize = 8;

/// Communicators that are known at a time. Receives on others are not predicted.
const COMMS: usize = 64;

/// Messages to look for, of those that other ranks may send in frames.
pub(crate) struct Ahead {
    /// `None`: this is off. A thread that finds it taken does without.
    foresight: Option<Mutex<Foresight>>,
    /// Changed only by who has the lock.
    phase: AtomicU8,
}

/// Nothing is looked for.
const IDLE: u8 = 0;
/// What is to be looked for is not known yet: the program has made another call.
const STALE: u8 = 1;
/// It is looked for.
const LOOKING: u8 = 2;

struct Foresight {
    predictor: Box<Tournament>,
    /// By the numbers that the predictor has for them.
    comms: Vec<Option<(MPI_Comm, Arc<Peers>)>>,
    wanted: Vec<Wanted>,
    /// Which of them is looked for next.
    turn: usize,
    /// Memory for messages that are taken before they are asked for, in bytes.
    memory: usize,
    trial: Trial,
    /// Nothing is looked for before.
    next_look: Instant,
    /// For tests: whatever has come is taken, but only what may be a frame is received, and nothing ends that.
    all: bool,
}

/// A message that is looked for.
struct Wanted {
    comm: u32,
    source: c_int,
    tag: c_int,
    /// How many like this.
    times: usize,
}

impl Ahead {
    pub(crate) fn new(settings: &Settings) -> Self {
        let foresight = (settings.predict != Predict::Off).then(|| {
            Mutex::new(Foresight {
                predictor: Box::default(),
                comms: Vec::new(),
                wanted: Vec::new(),
                turn: 0,
                memory: settings.predict_memory,
                trial: Trial::new(),
                next_look: Instant::now(),
                all: settings.predict == Predict::All,
            })
        });
        Self { foresight, phase: AtomicU8::new(IDLE) }
    }

    /// Whether receive calls are to be told.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.foresight.is_some()
    }

    /// The program asks for this message, which may be a frame; or for any, by a wildcard.
    #[inline]
    pub(crate) fn observe(
        &self,
        context: &Context,
        (source, tag): (c_int, c_int),
        comm: MPI_Comm,
        peers: &Arc<Peers>,
    ) {
        if let Some(mut foresight) = self.try_lock() {
            let goes_on = foresight.observe(context, (source, tag), comm, peers);
            self.phase.store(if goes_on { STALE } else { IDLE }, Ordering::Release);
        }
    }

    /// Whether there is anything to look for, so that a call that waits must not wait in the MPI.
    #[inline]
    pub(crate) fn is_looking(&self, stash: &Stash) -> bool {
        match self.phase.load(Ordering::Acquire) {
            IDLE => false,
            LOOKING => true,
            _ => self.begin(stash),
        }
    }

    #[cold]
    fn begin(&self, stash: &Stash) -> bool {
        let Some(mut foresight) = self.try_lock() else { return false };
        let begun = foresight.begin(stash);
        self.phase.store(if begun { LOOKING } else { IDLE }, Ordering::Release);
        begun
    }

    /// A call has waited in vain, and will go on.
    #[inline]
    pub(crate) fn step(&self, context: &Context, stash: &Stash) {
        let Some(mut foresight) = self.looking() else { return };
        let start = Instant::now();
        let goes_on = foresight.step(context, stash, start);
        foresight.trial.last = start.elapsed();
        if !goes_on {
            self.phase.store(IDLE, Ordering::Release);
        }
    }

    /// What is looked for, if anything is. Before the lock was there another thread may have made a call, after which that is something else.
    fn looking(&self) -> Option<MutexGuard<'_, Foresight>> {
        let looks = || self.phase.load(Ordering::Acquire) == LOOKING;
        if looks() { self.try_lock().filter(|_| looks()) } else { None }
    }

    /// A communicator is gone. Its peers know that, too.
    pub(crate) fn forget(&self, context: &Context, comm: MPI_Comm) {
        let Some(foresight) = &self.foresight else { return };
        // The thread that calls may have the lock, if the MPI has called the program back. No other thread must probe there now.
        let foresight = match context.multiple {
            true => Some(foresight.lock().unwrap_or_else(PoisonError::into_inner)),
            false => self.try_lock(),
        };
        if let Some(mut foresight) = foresight {
            let Foresight { comms, wanted, .. } = &mut *foresight;
            for (number, known) in (0..).zip(comms) {
                if known.take_if(|(_, peers)| peers.handler_of(comm) == COMM_NULL).is_some() {
                    wanted.retain(|wanted| wanted.comm != number);
                }
            }
        }
    }

    fn try_lock(&self) -> Option<MutexGuard<'_, Foresight>> {
        self.foresight.as_ref()?.try_lock().ok()
    }
}

impl Foresight {
    /// Takes note of a receive call; says whether others are to be looked for.
    fn observe(
        &mut self,
        context: &Context,
        (source, tag): (c_int, c_int),
        comm: MPI_Comm,
        peers: &Arc<Peers>,
    ) -> bool {
        if !self.trial.goes_on(context.foreseen.gained()) && !self.all {
            return false;
        }
        let Some(comm) = self.number(comm, peers) else { return false };
        let call = Call {
            source: if source == ANY_SOURCE { -1 } else { source },
            tag: if tag == ANY_TAG { -1 } else { tag },
            comm,
            ..Call::default()
        };
        if let Some(predicted) = self.predictor.predict(None) {
            context.foreseen.predicted(predicted == call);
        }
        let trial = &mut self.trial;
        trial.timed(|| self.predictor.observe(0, call));
        true
    }

    /// The number of a communicator; `None` if there are too many.
    fn number(&mut self, comm: MPI_Comm, peers: &Arc<Peers>) -> Option<u32> {
        let is_known = |known: &Option<(_, Arc<Peers>)>| {
            known.as_ref().is_some_and(|(_, known)| Arc::ptr_eq(known, peers))
        };
        let at = match self.comms.iter().position(is_known) {
            Some(at) => at,
            None => {
                let new = Some((comm, Arc::clone(peers)));
                let free = self.comms.iter().position(Option::is_none).unwrap_or(self.comms.len());
                match self.comms.get_mut(free) {
                    Some(place) => *place = new,
                    None if free < COMMS => self.comms.push(new),
                    None => return None,
                }
                free
            }
        };
        u32::try_from(at).ok()
    }

    /// A communicator, if it lives.
    fn comm(comms: &[Option<(MPI_Comm, Arc<Peers>)>], number: u32) -> Option<&(MPI_Comm, Arc<Peers>)> {
        let known = comms.get(usize::try_from(number).ok()?)?.as_ref();
        known.filter(|(comm, peers)| peers.handler_of(*comm) != COMM_NULL)
    }

    /// Finds out what is to be looked for; says whether it is anything.
    fn begin(&mut self, stash: &Stash) -> bool {
        self.wanted.clear();
        if self.all {
            self.want_all();
            return true;
        }
        for call in self.predictor.ahead().take(FAR) {
            let Call { source, tag, comm, .. } = call;
            // A tag that counts may come to its end: no call can ask for more.
            if source < 0 || tag < 0 || tag > greatest_tag() {
                break;
            }
            let alike =
                |wanted: &&mut Wanted| (wanted.source, wanted.tag, wanted.comm) == (source, tag, comm);
            if let Some(known) = self.wanted.iter_mut().find(alike) {
                known.times += 1;
            } else if Self::comm(&self.comms, comm).is_some_and(|(_, peers)| peers.frames_with(source)) {
                if self.wanted.len() == MOST {
                    break;
                }
                self.wanted.push(Wanted { comm, source, tag, times: 1 });
            }
        }
        let held = stash.hold();
        let comms = &self.comms;
        self.wanted.retain_mut(|wanted| {
            let Some((comm, _)) = Self::comm(comms, wanted.comm) else { return false };
            wanted.times = wanted.times.saturating_sub(held.count(*comm, wanted.source, wanted.tag));
            wanted.times > 0
        });
        self.trial.waits();
        !self.wanted.is_empty()
    }

    /// Everything from everyone who may send frames.
    fn want_all(&mut self) {
        for (number, (_, peers)) in
            (0..).zip(&self.comms).filter_map(|(number, known)| Some((number, known.as_ref()?)))
        {
            let sources = peers.ranks().filter(|source| peers.frames_with(*source));
            self.wanted.extend(sources.map(|source| Wanted {
                comm: number,
                source,
                tag: ANY_TAG,
                times: usize::MAX,
            }));
        }
    }

    /// Decodes what has come, and looks for one message; says whether there is more to do.
    fn step(&mut self, context: &Context, stash: &Stash, now: Instant) -> bool {
        let moving = !stash.is_empty() && stash.open().advance(context, self.memory);
        if self.wanted.is_empty() {
            return moving;
        }
        if now < self.next_look && !self.all {
            return true;
        }
        self.turn = (self.turn + 1) % self.wanted.len();
        let start = Instant::now();
        // SAFETY: what is wanted is of communicators of the program's that are alive.
        match unsafe { self.look(context, stash, self.turn) } {
            Ok(true) => {}
            Ok(false) => {
                self.wanted.swap_remove(self.turn);
            }
            Err(_) => {
                self.trial.end();
                self.wanted.clear();
            }
        }
        // The awaited message is to be noticed about as soon as if nothing were looked for. An MPI that finds nothing may give its processor
        // away for some milliseconds.
        let end = Instant::now();
        self.next_look = end + (end - start);
        moving || !self.wanted.is_empty()
    }

    /// Looks at the first message of a source, and takes it if it is looked for; says whether to look there again for this one.
    ///
    /// # Safety
    /// Its communicator must be alive.
    unsafe fn look(&mut self, context: &Context, stash: &Stash, which: usize) -> Result<bool, Error> {
        let Some(&Wanted { comm: number, source, .. }) = self.wanted.get(which) else { return Ok(true) };
        let Some((comm, peers)) = Self::comm(&self.comms, number) else { return Ok(false) };
        // SAFETY: the caller vouches for the communicator.
        let Some(seen) = (unsafe { look_into_the_mpi(source, ANY_TAG, *comm, false)? }) else {
            return Ok(true);
        };
        let is_wanted = |wanted: &Wanted| {
            (wanted.comm, wanted.source) == (number, source)
                && (wanted.tag == seen.MPI_TAG || wanted.tag == ANY_TAG)
                && wanted.times > 0
        };
        // Another one keeps it from being taken, and will be there until this call is over; and so will one that is no frame, or too long.
        let Some(first) = self.wanted.iter().position(is_wanted) else { return Ok(self.all) };
        // SAFETY: as above.
        let taken =
            unsafe { stash.open().take_ahead(context, (*comm, peers), &seen, (self.memory, self.all))? };
        if let Some(wanted) = self.wanted.get_mut(first) {
            wanted.times = if taken || self.all { wanted.times - 1 } else { 0 };
        }
        Ok(self.wanted.get(which).is_some_and(|wanted| wanted.times > 0))
    }
}

/// Receive calls after which it is seen whether it pays.
const WINDOW: u32 = 256;

/// Windows that a pause lasts, at most.
const LONGEST_PAUSE: u32 = 64;

/// What a call loses, by estimate, if it asks the MPI again and again instead of waiting there.
const ASKING: Duration = Duration::from_micros(1);

/// One of as many calls of the predictor is timed.
const TIMED: u32 = 16;

/// Whether it pays: in each window of receive calls more time must be gained than lost. Otherwise there is a pause of 1, 2, 4 ...
/// [`LONGEST_PAUSE`] windows, in which the predictor sees nothing and nothing is looked for.
struct Trial {
    /// Calls until the window, or the pause, is over.
    left: u32,
    pauses: bool,
    /// Windows that the next pause lasts.
    pause: u32,
    /// Time lost in this window.
    lost: Duration,
    /// Nanoseconds gained before this window.
    gained: i64,
    /// How long the last step took: by so much the call in which it was may have come back later.
    last: Duration,
}

impl Trial {
    fn new() -> Self {
        let zero = Duration::ZERO;
        Self { left: WINDOW, pauses: false, pause: 1, lost: zero, gained: 0, last: zero }
    }

    /// Counts a call, and says whether it is to be looked at. `gained`: nanoseconds gained so far.
    fn goes_on(&mut self, gained: i64) -> bool {
        self.lost += std::mem::take(&mut self.last);
        self.left = self.left.saturating_sub(1);
        if self.left > 0 {
            return !self.pauses;
        }
        let lost = i64::try_from(self.lost.as_nanos()).unwrap_or(i64::MAX);
        let paid = gained.saturating_sub(self.gained) > lost;
        (self.lost, self.gained) = (Duration::ZERO, gained);
        if self.pauses || paid {
            self.pause = if self.pauses { self.pause } else { 1 };
            (self.pauses, self.left) = (false, WINDOW);
        } else {
            (self.pauses, self.left) = (true, WINDOW * self.pause);
            self.pause = (2 * self.pause).min(LONGEST_PAUSE);
        }
        !self.pauses
    }

    /// Times some of the calls of the predictor.
    fn timed(&mut self, work: impl FnOnce()) {
        if !self.left.is_multiple_of(TIMED) {
            return work();
        }
        let start = Instant::now();
        work();
        self.lost += start.elapsed() * TIMED;
    }

    /// A call is about to ask the MPI again and again.
    fn waits(&mut self) {
        self.lost += ASKING;
    }

    /// Nothing is looked for any more.
    fn end(&mut self) {
        (self.pauses, self.left) = (true, u32::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MICROSECOND: i64 = 1000;

    /// How many of `calls` are looked at, if each gains so many nanoseconds and loses a microsecond.
    fn looked_at(trial: &mut Trial, calls: u32, gain: i64, gained: &mut i64) -> u32 {
        let mut count = 0;
        for _ in 0..calls {
            if trial.goes_on(*gained) {
                count += 1;
                *gained += gain;
                trial.last = Duration::from_micros(1);
            }
        }
        count
    }

    #[test]
    fn what_pays_goes_on() {
        let (mut trial, mut gained) = (Trial::new(), 0);
        assert_eq!(looked_at(&mut trial, 100 * WINDOW, 2 * MICROSECOND, &mut gained), 100 * WINDOW);
    }

    #[test]
    fn what_does_not_pauses_longer_each_time() {
        let (mut trial, mut gained) = (Trial::new(), 0);
        // Windows of which the pauses after them are 1, 2, 4 ... 64, 64 windows long.
        let calls = WINDOW * (8 + 127 + 64);
        let count = looked_at(&mut trial, calls, MICROSECOND / 2, &mut gained);
        assert!((7 * WINDOW..=9 * WINDOW).contains(&count), "{count}");
    }

    #[test]
    fn a_new_phase_of_the_program_is_noticed() {
        let (mut trial, mut gained) = (Trial::new(), 0);
        looked_at(&mut trial, 20 * WINDOW, 0, &mut gained);
        let count = looked_at(&mut trial, 300 * WINDOW, 2 * MICROSECOND, &mut gained);
        assert!(count >= 230 * WINDOW, "{count}");
    }

    #[test]
    fn after_another_call_nothing_old_is_looked_for() {
        let ahead = Ahead::new(&Settings { predict: Predict::On, ..Settings::default() });
        ahead.phase.store(LOOKING, Ordering::Release);
        assert!(ahead.looking().is_some());
        ahead.phase.store(STALE, Ordering::Release);
        assert!(ahead.looking().is_none());
    }
}
