//! A message in the layer's own memory, which must stay there until the MPI has sent it.

use crate::messages::{context::Context, uncompressed, uncompressed::Why};
use crate::mpi::span::{ByteSpan, Envelope, Layout, Span, is_tag};
use crate::mpi::{device, handle::Handle, sys::ERR_OTHER, sys::UNDEFINED};
use mpress::{Buffer, Channel, Considered, Counted, Destination, FLOOR, Kind, Pieces, Strategy, waiting};
use mpress_datatype::{Plan, Source, Target};
use std::{cell::Cell, ffi::c_int, ops::Range, slice, sync::Arc};

/// A message that may be sent as a frame. The MPI does not refuse it, and the host may read it.
pub(crate) struct Candidate {
    pub(crate) message: Envelope,
    /// Length in bytes.
    pub(crate) len: usize,
    to: Destination,
    /// The destination's rank in `MPI_COMM_WORLD`.
    pub(crate) dest: c_int,
    /// The communicator's own strategy, if it has one.
    strategy: Option<Strategy>,
}

impl Candidate {
    /// The same message, with this strategy if one is given.
    pub(crate) fn by(self, strategy: Option<Strategy>) -> Self {
        Self { strategy: strategy.or(self.strategy), ..self }
    }

    /// Where it goes, if it goes to one rank only.
    fn channel(&self) -> Option<Channel> {
        let peer = u32::try_from(self.dest).ok()?;
        // Another communicator may get the same handle after this one was freed: then the first message refers to one that is of little use.
        Some(Channel { peer, context: self.message.comm.key() as u64, tag: self.message.tag })
    }
}

/// The elements to encode.
pub(crate) enum Raw<'a> {
    Bytes(&'a [u8]),
    Elements(Elements<'a>),
}

/// Elements that are not contiguous.
pub(crate) struct Elements<'a> {
    plan: Plan,
    memory: Source<'a>,
}

impl Pieces for Elements<'_> {
    fn fill(&self, range: Range<usize>, out: &mut [u8]) -> bool {
        self.plan.pack(self.memory, range, Target::new(out, 0)).is_ok()
    }
}

/// A frame, or a copy of a message, ready for one of the MPI's send functions.
pub(crate) struct Wire {
    bytes: ByteSpan,
    memory: Buffer,
    /// Whether its time tells how fast the network is.
    is_frame: bool,
    _counted: Counted,
}

impl Wire {
    /// The bytes to send.
    ///
    /// # Safety
    /// The wire must be kept until the send is complete.
    pub(crate) unsafe fn span(&self) -> Span {
        // SAFETY: our own memory, which the caller keeps.
        unsafe { self.bytes.span() }
    }

    pub(crate) fn len(&self) -> usize {
        self.memory.len()
    }

    /// It has been sent.
    pub(crate) fn sent(&self) {
        if self.is_frame {
            waiting::sent(self.len());
        }
    }

    /// Shared, since several sends may use it.
    #[allow(clippy::arc_with_non_send_sync, reason = "its handle is a plain value, see `state`")]
    pub(crate) fn new(context: &Context, mut memory: Buffer) -> Result<Arc<Self>, c_int> {
        let bytes = context.byte_span(memory.as_mut_ptr(), memory.len())?;
        // The whole buffer counts: it may be longer than the frame.
        let counted = context.pending.add(memory.room().len());
        Ok(Arc::new(Self { bytes, memory, is_frame: true, _counted: counted }))
    }
}

thread_local! {
    /// The element kind that the program has declared for its next message.
    static SAID: Cell<Option<Kind>> = const { Cell::new(None) };
}

/// Makes a call that sends elements of a predefined datatype, but whose data is mostly elements of this kind.
pub fn as_kind<R>(kind: Kind, call: impl FnOnce() -> R) -> R {
    /// Ends the declaration, also if the call panics.
    struct Until;
    impl Drop for Until {
        fn drop(&mut self) {
            SAID.set(None);
        }
    }
    SAID.set(Some(kind));
    let _until = Until;
    call()
}

impl Context {
    /// A message that may be sent as a frame: it is long enough, it is in host memory, the other end knows frames, and the MPI will not refuse the
    /// arguments. The error says why a message that is long enough cannot be one, and its length in bytes. `None`: it is short, or refused.
    pub(crate) fn candidate(&self, message: &Envelope) -> Result<Candidate, Option<(Why, usize)>> {
        let len = message.span.bytes().filter(|&len| len >= FLOOR).ok_or(None)?;
        if !is_tag(message.tag) || message.peer < 0 {
            return Err(None);
        }
        let peers = self.peers(message.comm).filter(|peers| peers.frames_with(message.peer));
        let peers = peers.ok_or(Some((Why::SameNode, len)))?;
        if self.refused(&message.span) {
            return Err(None);
        }
        if device::is_device(message.span.ptr()) {
            return Err(Some((Why::Device, len)));
        }
        let dest = peers.world_rank(message.peer);
        let to = if self.world.other_node(dest) { Destination::OtherNode } else { Destination::SameNode };
        Ok(Candidate { message: *message, len, to, dest, strategy: peers.strategy() })
    }

    /// The frame of a message; `None` if it is better sent unchanged.
    pub(crate) fn frame(&self, candidate: &Candidate) -> Option<Arc<Wire>> {
        let frame = self.encode(candidate, |considered, raw| match raw {
            Raw::Bytes(bytes) => self.engine.encode_considered(considered, bytes),
            Raw::Elements(_) => self
                .engine
                .encode_considered(considered, &self.packed(&candidate.message.span, candidate.len).ok()?),
        })?;
        Wire::new(self, frame?).ok()
    }

    /// Encodes a message, if it is worth considering. Elements that are not contiguous need not be packed as a whole.
    pub(crate) fn encode<R>(
        &self,
        candidate: &Candidate,
        encode: impl FnOnce(Considered, Raw<'_>) -> R,
    ) -> Option<R> {
        let Candidate { message: Envelope { span, .. }, len, to, strategy, .. } = *candidate;
        let Layout { contiguous, kind } = self.host_layout(span.datatype()); // it is in host memory
        let kind = SAID.get().filter(|_| contiguous).unwrap_or(kind);
        if !self.pending.has_room(len) {
            uncompressed::message(Why::Full, len);
            return None;
        }
        let mut considered = self.engine.consider(strategy, kind, to, len)?;
        if let Some(channel) = candidate.channel() {
            considered = considered.on(channel);
        }
        waiting::coding(|| {
            if !contiguous {
                if let Some(plan) = self.plan(&span) {
                    // SAFETY: the elements are within this range; the span's own promise.
                    let memory = unsafe { Source::from_raw(span.ptr().cast::<u8>(), plan.reach()) };
                    return Some(encode(considered, Raw::Elements(Elements { plan, memory })));
                }
                return Some(encode(considered, Raw::Bytes(&self.packed(&span, len).ok()?)));
            }
            // SAFETY: contiguous elements of `len` bytes; the span's own promise.
            let raw = unsafe { slice::from_raw_parts(span.ptr().cast::<u8>(), len) };
            Some(encode(considered, Raw::Bytes(raw)))
        })
    }

    /// The frame of a message to many ranks, the farthest of them at `to`, if it is worth one. The MPI must not refuse the message. `strategy`: that
    /// of its communicator, if it has its own.
    pub(crate) fn shared_frame(
        &self,
        message: &Envelope,
        to: Destination,
        strategy: Option<Strategy>,
    ) -> Option<Arc<Wire>> {
        let len = message.span.bytes().filter(|len| *len >= self.threshold)?;
        // Only the MPI may read it.
        if device::is_device(message.span.ptr()) {
            return None;
        }
        self.sample_collective(&message.span, None);
        self.frame(&Candidate { message: *message, len, to, dest: UNDEFINED, strategy })
    }

    /// A message packed here, if that is faster than sending it unchanged: the test of figure 5 of the paper (`docs/datatypes.md`). It replaces the
    /// message in a send that is not buffered.
    pub(crate) fn packed_wire(&self, message: &Envelope) -> Option<Arc<Wire>> {
        let Envelope { span, peer, tag, .. } = *message;
        let len = span.bytes().filter(|&len| self.reordered(&span, len))?;
        if peer < 0 || !is_tag(tag) || self.refused(&span) || !self.pending.has_room(len) {
            return None;
        }
        let packed = self.packed(&span, len).ok()?;
        let bytes = self.byte_span(packed.as_ptr().cast_mut(), len).ok()?.packed();
        #[allow(clippy::arc_with_non_send_sync, reason = "its handle is a plain value, see `state`")]
        Some(Arc::new(Wire { bytes, memory: packed, is_frame: false, _counted: self.pending.add(len) }))
    }

    /// A copy of elements.
    pub(crate) fn plain_copy(&self, span: &Span) -> Result<Arc<Wire>, c_int> {
        let len = span.bytes().ok_or(ERR_OTHER)?;
        Wire::new(self, self.packed(span, len)?)
    }

    /// Elements of `len` bytes, packed.
    pub(crate) fn packed(&self, span: &Span, len: usize) -> Result<Buffer, c_int> {
        let mut buffer = self.room(len)?;
        if len > 0 {
            self.gather(span, &mut buffer)?;
        }
        Ok(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_ends_with_the_call() {
        let said = || SAID.get();
        assert_eq!(as_kind(Kind::F64, said), Some(Kind::F64));
        assert_eq!(said(), None);
        let panicked =
            std::panic::catch_unwind(|| as_kind(Kind::F64, || std::panic::resume_unwind(Box::new(()))));
        assert!(panicked.is_err() && said().is_none());
    }
}
