//! A message on its way out: its frame, and the memory that must last until the MPI has sent it.

use crate::span::{ByteSpan, Envelope, Layout, Span};
use crate::state::Shim;
use crate::sys::*;
use crate::traffic;
use mpress::{Buffer, Destination, Frame, HEADER_LEN, Kind};
use std::ffi::{c_int, c_void};
use std::slice;

/// A frame, or a copy of a plain message, ready for one of the MPI's send functions.
pub(crate) struct Wire {
    bytes: ByteSpan,
    memory: Memory,
}

/// What the MPI reads while the message is under way.
enum Memory {
    Frame(Buffer),
    /// And the length of the message, which lies elsewhere.
    Header(#[allow(dead_code, reason = "held, not read")] Header, usize),
}

/// A header at an address that does not change. Kept as a raw pointer, since the MPI reads through its address while we
/// move the handle around.
struct Header(*mut [u8; HEADER_LEN]);

impl Drop for Header {
    fn drop(&mut self) {
        // SAFETY: from `Box::into_raw` in `Wire::in_two_parts`, dropped once.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

impl Wire {
    pub(crate) fn ptr(&self) -> *const c_void {
        self.bytes.span.ptr
    }

    pub(crate) fn count(&self) -> c_int {
        self.bytes.count()
    }

    /// Its bytes, as far as they count for the time that they take.
    pub(crate) fn len(&self) -> usize {
        match &self.memory {
            Memory::Frame(buffer) => buffer.len(),
            Memory::Header(_, len) => *len,
        }
    }

    pub(crate) fn datatype(&self) -> MPI_Datatype {
        self.bytes.span.datatype
    }

    fn whole(shim: &Shim, mut buffer: Buffer) -> Result<Self, c_int> {
        let bytes = shim.byte_span(buffer.as_mut_ptr(), buffer.len())?;
        Ok(Self { bytes, memory: Memory::Frame(buffer) })
    }

    fn in_two_parts(shim: &Shim, header: [u8; HEADER_LEN], body: &Span, len: usize) -> Result<Self, c_int> {
        let header = Header(Box::into_raw(Box::new(header)));
        let bytes = shim.absolute(&[(header.0.cast(), HEADER_LEN), (body.ptr.cast(), len)])?;
        Ok(Self { bytes, memory: Memory::Header(header, len) })
    }
}

/// A raw frame goes out in two parts, header and message, without a copy, where the MPI sends such a datatype as fast as
/// plain bytes. MPICH over TCP does not (2 to 7 times slower).
const RAW_IN_TWO_PARTS: bool = cfg!(open_mpi);

impl Shim {
    /// The frame of a message of `len` bytes. A `detached` one does not refer to the message's own memory, which may
    /// change while the frame is under way.
    ///
    /// # Safety
    /// `message` must be what the caller of a send function gave, for a rank that `framed_send` accepts.
    pub(crate) unsafe fn frame(
        &self,
        message: &Envelope,
        len: usize,
        world_rank: c_int,
        detached: bool,
    ) -> Result<Wire, c_int> {
        let to =
            if self.world.other_node(world_rank) { Destination::OtherNode } else { Destination::SameNode };
        let span = &message.span;
        let strategy = self.strategies.of(message.comm);
        match self.layout(span) {
            Layout::Contiguous(kind) => {
                // SAFETY: contiguous elements of `len` bytes, which the program lends until the send completes.
                let raw = unsafe { slice::from_raw_parts(span.ptr.cast::<u8>(), len) };
                match traffic::coding(|| self.engine.encode_by(strategy, raw, kind, to)).ok_or(ERR_OTHER)? {
                    Frame::Packed(buffer) => Wire::whole(self, buffer),
                    Frame::Raw(header) => {
                        let copy = if detached || !RAW_IN_TWO_PARTS {
                            self.engine.buffer(HEADER_LEN + len)
                        } else {
                            None
                        };
                        match copy {
                            Some(mut buffer) => {
                                buffer.room()[..HEADER_LEN].copy_from_slice(&header);
                                buffer.room()[HEADER_LEN..HEADER_LEN + len].copy_from_slice(raw);
                                buffer.set_len(HEADER_LEN + len);
                                Wire::whole(self, buffer)
                            }
                            None if detached => Err(ERR_NO_MEM),
                            None => Wire::in_two_parts(self, header, span, len),
                        }
                    }
                }
            }
            Layout::Typed => {
                let mut buffer = self.engine.buffer(HEADER_LEN + len).ok_or(ERR_NO_MEM)?;
                buffer.set_len(HEADER_LEN + len);
                // SAFETY: the caller vouches for the span.
                unsafe { self.gather(span, &mut buffer[HEADER_LEN..])? };
                match self
                    .engine
                    .encode_by(strategy, &buffer[HEADER_LEN..], Kind::Other, to)
                    .ok_or(ERR_OTHER)?
                {
                    Frame::Packed(packed) => Wire::whole(self, packed),
                    Frame::Raw(header) => {
                        buffer[..HEADER_LEN].copy_from_slice(&header);
                        Wire::whole(self, buffer)
                    }
                }
            }
        }
    }

    /// A copy of a message that goes without a frame.
    ///
    /// # Safety
    /// As for [`frame`](Self::frame).
    pub(crate) unsafe fn plain_copy(&self, message: &Envelope, len: usize) -> Result<Wire, c_int> {
        let mut buffer = self.engine.buffer(len).ok_or(ERR_NO_MEM)?;
        buffer.set_len(len);
        if len > 0 {
            // SAFETY: the caller vouches for the span.
            unsafe { self.gather(&message.span, &mut buffer)? };
        }
        Wire::whole(self, buffer)
    }
}
