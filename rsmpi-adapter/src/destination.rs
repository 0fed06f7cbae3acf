//! Compressed forms of the send methods of [`mpi::traits::Destination`].

use crate::context::Context;
use crate::error::Result;
use crate::request::Request;
use crate::span::Span;
use mpi::Tag;
use mpi::raw::AsRaw;
use mpi::request::Scope;
use mpi::traits::{Buffer, Destination};
use mpress::Kind;
use mpress_layer::{as_kind, calls};

/// Sends to a process of a [`CompressedCommunicator`](crate::CompressedCommunicator). The receiver must use a method of
/// [`CompressedSource`](crate::CompressedSource).
///
/// Buffered and ready sends are rsmpi's own: their messages are not compressed, and are received like all others.
///
/// # Errors
/// All methods: [`Error::NotCompressed`](crate::Error::NotCompressed), and errors of the MPI if the communicator's error handler returns.
#[allow(clippy::missing_errors_doc, reason = "here, of all methods")]
pub trait CompressedDestination: Destination {
    /// Sends a message, as [`Destination::send_with_tag`].
    fn compressed_send_with_tag<Buf: Buffer + ?Sized>(&self, buf: &Buf, tag: Tag) -> Result<()> {
        send(self, buf, tag, Mode::Standard)
    }

    /// Sends a message, as [`Destination::send`].
    fn compressed_send<Buf: Buffer + ?Sized>(&self, buf: &Buf) -> Result<()> {
        self.compressed_send_with_tag(buf, Tag::default())
    }

    /// Sends a message and waits until a matching receive has started, as [`Destination::synchronous_send_with_tag`].
    fn compressed_synchronous_send_with_tag<Buf: Buffer + ?Sized>(&self, buf: &Buf, tag: Tag) -> Result<()> {
        send(self, buf, tag, Mode::Synchronous)
    }

    /// Sends a message and waits until a matching receive has started, as [`Destination::synchronous_send`].
    fn compressed_synchronous_send<Buf: Buffer + ?Sized>(&self, buf: &Buf) -> Result<()> {
        self.compressed_synchronous_send_with_tag(buf, Tag::default())
    }

    /// Starts to send a message, as [`Destination::immediate_send_with_tag`]. It is encoded before this returns.
    fn immediate_compressed_send_with_tag<'a, Sc: Scope<'a>, Buf: Buffer + ?Sized + 'a>(
        &self,
        scope: Sc,
        buf: &'a Buf,
        tag: Tag,
    ) -> Result<Request<'a, Buf, Sc>> {
        immediate_send(self, scope, buf, tag, Mode::Standard)
    }

    /// Starts to send a message, as [`Destination::immediate_send`].
    fn immediate_compressed_send<'a, Sc: Scope<'a>, Buf: Buffer + ?Sized + 'a>(
        &self,
        scope: Sc,
        buf: &'a Buf,
    ) -> Result<Request<'a, Buf, Sc>> {
        self.immediate_compressed_send_with_tag(scope, buf, Tag::default())
    }

    /// Starts to send bytes that are mostly elements of the given kind, at multiples of their size, otherwise like
    /// [`immediate_compressed_send_with_tag`](Self::immediate_compressed_send_with_tag). The receiver gets bytes.
    fn immediate_compressed_send_as_with_tag<'a, Sc: Scope<'a>>(
        &self,
        scope: Sc,
        bytes: &'a [u8],
        kind: Kind,
        tag: Tag,
    ) -> Result<Request<'a, [u8], Sc>> {
        as_kind(kind, || immediate_send(self, scope, bytes, tag, Mode::Standard))
    }

    /// Starts to send a message; the request is complete only when a matching receive has started, as
    /// [`Destination::immediate_synchronous_send_with_tag`].
    fn immediate_compressed_synchronous_send_with_tag<'a, Sc: Scope<'a>, Buf: Buffer + ?Sized + 'a>(
        &self,
        scope: Sc,
        buf: &'a Buf,
        tag: Tag,
    ) -> Result<Request<'a, Buf, Sc>> {
        immediate_send(self, scope, buf, tag, Mode::Synchronous)
    }

    /// Starts to send a message; the request is complete only when a matching receive has started, as
    /// [`Destination::immediate_synchronous_send`].
    fn immediate_compressed_synchronous_send<'a, Sc: Scope<'a>, Buf: Buffer + ?Sized + 'a>(
        &self,
        scope: Sc,
        buf: &'a Buf,
    ) -> Result<Request<'a, Buf, Sc>> {
        self.immediate_compressed_synchronous_send_with_tag(scope, buf, Tag::default())
    }
}

impl<D: Destination + ?Sized> CompressedDestination for D {}

/// The two send modes that compress.
#[derive(Clone, Copy)]
enum Mode {
    Standard,
    Synchronous,
}

fn send<D: Destination + ?Sized, B: Buffer + ?Sized>(to: &D, buf: &B, tag: Tag, mode: Mode) -> Result<()> {
    let comm = to.as_communicator().as_raw();
    let (context, span) = (Context::of(comm)?, Span::of(buf));
    let call = match mode {
        Mode::Standard => calls::MPI_Send,
        Mode::Synchronous => calls::MPI_Ssend,
    };
    let (rank, comm) = (to.destination_rank(), comm.0 as _);
    // SAFETY: the buffer is borrowed and initialised.
    context.outcome(unsafe { call(context.layer(), span.at, span.count, span.kind, rank, tag, comm) })
}

fn immediate_send<'a, D: Destination + ?Sized, B: Buffer + ?Sized + 'a, S: Scope<'a>>(
    to: &D,
    scope: S,
    buf: &'a B,
    tag: Tag,
    mode: Mode,
) -> Result<Request<'a, B, S>> {
    let comm = to.as_communicator().as_raw();
    let (context, span) = (Context::of(comm)?, Span::of(buf));
    let call = match mode {
        Mode::Standard => calls::MPI_Isend,
        Mode::Synchronous => calls::MPI_Issend,
    };
    let (rank, comm) = (to.destination_rank(), comm.0 as _);
    // SAFETY: the buffer is initialised, and borrowed for the scope's lifetime.
    unsafe {
        Request::start(context, buf, scope, |layer, request| {
            call(layer, span.at, span.count, span.kind, rank, tag, comm, request)
        })
    }
}
