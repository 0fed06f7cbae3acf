//! Receives messages ahead: while the program waits for one message, looks for the messages that it is expected to ask for next (A. Afsahi and N. J.
//! Dimopoulos, *Efficient Communication Using Message Prediction for Cluster of Multiprocessors*, 2000, sections 3 and 7). `README.md`, "Prefetch",
//! says which messages are taken, and how gain and loss are compared ([`Trial`]).

use crate::messages::{context::Context, error::Error, peers::Peers};
use crate::mpi::{span::is_tag, sys::*};
use crate::operations::unexpected::{Unexpected, look_into_the_mpi};
use mpress::{Predict, Settings};
use mpress_predict::{Envelope as Call, Predictor, Tournament, Trial};
use std::sync::{Arc, Mutex, MutexGuard};
use std::{sync::atomic::AtomicU8, sync::atomic::Ordering, time::Instant};

/// Number of predicted calls that are looked at.
const FAR: usize = 32;

/// Length of a receive buffer from which its message is looked for, in bytes. To decode a shorter message takes only a few microseconds, and each
/// look takes one.
pub(crate) const LONG: usize = 32 << 10;

/// Number of different messages that are looked for at a time.
const MOST: usize = 8;

/// Number of communicators that are known at a time. Receives on others are not predicted.
const COMMS: usize = 64;

/// Messages to look for, among those that other ranks may send as frames.
pub(crate) struct Prefetch {
    /// `None` if this is off. A thread that finds the lock taken goes on without it.
    foresight: Option<Mutex<Foresight>>,
    /// What a waiting call does: [`IDLE`], [`STALE`] or [`LOOKING`]. Changed only under the lock.
    phase: AtomicU8,
}

/// Nothing is looked for.
const IDLE: u8 = 0;
/// The program has made another call, so the messages to look for must be determined again.
const STALE: u8 = 1;
/// The messages in `wanted` are looked for.
const LOOKING: u8 = 2;

struct Foresight {
    predictor: Box<Tournament>,
    /// Indexed by the predictor's numbers for them.
    comms: Vec<Option<(MPI_Comm, Arc<Peers>)>>,
    wanted: Vec<Wanted>,
    /// Number of further receive calls after which nothing is looked for, because no long message was expected soon.
    rest: usize,
    /// Index of the message that is looked for next.
    turn: usize,
    /// Memory for messages taken ahead, in bytes.
    memory: usize,
    trial: Trial,
    /// Time of the next look.
    next_look: Instant,
    /// For tests: every message that has come is taken, but only possible frames are received, and the trial never ends.
    all: bool,
}

/// A message that is looked for.
struct Wanted {
    comm: u32,
    source: c_int,
    tag: c_int,
    /// Number of messages like this that are expected.
    times: usize,
}

impl Prefetch {
    pub(crate) fn new(settings: &Settings) -> Self {
        let foresight = || {
            let (predictor, comms, wanted, rest, turn) = Default::default();
            let (memory, all) = (settings.predict_memory, settings.predict == Predict::All);
            let (trial, next_look) = (Trial::new(), Instant::now());
            Mutex::new(Foresight { predictor, comms, wanted, rest, turn, memory, trial, next_look, all })
        };
        let foresight = (settings.predict != Predict::Off).then(foresight);
        Self { foresight, phase: AtomicU8::new(IDLE) }
    }

    /// Whether receive calls need to be observed.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.foresight.is_some()
    }

    /// Observes that the program asks for this message, which may be a frame, or for any message, by a wildcard. `may_be_long`: it may have [`LONG`]
    /// bytes.
    #[inline]
    pub(crate) fn observe(&self, context: &Context, of: Match, may_be_long: bool, peers: &Arc<Peers>) {
        if let Some(mut foresight) = self.try_lock() {
            let goes_on = foresight.observe(context, of, may_be_long, peers);
            self.phase.store(if goes_on { STALE } else { IDLE }, Ordering::Release);
        }
    }

    /// Whether there are messages to look for. If so, a waiting call must not wait in the MPI.
    #[inline]
    pub(crate) fn is_looking(&self, unexpected: &Unexpected) -> bool {
        match self.phase.load(Ordering::Acquire) {
            IDLE => false,
            LOOKING => true,
            _ => self.begin(unexpected),
        }
    }

    #[cold]
    fn begin(&self, unexpected: &Unexpected) -> bool {
        let Some(mut foresight) = self.try_lock() else { return false };
        let begun = foresight.begin(unexpected);
        self.phase.store(if begun { LOOKING } else { IDLE }, Ordering::Release);
        begun
    }

    /// Called when a waiting call has found nothing and goes on waiting.
    #[inline]
    pub(crate) fn step(&self, context: &Context, unexpected: &Unexpected) {
        let Some(mut foresight) = self.looking() else { return };
        let start = Instant::now();
        let goes_on = foresight.step(context, unexpected, start);
        foresight.trial.looked(start.elapsed());
        if !goes_on {
            self.phase.store(IDLE, Ordering::Release);
        }
    }

    /// The state, if messages are being looked for. Another thread's call may have changed that before the lock was taken.
    fn looking(&self) -> Option<MutexGuard<'_, Foresight>> {
        let looks = || self.phase.load(Ordering::Acquire) == LOOKING;
        if looks() { self.try_lock().filter(|_| looks()) } else { None }
    }

    /// Forgets communicators that are being freed: from now on no other thread may probe on them.
    pub(crate) fn forget_ended(&self, context: &Context) {
        let Some(foresight) = &self.foresight else { return };
        // The calling thread may hold the lock, if the MPI has called the program back.
        let foresight = match context.multiple {
            true => Some(crate::locked(foresight)),
            false => self.try_lock(),
        };
        if let Some(mut foresight) = foresight {
            let Foresight { comms, wanted, .. } = &mut *foresight;
            for (number, known) in (0..).zip(comms) {
                if known.take_if(|(_, peers)| peers.ended()).is_some() {
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
    /// Records a receive call; returns whether other messages are to be looked for.
    fn observe(&mut self, context: &Context, of: Match, may_be_long: bool, peers: &Arc<Peers>) -> bool {
        if !self.trial.goes_on(context.ahead.gained()) && !self.all {
            return false;
        }
        if peers.ended() {
            return false;
        }
        let Some(comm) = self.number(of.comm, peers) else { return false };
        let call = Call {
            source: if of.source == ANY_SOURCE { -1 } else { of.source },
            tag: if of.tag == ANY_TAG { -1 } else { of.tag },
            comm,
            count: u64::from(may_be_long),
            ..Call::default()
        };
        if let Some(predicted) = self.predictor.predict(None) {
            context.ahead.predicted(predicted == call);
        }
        let timed = self.trial.is_timed().then(Instant::now);
        self.predictor.observe(0, call);
        if let Some(start) = timed {
            self.trial.took(start.elapsed());
        }
        self.rest = self.rest.saturating_sub(1);
        self.rest == 0 || self.all
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

    /// A communicator, if it has not been freed.
    fn comm(comms: &[Option<(MPI_Comm, Arc<Peers>)>], number: u32) -> Option<&(MPI_Comm, Arc<Peers>)> {
        let known = comms.get(usize::try_from(number).ok()?)?.as_ref();
        known.filter(|(_, peers)| !peers.ended())
    }

    /// Determines the messages to look for; returns whether there are any.
    fn begin(&mut self, unexpected: &Unexpected) -> bool {
        self.wanted.clear();
        if self.all {
            self.want_all();
            return true;
        }
        let mut looked_at = 0;
        for call in self.predictor.ahead().take(FAR) {
            looked_at += 1;
            let Call { source, tag, comm, count, .. } = call;
            // An extrapolated tag may exceed the greatest tag; no call can ask for it.
            if source < 0 || !is_tag(tag) {
                break;
            }
            if count == 0 {
                continue;
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
        if self.wanted.is_empty() {
            self.rest = looked_at / 2;
            return false;
        }
        let held = unexpected.hold();
        let comms = &self.comms;
        self.wanted.retain_mut(|wanted| {
            let Some((comm, _)) = Self::comm(comms, wanted.comm) else { return false };
            let of = Match { source: wanted.source, tag: wanted.tag, comm: *comm };
            wanted.times = wanted.times.saturating_sub(held.count(of));
            wanted.times > 0
        });
        self.trial.waits();
        !self.wanted.is_empty()
    }

    /// Looks for every message from every rank that may send frames.
    fn want_all(&mut self) {
        for (number, (_, peers)) in
            (0..).zip(&self.comms).filter_map(|(number, known)| Some((number, known.as_ref()?)))
        {
            let sources = peers.ranks().filter(|source| peers.frames_with(*source));
            let wanted = |source| Wanted { comm: number, source, tag: ANY_TAG, times: usize::MAX };
            self.wanted.extend(sources.map(wanted));
        }
    }

    /// Decodes what has come, and looks for one message; returns whether there is more to do.
    fn step(&mut self, context: &Context, unexpected: &Unexpected, now: Instant) -> bool {
        let moving = !unexpected.is_empty() && unexpected.open().advance(context, self.memory);
        if self.wanted.is_empty() {
            return moving;
        }
        if now < self.next_look && !self.all {
            return true;
        }
        self.turn = (self.turn + 1) % self.wanted.len();
        let start = Instant::now();
        match self.look(context, unexpected, self.turn) {
            Ok(true) => {}
            Ok(false) => {
                self.wanted.swap_remove(self.turn);
            }
            Err(_) => {
                self.trial.end();
                self.wanted.clear();
            }
        }
        // So the awaited message is noticed about as soon as if nothing were looked for. An MPI that finds nothing may yield its processor for some
        // milliseconds.
        let end = Instant::now();
        self.next_look = end + (end - start);
        moving || !self.wanted.is_empty()
    }

    /// Looks at the first message of a source, and takes it if it is wanted; returns whether to look there again for this one.
    fn look(&mut self, context: &Context, unexpected: &Unexpected, which: usize) -> Result<bool, Error> {
        let Some(&Wanted { comm: number, source, .. }) = self.wanted.get(which) else { return Ok(true) };
        let Some((comm, peers)) = Self::comm(&self.comms, number) else { return Ok(false) };
        let of = Match { source, tag: ANY_TAG, comm: *comm };
        let Some(seen) = look_into_the_mpi(of, false)? else { return Ok(true) };
        let is_wanted = |wanted: &Wanted| {
            (wanted.comm, wanted.source) == (number, source)
                && (wanted.tag == seen.MPI_TAG || wanted.tag == ANY_TAG)
                && wanted.times > 0
        };
        // An earlier message, or one that is too long or no frame, blocks this source until the current call is over.
        let Some(first) = self.wanted.iter().position(is_wanted) else { return Ok(self.all) };
        let taken = unexpected.open().take_ahead(context, (*comm, peers), &seen, (self.memory, self.all))?;
        if let Some(wanted) = self.wanted.get_mut(first) {
            wanted.times = if taken || self.all { wanted.times - 1 } else { 0 };
        }
        Ok(self.wanted.get(which).is_some_and(|wanted| wanted.times > 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_another_call_nothing_old_is_looked_for() {
        let ahead = Prefetch::new(&Settings { predict: Predict::On, ..Settings::default() });
        ahead.phase.store(LOOKING, Ordering::Release);
        assert!(ahead.looking().is_some());
        ahead.phase.store(STALE, Ordering::Release);
        assert!(ahead.looking().is_none());
    }
}
