//! A receive that may bring a frame: posted as the program posted it, set right when it completes.
//!
//! A frame is shorter than its message, so it fits the program's buffer. It is taken out of there and decoded into it.

use crate::deliver::{land, land_raw};
use crate::peers::Peers;
use crate::span::{ByteSpan, Envelope, Layout, OwnedType, Span, received_bytes, set_received_bytes};
use crate::state::Shim;
use crate::sys::*;
use crate::traffic;
use mpress::{Buffer, HEADER_LEN, SHORTEST};
use std::ffi::c_int;
use std::slice;
use std::sync::Arc;

/// A posted receive, to be kept until it completes.
pub(crate) struct Posted {
    place: Place,
    /// The program's buffer; as bytes, if it is contiguous.
    span: Span,
    capacity: usize,
    peers: Arc<Peers>,
    pub(crate) comm: MPI_Comm,
}

/// Where the MPI writes.
enum Place {
    /// The program's buffer, which is contiguous.
    Contiguous(ByteSpan),
    /// The program's buffer, by its own datatype, which is held.
    Typed(#[allow(dead_code, reason = "held until the receive completes")] Option<OwnedType>),
    /// A buffer of ours, from which the program's is filled.
    Bounce(ByteSpan, Buffer, #[allow(dead_code, reason = "as above")] Option<OwnedType>),
}

/// Whether a frame may be received into elements of several bytes, not all of the last of which it fills. MPICH takes that
/// for an error. (Into a contiguous buffer of ours, Open MPI 4.1 would write beyond the end where a message is too long.)
const PARTIAL_ELEMENTS: bool = cfg!(open_mpi);

impl Posted {
    /// Prepares a receive into a buffer of `capacity` bytes.
    pub(crate) fn new(
        shim: &Shim,
        message: &Envelope,
        capacity: usize,
        peers: Arc<Peers>,
    ) -> Result<Self, c_int> {
        let mut span = message.span;
        let place = match shim.layout(&span) {
            Layout::Contiguous(_) => {
                let count = MPI_Count::try_from(capacity).map_err(|_| ERR_INTERN)?;
                span = Span::new(span.ptr, count, BYTE);
                Place::Contiguous(shim.byte_span(span.ptr.cast(), capacity)?)
            }
            Layout::Typed => {
                let held = shim.hold(&mut span)?;
                // Without the memory a frame is an error of the MPI, but its sender does not wait in vain.
                let bounce = if PARTIAL_ELEMENTS { None } else { shim.engine.buffer(capacity) };
                match bounce {
                    None => Place::Typed(held),
                    Some(mut buffer) => {
                        Place::Bounce(shim.byte_span(buffer.room().as_mut_ptr(), capacity)?, buffer, held)
                    }
                }
            }
        };
        Ok(Self { place, span, capacity, peers, comm: message.comm })
    }

    /// What to receive into.
    pub(crate) fn span(&self) -> Span {
        match &self.place {
            Place::Contiguous(bytes) | Place::Bounce(bytes, ..) => bytes.span,
            Place::Typed(_) => self.span,
        }
    }

    /// Its count, for MPIs without large counts.
    pub(crate) fn count(&self) -> c_int {
        c_int::try_from(self.span().count).unwrap_or(c_int::MAX) // the program's own, or that of a byte span
    }

    /// Puts what came into the program's buffer as the program expects it, and makes the status say so.
    ///
    /// # Safety
    /// The receive must have completed without an error, and `status` be what it gave.
    pub(crate) unsafe fn finish(self, shim: &Shim, status: &mut MPI_Status) -> Result<(), c_int> {
        let mut cancelled = 0;
        // SAFETY: a status and a place for the answer.
        unsafe { PMPI_Test_cancelled(status, &raw mut cancelled) };
        if cancelled != 0 {
            return Ok(());
        }
        let received = received_bytes(status);
        let may_be_frame = received >= SHORTEST && self.peers.framed(status.MPI_SOURCE);
        if may_be_frame {
            traffic::received(received);
        }
        // SAFETY: the MPI has written `received` bytes.
        unsafe {
            if let Place::Bounce(_, mut buffer, _) = self.place {
                buffer.set_len(received);
                let framed = may_be_frame && shim.engine.is_frame(&buffer);
                let len = land(shim, &buffer, framed, &self.span, self.capacity)?;
                set_received_bytes(status, len);
                return Ok(());
            }
            if may_be_frame && self.holds_frame(shim)? {
                let landed = self
                    .take_out(shim, received)
                    .and_then(|frame| land(shim, &frame, true, &self.span, self.capacity));
                let len = landed.inspect_err(|_| self.wipe(shim))?;
                set_received_bytes(status, len);
            }
        }
        Ok(())
    }

    /// The MPI completed the receive with an error. What it was given is not given back: Open MPI 4.1 ends a receive with
    /// `MPI_ERR_TRUNCATE` before all of a long message has come, and writes the rest where it was told to.
    pub(crate) fn abandon(self, shim: &Shim) {
        // SAFETY: a buffer of at least `SHORTEST` bytes, lent by the program until now.
        unsafe {
            if !matches!(self.place, Place::Bounce(..)) && self.holds_frame(shim) == Ok(true) {
                self.wipe(shim);
            }
        }
        std::mem::forget(self.place);
    }

    /// Whether a frame begins in the program's buffer, which has room for one.
    unsafe fn holds_frame(&self, shim: &Shim) -> Result<bool, c_int> {
        if let Place::Contiguous(_) = self.place {
            // SAFETY: contiguous elements with room for a frame.
            let front = unsafe { slice::from_raw_parts(self.span.ptr.cast::<u8>(), HEADER_LEN) };
            return Ok(shim.engine.is_frame(front));
        }
        // SAFETY: the caller vouches for the buffer.
        Ok(shim.engine.is_frame(&unsafe { self.take_out(shim, HEADER_LEN) }?))
    }

    /// A copy of the first `len` bytes of what came.
    unsafe fn take_out(&self, shim: &Shim, len: usize) -> Result<Buffer, c_int> {
        let mut elements = self.span;
        let size = Span { count: 1, ..elements }.bytes().filter(|&size| size > 0).ok_or(ERR_INTERN)?;
        let count = len.div_ceil(size);
        elements.count = MPI_Count::try_from(count).map_err(|_| ERR_INTERN)?;
        let mut buffer = shim.engine.buffer(count * size).ok_or(ERR_NO_MEM)?;
        buffer.set_len(count * size);
        // SAFETY: the caller vouches for the buffer, which has no fewer elements than were received.
        unsafe {
            match self.place {
                Place::Contiguous(_) => {
                    let bytes = slice::from_raw_parts(elements.ptr.cast::<u8>(), count * size);
                    buffer.copy_from_slice(bytes);
                }
                Place::Typed(_) | Place::Bounce(..) => shim.gather(&elements, &mut buffer)?,
            }
        }
        buffer.set_len(len);
        Ok(buffer)
    }

    /// Takes care that the program does not send on what looks like a frame (`docs/format/frame.md`).
    unsafe fn wipe(&self, shim: &Shim) {
        // SAFETY: the program's buffer, which has room for a header. If it fails, there is an error already.
        let _ = unsafe { land_raw(shim, &[0; HEADER_LEN], &self.span, self.capacity) };
    }
}
