//! A receive that may bring a frame: posted with room for a header, set right when it completes.
//!
//! The header goes to a place of its own and the rest straight into the program's buffer, so that a raw frame needs no
//! copy. A compressed body lands in the front of the same buffer (it is shorter than the message) and is decoded from a
//! copy; a plain message, whose first bytes landed where the header would be, is moved up by 16 bytes.

use crate::deliver::land;
use crate::peers::Peers;
use crate::span::{ByteSpan, Envelope, Layout, OwnedType, Span, received_bytes, set_received_bytes};
use crate::state::Shim;
use crate::sys::*;
use crate::traffic;
use mpress::{Buffer, HEADER_LEN, Incoming};
use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::{ptr, slice};

/// A posted receive, to be kept until it completes.
pub(crate) struct Posted {
    bytes: ByteSpan,
    place: Place,
    span: Span,
    capacity: usize,
    peers: Arc<Peers>,
    pub(crate) comm: MPI_Comm,
}

enum Place {
    /// The header's place; the rest goes into the program's buffer.
    InPlace(Side),
    /// All goes here; the program's buffer is not contiguous, and its datatype is held.
    Bounce(Buffer, #[allow(dead_code, reason = "held until the receive completes")] Option<OwnedType>),
}

/// A place for a header, at an address that does not change while the MPI writes through it.
struct Side(*mut [u8; HEADER_LEN]);

impl Drop for Side {
    fn drop(&mut self) {
        // SAFETY: from `Box::into_raw` in `Posted::new`, dropped once.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

impl Posted {
    /// Prepares a receive into a buffer of `capacity` bytes.
    pub(crate) fn new(
        shim: &Shim,
        message: &Envelope,
        capacity: usize,
        peers: Arc<Peers>,
    ) -> Result<Self, c_int> {
        let mut span = message.span;
        let (bytes, place) = match shim.layout(&span) {
            Layout::Contiguous(_) => {
                let side = Side(Box::into_raw(Box::new([0; HEADER_LEN])));
                let bytes = shim.absolute(&[(side.0.cast(), HEADER_LEN), (span.ptr.cast(), capacity)])?;
                (bytes, Place::InPlace(side))
            }
            Layout::Typed => {
                let room = capacity + HEADER_LEN;
                let mut buffer = shim.engine.buffer(room).ok_or(ERR_NO_MEM)?;
                let datatype = shim.hold(&mut span)?;
                (shim.byte_span(buffer.room().as_mut_ptr(), room)?, Place::Bounce(buffer, datatype))
            }
        };
        Ok(Self { bytes, place, span, capacity, peers, comm: message.comm })
    }

    /// What to receive into, in place of the program's buffer. Its count fits an `int`.
    pub(crate) fn span(&self) -> Span {
        self.bytes.span
    }

    pub(crate) fn count(&self) -> c_int {
        self.bytes.count()
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
        let framed = self.peers.arrived_framed(status, received);
        if framed {
            traffic::received(received);
        }
        // SAFETY: the MPI has written `received` bytes, to the places `new` gave it.
        let len = unsafe {
            match self.place {
                Place::InPlace(ref side) if framed => {
                    self.settle_frame(shim, &*side.0, received.saturating_sub(HEADER_LEN))?
                }
                Place::InPlace(ref side) => self.move_up(&*side.0, received)?,
                Place::Bounce(ref buffer, _) => {
                    let wire =
                        slice::from_raw_parts(buffer.as_ptr(), received.min(self.capacity + HEADER_LEN));
                    land(shim, wire, framed, &self.span, self.capacity)?
                }
            }
        };
        set_received_bytes(status, len);
        Ok(())
    }

    /// The body of a frame lies in the front of the program's buffer.
    unsafe fn settle_frame(
        &self,
        shim: &Shim,
        header: &[u8; HEADER_LEN],
        body_len: usize,
    ) -> Result<usize, c_int> {
        let start = self.span.ptr.cast::<u8>();
        // SAFETY: the MPI has written that many bytes there.
        let body = unsafe { slice::from_raw_parts(start, body_len.min(self.capacity)) };
        let incoming = Incoming::open(header, body).map_err(|_| shim.damaged)?;
        let len = incoming.raw_len();
        if incoming.is_raw() {
            return Ok(len);
        }
        if len > self.capacity {
            return Err(ERR_TRUNCATE);
        }
        let mut copy = shim.engine.buffer(body.len()).ok_or(ERR_NO_MEM)?;
        copy.room()[..body.len()].copy_from_slice(body);
        copy.set_len(body.len());
        // SAFETY: `body` is not used any more; the program's buffer has room for `len` bytes.
        let out = unsafe { slice::from_raw_parts_mut(start.cast::<MaybeUninit<u8>>(), len) };
        traffic::coding(|| shim.engine.decode(&incoming, &copy, out)).map_err(|_| shim.damaged)?;
        Ok(len)
    }

    /// A plain message lies partly in the header's place.
    unsafe fn move_up(&self, side: &[u8; HEADER_LEN], received: usize) -> Result<usize, c_int> {
        if received > self.capacity {
            return Err(ERR_TRUNCATE);
        }
        let start = self.span.ptr.cast::<u8>();
        let first = received.min(HEADER_LEN);
        // SAFETY: `received` bytes fit the program's buffer, whose front holds all but the first 16 of them.
        unsafe {
            ptr::copy(start, start.add(first), received - first);
            ptr::copy_nonoverlapping(side.as_ptr(), start, first);
        }
        Ok(received)
    }
}
