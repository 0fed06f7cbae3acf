//! Messages that were taken from the MPI's queue before the program asked for them ([`Unreceived`]). For each communicator and source these are the
//! *earliest* that have not been received (`README.md`, "operations").

pub(crate) mod message;

use crate::messages::{context::Context, error::Error, error::called, peers::Peers, streams::Next};
use crate::mpi::{channel::match_one, handle::Handle, handle::HandleMap, real, span::received_bytes, sys::*};
use crate::operations::{requests::Requests, unexpected::message::Unreceived};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The unexpected queue. A thread that takes a message from the MPI holds the write lock from looking here until the message is here, or returned to
/// the caller. A receive holds the read lock from looking here until it is posted in the MPI, and a probe until it has looked into the MPI's queue.
/// So no message can be missed.
#[derive(Default)]
pub(crate) struct Unexpected {
    messages: RwLock<Vec<Unreceived>>,
    count: AtomicUsize,
}

impl Unexpected {
    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    pub(crate) fn take(&self, of: Match) -> Option<Unreceived> {
        if self.is_empty() { None } else { self.open().take(of) }
    }

    /// Keeps others from moving messages here until dropped.
    pub(crate) fn hold(&self) -> Held<'_> {
        Held(self.messages.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Forgets messages of communicators that are being freed.
    pub(crate) fn forget_ended(&self, context: &Context, requests: &Requests) {
        if !self.is_empty() {
            let mut opened = self.open();
            for message in opened.messages.extract_if(.., |message| message.peers.ended()) {
                message.discard(context, requests);
            }
        }
    }

    /// The job ends: the remaining messages will not be received.
    pub(crate) fn forget_all(&self, context: &Context, requests: &Requests) {
        for message in self.open().messages.drain(..) {
            message.discard(context, requests);
        }
    }

    /// Keeps others from taking messages from here or from the MPI until dropped.
    pub(crate) fn open(&self) -> Opened<'_> {
        let messages = self.messages.write().unwrap_or_else(PoisonError::into_inner);
        Opened { messages, count: &self.count }
    }
}

/// The unexpected queue, locked for reading.
pub(crate) struct Held<'a>(RwLockReadGuard<'a, Vec<Unreceived>>);

impl Held<'_> {
    pub(crate) fn has(&self, of: Match) -> bool {
        self.0.iter().any(|message| message.matches(of))
    }

    /// Number of messages that match.
    pub(crate) fn count(&self, of: Match) -> usize {
        self.0.iter().filter(|message| message.matches(of)).count()
    }
}

/// What a probe sees here.
pub(crate) enum Sight {
    Message(MPI_Status),
    /// Messages match, but the lengths of the first ones of their sources are not known yet: they are coming.
    Coming,
    Nothing,
}

/// The unexpected queue, locked for changes.
pub(crate) struct Opened<'a> {
    messages: RwLockWriteGuard<'a, Vec<Unreceived>>,
    count: &'a AtomicUsize,
}

impl Drop for Opened<'_> {
    fn drop(&mut self) {
        self.count.store(self.messages.len(), Ordering::Release);
    }
}

impl Opened<'_> {
    /// What a probe sees: of each source the first message that matches, of these the first one whose length is known. A receive with the same
    /// arguments then takes the same message: messages of the sources that were passed over are put after it.
    pub(crate) fn look(&mut self, context: &Context, of: Match) -> Result<Sight, Error> {
        let mut coming: Vec<c_int> = Vec::new();
        let matching = self.messages.iter_mut().enumerate().filter(|(_, message)| message.matches(of));
        let mut found = None;
        for (at, message) in matching {
            if coming.contains(&message.source) {
                continue;
            }
            found = message.look(context)?.map(|seen| (at, seen));
            if found.is_some() {
                break;
            }
            coming.push(message.source);
        }
        let Some((at, seen)) = found else {
            return Ok(if coming.is_empty() { Sight::Nothing } else { Sight::Coming });
        };
        if !coming.is_empty() {
            let any = |source| Match { source, tag: ANY_TAG, ..of };
            let is_later = |message: &Unreceived| coming.iter().any(|&source| message.matches(any(source)));
            if let Some(until_it) = self.messages.get_mut(..=at) {
                until_it.sort_by_key(is_later);
            }
        }
        Ok(Sight::Message(seen))
    }

    pub(crate) fn take(&mut self, of: Match) -> Option<Unreceived> {
        let at = self.messages.iter().position(|message| message.matches(of))?;
        Some(self.messages.remove(at))
    }

    /// Moves messages of this source here, in order, up to the first one with this tag, which another thread may have taken meanwhile. They stay with
    /// the MPI, matched, which takes neither time nor memory.
    pub(crate) fn pull(&mut self, of: Match, peers: &Arc<Peers>) -> Result<(), Error> {
        loop {
            self.messages.try_reserve(1).map_err(|_| ERR_NO_MEM)?;
            let matched = match_one(Match { tag: ANY_TAG, ..of }).map_err(Error::raised)?;
            let Some((message, status)) = matched else { return Ok(()) };
            self.messages.push(Unreceived::matched(of.comm, peers, message, &status));
            if status.MPI_TAG == of.tag {
                return Ok(());
            }
        }
    }

    /// Takes the message that a probe has `seen`, to decode it ahead, if it is still the first of its source, may be a frame, and all such messages
    /// take at most `most` bytes; returns whether it did. `all`: for tests, others are matched, too, but not received.
    pub(crate) fn take_ahead(
        &mut self,
        context: &Context,
        (comm, peers): (MPI_Comm, &Arc<Peers>),
        seen: &MPI_Status,
        (most, all): (usize, bool),
    ) -> Result<bool, Error> {
        let (of, len) = (Match { source: seen.MPI_SOURCE, tag: seen.MPI_TAG, comm }, received_bytes(seen));
        let is_candidate = peers.may_be_frame(seen, len) && self.memory().saturating_add(len) <= most;
        if !is_candidate && !all {
            return Ok(false);
        }
        // Another thread may have taken the message before this one had the lock, and only the first message may be taken.
        let first = look_into_the_mpi(Match { tag: ANY_TAG, ..of }, false)?;
        if !first.is_some_and(|first| first.MPI_TAG == of.tag && received_bytes(&first) == len) {
            return Ok(false);
        }
        self.pull(of, peers)?;
        match self.messages.last_mut().filter(|last| is_candidate && last.matches(of)) {
            Some(last) => last.receive(context, true).map(|()| true),
            None => Ok(false),
        }
    }

    /// Decodes at most a frame or a chunk of the messages taken ahead; returns whether any are left to be decoded.
    pub(crate) fn advance(&mut self, context: &Context, most: usize) -> bool {
        let mut left = most.saturating_sub(self.memory());
        let mut moving = false;
        for message in &mut *self.messages {
            left += message.memory(); // a message's own memory does not count
            match message.advance(context, left) {
                Next::Taken => return true,
                Next::Missing => moving = true,
                Next::Over => {}
            }
            left -= message.memory().min(left);
        }
        moving
    }

    /// Memory that the messages here use, in bytes.
    fn memory(&self) -> usize {
        self.messages.iter().map(Unreceived::memory).sum()
    }
}

/// A message that a matched probe took.
pub(crate) enum Taken {
    /// It may be a frame, and has been received.
    Received {
        unreceived: Unreceived,
        /// The send of the empty message whose handle the program has.
        stand_in: MPI_Request,
    },
    /// It is not a frame; or it is a damaged one, as its receive will find out.
    Left { comm: MPI_Comm, peers: Arc<Peers> },
}

/// Messages taken by matched probes, by the program's handle.
#[derive(Default)]
pub(crate) struct Matched {
    messages: Mutex<HandleMap<Taken>>,
    count: AtomicUsize,
}

impl Matched {
    pub(crate) fn put(&self, handle: MPI_Message, taken: Taken) {
        let mut messages = crate::locked(&self.messages);
        messages.insert(handle.key(), taken);
        self.count.store(messages.len(), Ordering::Release);
    }

    pub(crate) fn take(&self, handle: MPI_Message) -> Option<Taken> {
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        let mut messages = crate::locked(&self.messages);
        let found = messages.remove(&handle.key());
        self.count.store(messages.len(), Ordering::Release);
        found
    }
}

/// The MPI's own probe.
pub(crate) fn look_into_the_mpi(of: Match, block: bool) -> Result<Option<MPI_Status>, Error> {
    let (Match { source, tag, comm }, mut flag, mut status) = (of, 1, empty_status());
    // SAFETY: the arguments of a probe; valid output pointers.
    called(unsafe {
        if block {
            real::MPI_Probe(source, tag, comm, &raw mut status)
        } else {
            real::MPI_Iprobe(source, tag, comm, &raw mut flag, &raw mut status)
        }
    })?;
    Ok((flag != 0).then_some(status))
}
