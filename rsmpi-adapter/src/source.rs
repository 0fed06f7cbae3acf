//! Receiving: what [`mpi::traits::Source`] does, decompressed.

use crate::context::Context;
use crate::destination::envelope as destination;
use crate::error::{Error, Result, ok};
use crate::operations::{self, Envelope};
use crate::posted;
use crate::request::{Operation, Request};
use crate::span::{Bytes, Span};
use mpi::point_to_point::{Message, Status};
use mpi::raw::{AsRaw, AsRawMut};
use mpi::request::Scope;
use mpi::traits::{Buffer, BufferMut, Destination, Equivalence, MatchedReceiveVec, Source};
use mpi::{Tag, ffi};
use std::mem::MaybeUninit;

/// Receives from a process, or from any process, of a [`CompressedCommunicator`](crate::CompressedCommunicator) what a method of
/// [`CompressedDestination`](crate::CompressedDestination) or of rsmpi sent.
///
/// The probes are rsmpi's own. They give the length of what travels, which for a frame is less than that of its message; use
/// [`compressed_receive_vec`](Self::compressed_receive_vec) where the length is not known.
///
/// # Errors
/// All methods: [`Error::NotCompressed`]; [`Error::Frame`] for a damaged frame and [`Error::Truncated`] for a compressed message
/// that does not fit; [`Error::Memory`]; and errors of the MPI where its error handler comes back.
pub trait CompressedSource: Source {
    /// Receives a single value, as [`Source::receive_with_tag`].
    ///
    /// # Errors
    /// Beside those of all methods, [`Error::Elements`] if it is none, or not a whole one.
    fn compressed_receive_with_tag<Msg: Equivalence>(&self, tag: Tag) -> Result<(Msg, Status)> {
        let from = envelope(self, tag);
        let context = Context::of(from.comm)?;
        let mut room = [MaybeUninit::<Msg>::zeroed()];
        let span = Span::of_room(&mut room)?;
        // SAFETY: memory of our own, with zeros in it.
        let status = unsafe { operations::receive(context, &span, from)? };
        let message = posted::received_bytes(&status);
        if message != span.len() {
            return Err(Error::Elements { message, element: span.size });
        }
        let [value] = room;
        // SAFETY: a whole value has been received.
        Ok((unsafe { value.assume_init() }, posted::status(status)))
    }

    /// Receives a single value, as [`Source::receive`].
    ///
    /// # Errors
    /// As [`compressed_receive_with_tag`](Self::compressed_receive_with_tag).
    fn compressed_receive<Msg: Equivalence>(&self) -> Result<(Msg, Status)> {
        self.compressed_receive_with_tag(any_tag())
    }

    /// Receives into a buffer, as [`Source::receive_into_with_tag`].
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn compressed_receive_into_with_tag<Buf: BufferMut + ?Sized>(
        &self,
        buf: &mut Buf,
        tag: Tag,
    ) -> Result<Status> {
        let from = envelope(self, tag);
        let context = Context::of(from.comm)?;
        // SAFETY: a buffer that is borrowed alone.
        unsafe { operations::receive(context, &Span::of_mut(buf)?, from) }.map(posted::status)
    }

    /// Receives into a buffer, as [`Source::receive_into`].
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn compressed_receive_into<Buf: BufferMut + ?Sized>(&self, buf: &mut Buf) -> Result<Status> {
        self.compressed_receive_into_with_tag(buf, any_tag())
    }

    /// Receives a message of any length, as [`Source::receive_vec_with_tag`].
    ///
    /// # Errors
    /// Beside those of all methods, [`Error::Elements`] if it is no whole number of elements.
    fn compressed_receive_vec_with_tag<Msg: Equivalence>(&self, tag: Tag) -> Result<(Vec<Msg>, Status)> {
        let context = Context::of(self.as_communicator().as_raw())?;
        let (message, status) = self.matched_probe_with_tag(tag);
        let byte = u8::equivalent_datatype();
        let Ok(len) = usize::try_from(status.count(byte)) else {
            // More than an `int` can count: frames are not so long.
            return Ok((message, status).matched_receive_vec());
        };
        if mpress::may_be_frame(len) && context.peers.framed(status.source_rank()) {
            return receive_vec(&context, message, len);
        }
        let element = Span::of_room::<Msg>(&mut [])?.size;
        if status.count(Msg::equivalent_datatype()) < 0 {
            // To be received all the same, or it would be lost and keep its memory for ever.
            let (mut bytes, message) = room_for(&context, message, len)?;
            let _status = message.matched_receive_into(&mut bytes[..]);
            return Err(Error::Elements { message: len, element });
        }
        Ok((message, status).matched_receive_vec())
    }

    /// Receives a message of any length, as [`Source::receive_vec`].
    ///
    /// # Errors
    /// As [`compressed_receive_vec_with_tag`](Self::compressed_receive_vec_with_tag).
    fn compressed_receive_vec<Msg: Equivalence>(&self) -> Result<(Vec<Msg>, Status)> {
        self.compressed_receive_vec_with_tag(any_tag())
    }

    /// Starts to receive into a buffer, as [`Source::immediate_receive_into_with_tag`]. The message is there when the request has
    /// been waited for or tested.
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn immediate_compressed_receive_into_with_tag<'a, Sc: Scope<'a>, Buf: BufferMut + ?Sized + 'a>(
        &self,
        scope: Sc,
        buf: &'a mut Buf,
        tag: Tag,
    ) -> Result<Request<'a, Buf, Sc>> {
        let from = envelope(self, tag);
        let context = Context::of(from.comm)?;
        let span = Span::of_mut(buf)?;
        // SAFETY: a buffer that is borrowed alone as long as the scope lasts.
        unsafe {
            let message = operations::immediate_receive(context, &span, from)?;
            Ok(Request::new(Operation::Message(message), buf, scope))
        }
    }

    /// Starts to receive into a buffer, as [`Source::immediate_receive_into`].
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn immediate_compressed_receive_into<'a, Sc: Scope<'a>, Buf: BufferMut + ?Sized + 'a>(
        &self,
        scope: Sc,
        buf: &'a mut Buf,
    ) -> Result<Request<'a, Buf, Sc>> {
        self.immediate_compressed_receive_into_with_tag(scope, buf, any_tag())
    }
}

impl<S: Source + ?Sized> CompressedSource for S {}

/// Sends a message and receives another at the same time, as [`mpi::point_to_point::send_receive_into_with_tags`].
///
/// # Errors
/// As sending and receiving have; if both go wrong, that of receiving.
pub fn compressed_send_receive_into_with_tags<M, D, B, S>(
    msg: &M,
    destination_process: &D,
    sendtag: Tag,
    buf: &mut B,
    source: &S,
    receivetag: Tag,
) -> Result<Status>
where
    M: Buffer + ?Sized,
    D: Destination,
    B: BufferMut + ?Sized,
    S: Source,
{
    let (from, to) = (envelope(source, receivetag), destination(destination_process, sendtag));
    let (incoming, outgoing) = (Context::of(from.comm)?, Context::of(to.comm)?);
    let (into, out) = (Span::of_mut(buf)?, Span::of(msg)?);
    // SAFETY: buffers that are borrowed; the receive is complete before this returns.
    unsafe {
        let message = operations::immediate_receive(incoming, &into, from)?;
        let sent = operations::send(&outgoing, &out, to, operations::Mode::Standard);
        let status = message.wait()?;
        sent.map(|()| posted::status(status))
    }
}

/// Sends a message and receives another at the same time, as [`mpi::point_to_point::send_receive_into`].
///
/// # Errors
/// As [`compressed_send_receive_into_with_tags`].
pub fn compressed_send_receive_into<M, D, B, S>(
    msg: &M,
    destination: &D,
    buf: &mut B,
    source: &S,
) -> Result<Status>
where
    M: Buffer + ?Sized,
    D: Destination,
    B: BufferMut + ?Sized,
    S: Source,
{
    compressed_send_receive_into_with_tags(msg, destination, Tag::default(), buf, source, any_tag())
}

fn envelope<S: Source + ?Sized>(from: &S, tag: Tag) -> Envelope {
    Envelope { comm: from.as_communicator().as_raw(), rank: from.source_rank(), tag }
}

fn any_tag() -> Tag {
    // SAFETY: a constant of the MPI.
    unsafe { ffi::RSMPI_ANY_TAG }
}

/// Receives a message of `len` bytes that may be a frame.
fn receive_vec<Msg: Equivalence>(
    context: &Context,
    message: Message,
    len: usize,
) -> Result<(Vec<Msg>, Status)> {
    let (mut wire, mut message) = room_for(context, message, len)?;
    let (bytes, mut status) = (Bytes::new(len)?, posted::empty_status());
    // SAFETY: room for the message, and a place for its status.
    unsafe {
        ok(ffi::MPI_Mrecv(
            wire.as_mut_ptr().cast(),
            bytes.count,
            bytes.datatype,
            message.as_raw_mut(),
            &raw mut status,
        ))?;
    }
    let framed = context.engine.is_frame(&wire);
    let raw_len = if framed { context.engine.open(&wire)?.raw_len() } else { len };
    let element = Span::of_room::<Msg>(&mut [])?.size;
    if element == 0 || raw_len % element != 0 {
        return Err(Error::Elements { message: raw_len, element });
    }
    let count = raw_len / element;
    let mut values = Vec::<Msg>::new();
    values.try_reserve_exact(count).map_err(|_| Error::Memory(raw_len))?;
    let span = Span::of_room(values.spare_capacity_mut().get_mut(..count).unwrap_or_default())?;
    // SAFETY: room for `count` values; they are initialised once their bytes are there.
    unsafe {
        if framed {
            posted::land(context, &wire, &span)?;
        } else if let Some(room) = span.room(len) {
            room.write_copy_of_slice(&wire);
        } else {
            context.unpack(&wire, &span)?;
        }
        values.set_len(count);
    }
    posted::set_received_bytes(&mut status, raw_len);
    Ok((values, posted::status(status)))
}

/// A buffer for a matched message. Without memory the message is lost, which the error says.
fn room_for(context: &Context, message: Message, len: usize) -> Result<(mpress::Buffer, Message)> {
    match context.buffer(len) {
        Ok(mut buffer) => {
            buffer.set_len(len);
            Ok((buffer, message))
        }
        Err(error) => {
            // rsmpi panics where a matched message is dropped.
            std::mem::forget(message);
            Err(error)
        }
    }
}
