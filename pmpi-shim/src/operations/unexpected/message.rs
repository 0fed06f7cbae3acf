//! A message taken from the MPI's queue before the program asks for it. Nothing here waits for the sender: a message is first matched, which leaves
//! it with the MPI, and received into our own memory only if it may be a frame and a probe asks for it.

use crate::messages::{
    context::Context, error::Error, error::called, peers::Peers, posted::Bounce, posted::Posted,
    receive_memory::Memory, streams::Next,
};
use crate::mpi::span::{Envelope, Span, received_bytes, set_received_bytes};
use crate::mpi::{handle::Handle, operation::Look, operation::look, real, sys::*};
use crate::operations::active::{Active, Finish, Started};
use crate::operations::requests::Requests;
use mpress::{SHORTEST, may_be_frame};
use std::sync::Arc;

/// A message that is matched, but not yet given to the program.
pub(crate) struct Unreceived {
    pub(crate) comm: MPI_Comm,
    pub(crate) source: c_int,
    pub(crate) tag: c_int,
    /// Length on the wire in bytes.
    len: usize,
    pub(crate) peers: Arc<Peers>,
    state: State,
}

enum State {
    /// The message is still with the MPI.
    Matched(MPI_Message),
    /// It is being received into our own memory. The message length is known once it has arrived. `ahead`: it is decoded then, before the program
    /// asks for it.
    Receiving { request: MPI_Request, posted: Box<Posted>, message_len: Option<usize>, ahead: bool },
}

impl Unreceived {
    /// A message taken by a matched probe, with the probe's status.
    pub(crate) fn matched(
        comm: MPI_Comm,
        peers: &Arc<Peers>,
        message: MPI_Message,
        status: &MPI_Status,
    ) -> Self {
        let len = received_bytes(status);
        let (source, tag, peers) = (status.MPI_SOURCE, status.MPI_TAG, Arc::clone(peers));
        Self { comm, source, tag, len, peers, state: State::Matched(message) }
    }

    pub(crate) fn matches(&self, of: Match) -> bool {
        self.comm.key() == of.comm.key()
            && (of.source == ANY_SOURCE || of.source == self.source)
            && (of.tag == ANY_TAG || of.tag == self.tag)
    }

    /// What a probe reports, if known without a further call.
    fn seen(&self) -> Option<MPI_Status> {
        let bytes = match self.state {
            State::Matched(_) if self.may_be_frame() => return None,
            State::Matched(_) => self.len,
            State::Receiving { message_len, .. } => message_len?,
        };
        let mut status = empty_status();
        (status.MPI_SOURCE, status.MPI_TAG) = (self.source, self.tag);
        set_received_bytes(&mut status, bytes);
        Some(status)
    }

    /// Does what a probe needs to report the message, as far as possible without waiting. An error leaves it unchanged: it can be received.
    pub(crate) fn look(&mut self, context: &Context) -> Result<Option<MPI_Status>, Error> {
        if self.may_be_frame() {
            self.receive(context, false)?;
        }
        if let State::Receiving { request, posted, message_len: message_len @ None, .. } = &mut self.state {
            // A failure is reported by the receive of the message.
            if !matches!(look(*request), Look::UnderWay) {
                // The length of a damaged frame is not known; its receive reports the error.
                *message_len = Some(posted.message_len(context).unwrap_or(self.len));
            }
        }
        Ok(self.seen())
    }

    fn may_be_frame(&self) -> bool {
        may_be_frame(self.len) && self.peers.frames_with(self.source)
    }

    /// Starts to receive it into our own memory, unless already started. `ahead`: it is to be decoded before the program asks for it.
    pub(crate) fn receive(&mut self, context: &Context, ahead: bool) -> Result<(), Error> {
        let State::Matched(mut message) = self.state else { return Ok(()) };
        let bounce = Bounce::exact(context, self.len)?;
        // SAFETY: a buffer for all of the message, which is kept with the request.
        let request = start_matched(&unsafe { bounce.bytes.span() }, &mut message)?;
        let posted = Box::new(Posted::early(Arc::clone(&self.peers), self.comm, bounce));
        self.state = State::Receiving { request, posted, message_len: None, ahead };
        Ok(())
    }

    /// Memory it uses, in bytes.
    pub(crate) fn memory(&self) -> usize {
        match &self.state {
            State::Matched(_) => 0,
            State::Receiving { posted, .. } => posted.own_memory(),
        }
    }

    /// Decodes what has come of it, one frame or chunk, if it is to be decoded ahead and needs at most `most` bytes.
    pub(crate) fn advance(&mut self, context: &Context, most: usize) -> Next {
        let State::Receiving { request, posted, message_len, ahead } = &mut self.state else {
            return Next::Over;
        };
        if !*ahead {
            return posted.take_next(context);
        }
        let seen = look(*request);
        *ahead = matches!(seen, Look::UnderWay);
        if !matches!(seen, Look::Complete(_)) {
            // The receive of what has failed reports it.
            return if *ahead { Next::Missing } else { Next::Over };
        }
        let Some(len) = posted.decode_ahead(context, self.peers.world_rank(self.source), most) else {
            return Next::Over;
        };
        *message_len = Some(len);
        Next::Taken
    }

    /// The MPI's handle of the message, if the MPI still has it.
    pub(crate) fn message(&self) -> Option<MPI_Message> {
        match self.state {
            State::Matched(message) => Some(message),
            State::Receiving { .. } => None,
        }
    }

    /// Makes it the message of a receive of the program, into this buffer.
    pub(crate) fn into_receive(mut self, context: &Context, requests: &Requests, span: &Span) -> Started {
        let capacity = span.bytes().unwrap_or(0);
        if self.len > capacity {
            // It is too long for the buffer, unless it is a frame. The MPI might report that to another error handler than the communicator's, and
            // does so if memory is short.
            let _ = self.receive(context, false);
        }
        if let State::Matched(mut message) = self.state {
            if capacity < SHORTEST || self.len < SHORTEST {
                return Ok(Active::new(start_matched(span, &mut message)?, Finish::Nothing));
            }
            let wanted = Envelope::new(*span, ANY_SOURCE, ANY_TAG, self.comm);
            let posted = Posted::new(context, &wanted, self.peers, false)?;
            // SAFETY: it is kept with the request.
            let request = start_matched(&unsafe { posted.span() }, &mut message)?;
            return Ok(Active::new(request, Finish::Receive(Box::new(posted))));
        }
        let lent = match Memory::lent(context, span) {
            Ok(lent) => lent,
            Err(code) => {
                self.discard(context, requests);
                return Err(code.into());
            }
        };
        let State::Receiving { request, mut posted, .. } = self.state else { return Err(ERR_INTERN.into()) };
        posted.adopt(lent);
        Ok(Active::new(request, Finish::Receive(posted)))
    }

    /// The message will not be received by the program.
    pub(crate) fn discard(self, context: &Context, requests: &Requests) {
        if let State::Receiving { request, posted, .. } = self.state {
            let finish = posted.discard(context).map_or(Finish::Nothing, Finish::Forget);
            requests.detach(Active::new(request, finish), false);
        }
    }
}

/// The MPI's own nonblocking receive of a matched message.
fn start_matched(span: &Span, message: &mut MPI_Message) -> Result<MPI_Request, Error> {
    let (buf, count, datatype, mut request) = (span.ptr(), span.count(), span.datatype(), REQUEST_NULL);
    // SAFETY: the span's own promise; valid pointers.
    called(unsafe { real::MPI_Imrecv_any(buf, count, datatype, message, &raw mut request) })?;
    Ok(request)
}
