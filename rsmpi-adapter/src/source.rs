//! Decompressing forms of the receive methods of [`mpi::traits::Source`].

use crate::context::Context;
use crate::destination::CompressedDestination;
use crate::error::{Error, Result};
use crate::request::{Request, empty_status};
use crate::span::Span;
use mpi::point_to_point::Status;
use mpi::raw::AsRaw;
use mpi::request::Scope;
use mpi::traits::{Buffer, BufferMut, Destination, Equivalence, Source};
use mpi::{Rank, Tag, ffi};
use mpress_layer::{MPI_Comm, calls, mprobe};
use std::mem::MaybeUninit;
use std::sync::Arc;

/// Receives messages from a process, or from any process, of a [`CompressedCommunicator`](crate::CompressedCommunicator), sent by a method
/// of [`CompressedDestination`](crate::CompressedDestination) or of rsmpi.
///
/// Probes are rsmpi's own. They see the frame of a compressed message, of a long one the first chunk: the count is not that of the message's
/// elements, and is `MPI_UNDEFINED` if the frame is not a whole number of them. If the length is not known, use [`compressed_receive_vec`](Self::compressed_receive_vec).
///
/// # Errors
/// All methods: [`Error::NotCompressed`]; [`Error::Frame`] for a damaged frame; [`Error::Truncated`] for a compressed message that does not
/// fit the buffer; [`Error::Memory`]; and errors of the MPI if the communicator's error handler returns. An uncompressed message that does
/// not fit is an error of the MPI, which by default ends the program.
#[allow(clippy::missing_errors_doc, reason = "here, of all methods")]
pub trait CompressedSource: Source {
    /// Receives a single value, as [`Source::receive_with_tag`].
    ///
    /// # Errors
    /// As for all methods, and [`Error::Elements`] if the message is not exactly one value.
    fn compressed_receive_with_tag<Msg: Equivalence>(&self, tag: Tag) -> Result<(Msg, Status)> {
        let from = Envelope::of(self, tag)?;
        let mut room = [MaybeUninit::<Msg>::zeroed()];
        // SAFETY: the memory is our own and zeroed.
        let status = unsafe { from.receive(&Span::of_room(&mut room))? };
        let (message, element) = (received_bytes(&raw const status), element_size::<Msg>());
        if message != element {
            return Err(Error::Elements { message, element });
        }
        let [value] = room;
        // SAFETY: a whole value has been received.
        Ok((unsafe { value.assume_init() }, Status::from_raw(status)))
    }

    /// Receives a single value, as [`Source::receive`].
    ///
    /// # Errors
    /// As [`compressed_receive_with_tag`](Self::compressed_receive_with_tag).
    fn compressed_receive<Msg: Equivalence>(&self) -> Result<(Msg, Status)> {
        self.compressed_receive_with_tag(any_tag())
    }

    /// Receives into a buffer, as [`Source::receive_into_with_tag`].
    fn compressed_receive_into_with_tag<Buf: BufferMut + ?Sized>(
        &self,
        buf: &mut Buf,
        tag: Tag,
    ) -> Result<Status> {
        let from = Envelope::of(self, tag)?;
        // SAFETY: the buffer is borrowed mutably.
        unsafe { from.receive(&Span::of_mut(buf)) }.map(Status::from_raw)
    }

    /// Receives into a buffer, as [`Source::receive_into`].
    fn compressed_receive_into<Buf: BufferMut + ?Sized>(&self, buf: &mut Buf) -> Result<Status> {
        self.compressed_receive_into_with_tag(buf, any_tag())
    }

    /// Receives a message of any length, as [`Source::receive_vec_with_tag`].
    ///
    /// # Errors
    /// As for all methods, and [`Error::Elements`] if the length is not a whole number of elements.
    fn compressed_receive_vec_with_tag<Msg: Equivalence>(&self, tag: Tag) -> Result<(Vec<Msg>, Status)> {
        receive_vec(&Envelope::of(self, tag)?)
    }

    /// Receives a message of any length, as [`Source::receive_vec`].
    ///
    /// # Errors
    /// As [`compressed_receive_vec_with_tag`](Self::compressed_receive_vec_with_tag).
    fn compressed_receive_vec<Msg: Equivalence>(&self) -> Result<(Vec<Msg>, Status)> {
        self.compressed_receive_vec_with_tag(any_tag())
    }

    /// Starts to receive into a buffer, as [`Source::immediate_receive_into_with_tag`]. The buffer has the message when the request is
    /// complete.
    fn immediate_compressed_receive_into_with_tag<'a, Sc: Scope<'a>, Buf: BufferMut + ?Sized + 'a>(
        &self,
        scope: Sc,
        buf: &'a mut Buf,
        tag: Tag,
    ) -> Result<Request<'a, Buf, Sc>> {
        let Envelope { context, rank, tag, comm } = Envelope::of(self, tag)?;
        let span = Span::of_mut(buf);
        // SAFETY: the buffer is borrowed mutably for the scope's lifetime.
        unsafe {
            Request::start(context, buf, scope, |layer, request| {
                calls::MPI_Irecv(layer, span.at, span.count, span.kind, rank, tag, comm, request)
            })
        }
    }

    /// Starts to receive into a buffer, as [`Source::immediate_receive_into`].
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
/// Errors of sending and receiving; if both fail, the error of receiving.
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
    let from = Envelope::of(source, receivetag)?;
    let to = destination_process.as_communicator().as_raw();
    if to != source.as_communicator().as_raw() {
        // Checked first: if the send failed later, the wait for the pending receive would never end.
        Context::of(to)?;
        return send_receive_apart(msg, destination_process, sendtag, buf, &from);
    }
    let (out, into, mut status) = (Span::of(msg), Span::of_mut(buf), empty_status());
    // SAFETY: the buffers are borrowed, the receive buffer mutably, and the status pointer is valid.
    let code = unsafe {
        calls::MPI_Sendrecv(
            from.context.layer(),
            out.at,
            out.count,
            out.kind,
            destination_process.destination_rank(),
            sendtag,
            into.at,
            into.count,
            into.kind,
            from.rank,
            receivetag,
            from.comm,
            (&raw mut status).cast(),
        )
    };
    from.context.outcome(code).map(|()| Status::from_raw(status))
}

/// [`compressed_send_receive_into_with_tags`] for processes of two communicators.
fn send_receive_apart<M, D, B>(msg: &M, to: &D, sendtag: Tag, buf: &mut B, from: &Envelope) -> Result<Status>
where
    M: Buffer + ?Sized,
    D: Destination,
    B: BufferMut + ?Sized,
{
    let Envelope { context, rank, tag, comm } = from;
    let (span, data) = (Span::of_mut(buf), &raw const *buf);
    mpi::request::scope(|scope| {
        // SAFETY: the buffer is borrowed mutably; the request ends with this function.
        let receive = unsafe {
            Request::start(Arc::clone(context), data, scope, |layer, request| {
                calls::MPI_Irecv(layer, span.at, span.count, span.kind, *rank, *tag, *comm, request)
            })?
        };
        let sent = to.compressed_send_with_tag(msg, sendtag);
        let status = receive.wait()?;
        sent.map(|()| status)
    })
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

fn any_tag() -> Tag {
    // SAFETY: a constant of the MPI.
    unsafe { ffi::RSMPI_ANY_TAG }
}

/// Source, tag and communicator of a receive.
struct Envelope {
    context: Arc<Context>,
    rank: Rank,
    tag: Tag,
    comm: MPI_Comm,
}

impl Envelope {
    fn of<S: Source + ?Sized>(from: &S, tag: Tag) -> Result<Self> {
        let comm = from.as_communicator().as_raw();
        Ok(Self { context: Context::of(comm)?, rank: from.source_rank(), tag, comm: comm.0 as _ })
    }

    /// Receives a message.
    ///
    /// # Safety
    /// The elements of the span must be initialised and not aliased.
    unsafe fn receive<D>(&self, span: &Span<D>) -> Result<ffi::MPI_Status> {
        let mut status = empty_status();
        let (layer, place) = (self.context.layer(), (&raw mut status).cast());
        // SAFETY: the caller guarantees the receive buffer, and the status pointer is valid.
        let code = unsafe {
            calls::MPI_Recv(layer, span.at, span.count, span.kind, self.rank, self.tag, self.comm, place)
        };
        self.context.outcome(code).map(|()| status)
    }
}

/// Receives a message of any length.
fn receive_vec<Msg: Equivalence>(from: &Envelope) -> Result<(Vec<Msg>, Status)> {
    let Envelope { context, rank, tag, comm } = from;
    // SAFETY: source, tag and communicator are rsmpi's.
    let matched = unsafe { mprobe(context.layer(), *rank, *tag, *comm) };
    let (mut message, seen) = matched.map_err(|code| context.error(code))?;
    let (len, element) = (received_bytes((&raw const seen).cast()), element_size::<Msg>());
    let mut status = empty_status();
    let mut receive = |ptr, count, datatype| {
        let place = (&raw mut status).cast();
        // SAFETY: the buffer has room for the whole message, and the status pointer is valid.
        context.outcome(unsafe {
            calls::MPI_Mrecv(context.layer(), ptr, count, datatype, &raw mut message, place)
        })
    };
    let count =
        if len == 0 { Some(0) } else { len.checked_div(element).filter(|count| count * element == len) };
    let Some(count) = count else {
        // Receives the matched message anyway; otherwise its memory would never be released.
        let mut bytes = room_for::<u8>(len, len)?;
        let span = Span::of_room(bytes.spare_capacity_mut().get_mut(..len).unwrap_or_default());
        receive(span.at, span.count, span.kind)?;
        return Err(Error::Elements { message: len, element });
    };
    let mut values = room_for::<Msg>(count, len)?;
    let span = Span::of_room(values.spare_capacity_mut().get_mut(..count).unwrap_or_default());
    receive(span.at, span.count, span.kind)?;
    // SAFETY: all of their bytes have been received.
    unsafe { values.set_len(count) };
    Ok((values, Status::from_raw(status)))
}

/// Allocates room for a matched message. If that fails, the message is lost, and the error says so.
fn room_for<T>(count: usize, len: usize) -> Result<Vec<T>> {
    let mut room = Vec::new();
    room.try_reserve_exact(count).map_err(|_| Error::Memory(len))?;
    Ok(room)
}

/// Length in bytes of the message that a status describes.
fn received_bytes(status: *const ffi::MPI_Status) -> usize {
    let mut bytes = 0;
    // SAFETY: a valid status, and a valid output pointer.
    unsafe { ffi::MPI_Get_elements_x(status, ffi::RSMPI_UINT8_T, &raw mut bytes) };
    usize::try_from(bytes).unwrap_or(0)
}

/// Packed size of an element in bytes.
fn element_size<Msg: Equivalence>() -> usize {
    let mut size = 0;
    // SAFETY: the datatype lives until the end of the statement, and the output pointer is valid.
    unsafe { ffi::MPI_Type_size_x(Msg::equivalent_datatype().as_raw(), &raw mut size) };
    usize::try_from(size).unwrap_or(0)
}
