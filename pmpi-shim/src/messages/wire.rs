//! A message to be sent from our own memory, which must live until the MPI has sent it.

use crate::messages::budget::Counted;
use crate::messages::context::Context;
use crate::messages::uncompressed::{self, Why};
use crate::messages::waiting;
use crate::mpi::device;
use crate::mpi::span::{ByteSpan, Envelope, Layout, is_tag};
use crate::mpi::sys::*;
use mpress::{Buffer, Considered, Destination, Kind, Pieces, Strategy};
use mpress_datatype::{Plan, Source, Target};
use std::cell::Cell;
use std::ffi::c_int;
use std::ops::Range;
use std::slice;
use std::sync::Arc;

/// A message that may be sent as a frame.
pub(crate) struct Candidate {
    /// Length in bytes.
    pub(crate) len: usize,
    pub(crate) to: Destination,
}

/// The data to encode.
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
    pub(crate) fn bytes(&self) -> &ByteSpan {
        &self.bytes
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
        // Its room, of which an encoder may have used more than the result needs.
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
    /// The frame of a message; `None` if it is better sent unchanged. `strategy`: that of its communicator, if it has its own.
    ///
    /// # Safety
    /// `message` must be what the caller of a send function gave, in host memory, to a rank that `frame_candidate` accepts.
    pub(crate) unsafe fn frame(
        &self,
        message: &Envelope,
        candidate: &Candidate,
        strategy: Option<Strategy>,
    ) -> Option<Arc<Wire>> {
        let encode = |considered, raw: &[u8]| self.engine.encode_considered(considered, raw);
        // SAFETY: the caller vouches for the message.
        let frame = unsafe { self.encode(message, candidate, strategy, encode)? }?;
        Wire::new(self, frame).ok()
    }

    /// Encodes a message, if it is worth considering.
    ///
    /// # Safety
    /// As for [`frame`](Self::frame).
    unsafe fn encode<R>(
        &self,
        message: &Envelope,
        candidate: &Candidate,
        strategy: Option<Strategy>,
        encode: impl FnOnce(Considered, &[u8]) -> R,
    ) -> Option<R> {
        // SAFETY: the caller vouches for the message.
        unsafe {
            self.encode_raw(message, candidate, strategy, |considered, raw| match raw {
                Raw::Bytes(bytes) => Some(encode(considered, bytes)),
                Raw::Elements(_) => Some(encode(considered, &self.packed(message, candidate.len).ok()?)),
            })?
        }
    }

    /// Like `encode`, but elements that are not contiguous need not be packed as a whole.
    ///
    /// # Safety
    /// As for [`frame`](Self::frame).
    pub(crate) unsafe fn encode_raw<R>(
        &self,
        message: &Envelope,
        candidate: &Candidate,
        strategy: Option<Strategy>,
        encode: impl FnOnce(Considered, Raw<'_>) -> R,
    ) -> Option<R> {
        let Candidate { len, to } = *candidate;
        let span = &message.span;
        let layout = self.host_layout(span.datatype); // it is in host memory
        let kind = match layout {
            Layout::Contiguous(kind) => SAID.get().unwrap_or(kind),
            Layout::Typed(kind) => kind,
        };
        if !self.pending.has_room(len) {
            uncompressed::message(Why::Full, len);
            return None;
        }
        let considered = self.engine.consider(strategy, kind, to, len)?;
        waiting::coding(|| {
            if !layout.is_contiguous() {
                if let Some(plan) = self.plan(span) {
                    // SAFETY: the caller vouches for the elements, which are within this range.
                    let memory = unsafe { Source::from_raw(span.ptr.cast::<u8>(), plan.reach()) };
                    return Some(encode(considered, Raw::Elements(Elements { plan, memory })));
                }
                // SAFETY: the caller vouches for the span.
                let packed = unsafe { self.packed(message, len) }.ok()?;
                return Some(encode(considered, Raw::Bytes(&packed)));
            }
            // SAFETY: contiguous elements of `len` bytes, which the program lends until the send completes.
            let raw = unsafe { slice::from_raw_parts(span.ptr.cast::<u8>(), len) };
            Some(encode(considered, Raw::Bytes(raw)))
        })
    }

    /// The frame of a message to many ranks, some of them on other nodes, if it is worth one. `strategy`: as above.
    ///
    /// # Safety
    /// The message must be the program's, and the MPI must not refuse it.
    pub(crate) unsafe fn shared_frame(
        &self,
        message: &Envelope,
        strategy: Option<Strategy>,
    ) -> Option<Arc<Wire>> {
        let len = message.span.bytes().filter(|len| *len >= self.threshold)?;
        // Only the MPI may read it.
        if device::is_device(message.span.ptr) {
            return None;
        }
        // SAFETY: the caller vouches for the message.
        unsafe { self.sample_collective(&message.span, None) };
        // SAFETY: the caller vouches for the message.
        unsafe { self.frame(message, &Candidate { len, to: Destination::OtherNode }, strategy) }
    }

    /// A message packed here, if that is faster than sending it unchanged: the test of figure 5 of the paper (`docs/datatypes.md`). It
    /// replaces the message in a send that is not buffered.
    ///
    /// # Safety
    /// `message` must be what the caller of a send function gave.
    pub(crate) unsafe fn packed_wire(&self, message: &Envelope) -> Option<Arc<Wire>> {
        let Envelope { span, peer, tag, .. } = *message;
        let len = span.bytes().filter(|&len| self.reordered(&span, len))?;
        if peer < 0 || !is_tag(tag) || self.refused(&span) || !self.pending.has_room(len) {
            return None;
        }
        // SAFETY: the caller vouches for the span.
        let packed = unsafe { self.packed(message, len) }.ok()?;
        let mut bytes = self.byte_span(packed.as_ptr().cast_mut(), len).ok()?;
        if bytes.span.datatype == BYTE {
            bytes.span.datatype = PACKED; // matches any receive
        }
        #[allow(clippy::arc_with_non_send_sync, reason = "its handle is a plain value, see `state`")]
        Some(Arc::new(Wire { bytes, memory: packed, is_frame: false, _counted: self.pending.add(len) }))
    }

    /// A copy of a message.
    ///
    /// # Safety
    /// As for [`frame`](Self::frame).
    pub(crate) unsafe fn plain_copy(&self, message: &Envelope, len: usize) -> Result<Arc<Wire>, c_int> {
        // SAFETY: the caller vouches for the span.
        Wire::new(self, unsafe { self.packed(message, len)? })
    }

    /// The elements of a message, packed.
    ///
    /// # Safety
    /// As for [`frame`](Self::frame).
    pub(crate) unsafe fn packed(&self, message: &Envelope, len: usize) -> Result<Buffer, c_int> {
        let mut buffer = self.room(len)?;
        buffer.set_len(len);
        if len > 0 {
            // SAFETY: the caller vouches for the span.
            unsafe { self.gather(&message.span, &mut buffer)? };
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
