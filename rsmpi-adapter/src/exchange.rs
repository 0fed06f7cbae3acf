//! Collective operations in which every message has one sender and one receiver: they are made of such messages, which may be
//! frames, on a communicator of our own. So no lengths need be exchanged before, and all messages can be under way at once. For long
//! messages it is what the MPIs do, too.

use crate::context::Context;
use crate::error::Result;
use crate::message::Message;
use crate::operations::{self, Envelope, Mode};
use crate::span::Span;
use mpi::raw::AsRaw;
use mpi::traits::Communicator;
use mpi::{Rank, Tag};
use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::Arc;

/// Elements to or from a rank.
pub(crate) type Part = (Rank, Span);

/// Messages between two ranks are received in the order they are sent, and every rank makes its collective calls in the same
/// order: one tag is enough.
const TAG: Tag = 0;

/// Sends and receives these messages.
///
/// # Safety
/// As for [`start`].
pub(crate) unsafe fn exchange(context: &Arc<Context>, sends: &[Part], receives: &[Part]) -> Result<()> {
    // SAFETY: the caller vouches for the elements.
    unsafe { start(context, sends, receives).wait() }
}

/// Starts to send and receive these messages.
///
/// # Safety
/// Until all are complete, what is sent must be initialised and stay as it is, and what is received into must be initialised and
/// nobody else's.
pub(crate) unsafe fn start(context: &Arc<Context>, sends: &[Part], receives: &[Part]) -> Messages {
    let mut messages = Messages::default();
    // SAFETY: the caller vouches for the elements.
    unsafe {
        messages.receive(context, receives);
        for (rank, span) in sends.iter().filter(|(_, span)| span.len() > 0) {
            // A message is under way while the next is encoded.
            let to = envelope(context, *rank);
            messages.add(|| operations::immediate_send(context, span, to, Mode::Standard));
        }
    }
    messages
}

/// Starts to send one message to all these ranks, encoded once, and to receive others.
///
/// # Safety
/// As for [`start`].
pub(crate) unsafe fn start_for_many(
    context: &Arc<Context>,
    own: &Span,
    ranks: impl Iterator<Item = Rank>,
    receives: &[Part],
) -> Messages {
    let mut messages = Messages::default();
    // SAFETY: the caller vouches for the elements.
    unsafe {
        messages.receive(context, receives);
        if own.len() > 0 {
            let comm = context.channel.0.as_raw();
            let started = |message| messages.add(|| message);
            operations::immediate_send_to_each(context, own, comm, TAG, ranks, started);
        }
    }
    messages
}

fn envelope(context: &Context, rank: Rank) -> Envelope {
    Envelope { comm: context.channel.0.as_raw(), rank, tag: TAG }
}

/// Parts for or from all ranks, those of the next rank first, so that not all send to the same rank at once.
pub(crate) fn all_ranks(context: &Context, parts: Vec<Span>) -> Vec<Part> {
    let mut parts: Vec<Part> = (0..).zip(parts).collect();
    let rank = usize::try_from(context.channel.0.rank()).unwrap_or(0);
    let next = (rank + 1) % parts.len().max(1);
    parts.rotate_left(next);
    parts
}

/// Messages under way. Once one could not be started, no more are, but those that were are waited for: the MPI has their buffers.
#[derive(Default)]
pub(crate) struct Messages {
    under_way: Vec<Message>,
    error: Option<crate::Error>,
}

impl Messages {
    /// Parts without elements are not sent.
    unsafe fn receive(&mut self, context: &Arc<Context>, parts: &[Part]) {
        for (rank, span) in parts.iter().filter(|(_, span)| span.len() > 0) {
            let from = envelope(context, *rank);
            // SAFETY: the caller vouches for the elements.
            self.add(|| unsafe { operations::immediate_receive(Arc::clone(context), span, from) });
        }
    }

    fn add(&mut self, start: impl FnOnce() -> Result<Message>) {
        if self.error.is_none() {
            match start() {
                Ok(message) => self.under_way.push(message),
                Err(error) => self.error = Some(error),
            }
        }
    }

    /// The first error counts.
    fn note<T>(&mut self, outcome: Result<T>) {
        if let Err(error) = outcome {
            self.error.get_or_insert(error);
        }
    }

    fn outcome(self) -> Result<()> {
        self.error.map_or(Ok(()), Err)
    }

    /// Waits for all.
    ///
    /// # Safety
    /// The program's buffers must still be there.
    pub(crate) unsafe fn wait(mut self) -> Result<()> {
        for message in std::mem::take(&mut self.under_way) {
            // SAFETY: the caller vouches for the buffers.
            self.note(unsafe { message.wait() });
        }
        self.outcome()
    }

    /// The outcome, if all are complete; else those that are not.
    ///
    /// # Safety
    /// As for [`wait`](Self::wait).
    pub(crate) unsafe fn test(mut self) -> ControlFlow<Result<()>, Self> {
        for message in std::mem::take(&mut self.under_way) {
            // SAFETY: the caller vouches for the buffers.
            match unsafe { message.test() } {
                Continue(message) => self.under_way.push(message),
                Break(outcome) => self.note(outcome),
            }
        }
        if self.under_way.is_empty() { Break(self.outcome()) } else { Continue(self) }
    }
}
