//! Selects the calls and messages to record, and passes them to the [`Recorder`].

use crate::messages::context::Context;
use crate::messages::recorder::{Asked, Receive, Recorder};
use crate::mpi::{device, handle::Handle, span::Envelope, span::Span, sys::*};
use mpress::FLOOR;
use mpress_record::{CallKind, Message, Samples};
use std::sync::atomic::{AtomicU32, Ordering};

impl Context {
    #[inline]
    fn tracing(&self) -> Option<&Recorder> {
        self.recorder.as_ref().filter(|recorder| recorder.files.trace.is_some())
    }

    #[inline]
    fn samples(&self) -> Option<&Samples> {
        self.recorder.as_ref()?.files.samples.as_ref()
    }

    /// Records a receive call of the program.
    #[inline]
    pub(crate) fn trace(&self, kind: CallKind, message: &Envelope) {
        if let Some(tracing) = self.tracing()
            && let Some(receive) = self.receive(tracing, message)
        {
            tracing.record(kind, &receive);
        }
    }

    /// What is recorded of a receive each time that the program starts it; `None` if nothing is.
    #[inline]
    pub(crate) fn to_trace(&self, message: &Envelope) -> Option<Receive> {
        self.tracing().and_then(|tracing| self.receive(tracing, message))
    }

    /// Records the start of a persistent receive.
    #[inline]
    pub(crate) fn trace_start(&self, receive: Option<&Receive>) {
        if let (Some(tracing), Some(receive)) = (self.tracing(), receive) {
            tracing.record(CallKind::Start, receive);
        }
    }

    /// A receive to record, unless the MPI will refuse its arguments.
    #[cold]
    fn receive(&self, tracing: &Recorder, message: &Envelope) -> Option<Receive> {
        let span = message.span;
        span.bytes()?;
        let asked = self.asked(message.asked())?;
        Some(Receive { span, name: tracing.name(span.datatype()), asked })
    }

    fn asked(&self, Match { source, tag, comm }: Match) -> Option<Asked> {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let number = if comm == COMM_WORLD {
            0
        } else {
            *self.all_peers(comm)?.number.get_or_init(|| NEXT.fetch_add(1, Ordering::Relaxed))
        };
        let source = match source {
            ANY_SOURCE => -1,
            PROC_NULL => -2,
            rank => rank,
        };
        Some((source, if tag == ANY_TAG { -1 } else { tag }, number))
    }

    /// Keeps what a matched probe asked for, by the message that it returned.
    #[inline]
    pub(crate) fn trace_matched(&self, of: Match, message: MPI_Message) {
        if let Some(tracing) = self.tracing()
            && let Some(asked) = self.asked(of)
        {
            crate::locked(&tracing.matched).insert(message.key(), asked);
        }
    }

    /// Records the receive of a message from a matched probe.
    #[inline]
    pub(crate) fn trace_matched_receive(&self, kind: CallKind, span: &Span, message: MPI_Message) {
        if let Some(tracing) = self.tracing() {
            let asked = crate::locked(&tracing.matched).remove(&message.key());
            if let Some(asked) = asked.filter(|_| span.bytes().is_some()) {
                let name = tracing.name(span.datatype());
                tracing.record(kind, &Receive { span: *span, name, asked });
            }
        }
    }

    /// The samples, and the destination's rank in the world, for messages to other processes that are long enough to be compressed.
    pub(crate) fn sampled(&self, message: &Envelope) -> Option<(&Samples, c_int)> {
        let samples = self.samples()?;
        if message.tag < 0 || message.peer < 0 || message.span.bytes()? < FLOOR {
            return None;
        }
        let peers = self.all_peers(message.comm).filter(|peers| peers.has(message.peer))?;
        let dst = peers.world_rank(message.peer);
        (dst != self.world.rank).then_some((samples, dst))
    }

    /// Samples a message that the program sends by this call.
    #[inline]
    pub(crate) fn sample(&self, message: &Envelope, call: &'static str) {
        if let Some((samples, dst)) = self.sampled(message) {
            self.sample_span(samples, &message.span, (dst, message.tag), call);
        }
    }

    /// Samples elements that the program sends in a collective call, to one rank of the world or to several.
    #[inline]
    pub(crate) fn sample_collective(&self, span: &Span, dst: Option<c_int>) {
        if let Some(samples) = self.samples() {
            self.sample_span(samples, span, (dst.unwrap_or(-1), -1), "collective");
        }
    }

    #[cold]
    fn sample_span(&self, samples: &Samples, span: &Span, (dst, tag): (c_int, c_int), call: &'static str) {
        let Some(len) = span.bytes().filter(|len| *len >= FLOOR) else { return };
        if self.refused(span) || device::is_device(span.ptr()) {
            return;
        }
        let kind = self.host_layout(span.datatype()).kind;
        // A process from outside the world has no rank in it.
        let message = Message { kind, len, src: self.world.rank, dst: dst.max(-1), tag, call };
        samples.offer(&message, |place| self.gather(span, place).is_ok());
    }
}
