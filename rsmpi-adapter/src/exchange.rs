//! Collective operations in which every message has one sender and one receiver: they are made of such messages, which may be
//! frames, on a communicator of our own. So no lengths need be exchanged before. For long messages it is what the MPIs do, too.

use crate::context::Context;
use crate::error::Result;
use crate::operations::{self, Envelope, Mode};
use crate::request::Completion;
use crate::span::Span;
use mpi::ffi::MPI_Request;
use mpi::raw::AsRaw;
use mpi::traits::Communicator;
use mpi::{Rank, Tag};
use std::sync::Arc;

/// Elements to or from a rank.
pub(crate) type Part = (Rank, Span);

/// Messages between two ranks are received in the order they are sent, and every rank makes its collective calls in the same
/// order: one tag is enough.
const TAG: Tag = 0;

/// Sends and receives these messages. Parts without elements are not sent.
///
/// # Safety
/// What is sent must be initialised and stay as it is meanwhile; what is received into must be initialised and the caller's
/// alone.
pub(crate) unsafe fn exchange(context: &Arc<Context>, sends: &[Part], receives: &[Part]) -> Result<()> {
    let comm = context.channel.0.as_raw();
    let envelope = |rank| Envelope { comm, rank, tag: TAG };
    let mut pending = Pending::default();
    let parts = |parts: &[Part]| parts.iter().filter(|(_, span)| span.len() > 0).cloned().collect::<Vec<_>>();
    for (rank, span) in parts(receives) {
        // SAFETY: the caller vouches for the elements until all is complete, which `finish` waits for.
        pending.add(|| unsafe { operations::immediate_receive(Arc::clone(context), &span, envelope(rank)) });
    }
    for (rank, span) in parts(sends) {
        // SAFETY: as above. A message is under way while the next is encoded.
        pending.add(|| unsafe { operations::immediate_send(context, &span, envelope(rank), Mode::Standard) });
    }
    // SAFETY: as above.
    unsafe { pending.finish() }
}

/// Parts for or from all ranks, those of the next rank first, so that not all send to the same rank at once.
pub(crate) fn all_ranks(context: &Context, parts: Vec<Span>) -> Vec<Part> {
    let mut parts: Vec<Part> = (0..).zip(parts).collect();
    let rank = usize::try_from(context.channel.0.rank()).unwrap_or(0);
    let next = (rank + 1) % parts.len().max(1);
    parts.rotate_left(next);
    parts
}

/// Operations under way. Once one could not be started, no more are, but those that were are waited for: the MPI has their
/// buffers.
#[derive(Default)]
struct Pending {
    requests: Vec<(MPI_Request, Completion)>,
    error: Option<crate::Error>,
}

impl Pending {
    fn add(&mut self, start: impl FnOnce() -> Result<(MPI_Request, Completion)>) {
        if self.error.is_none() {
            match start() {
                Ok(request) => self.requests.push(request),
                Err(error) => self.error = Some(error),
            }
        }
    }

    /// Waits for all; gives the first error.
    unsafe fn finish(mut self) -> Result<()> {
        for (mut request, completion) in self.requests {
            // SAFETY: the caller vouches for the buffers.
            if let Err(error) = unsafe { completion.wait(&mut request) } {
                self.error.get_or_insert(error);
            }
        }
        self.error.map_or(Ok(()), Err)
    }
}
