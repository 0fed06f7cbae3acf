//! Sending: what [`mpi::traits::Destination`] does, compressed.

use crate::context::Context;
use crate::error::Result;
use crate::operations::{self, Envelope, Mode};
use crate::request::{Operation, Request};
use crate::span::Span;
use mpi::Tag;
use mpi::raw::AsRaw;
use mpi::request::Scope;
use mpi::traits::{Buffer, Destination};
use mpress::Kind;

/// Sends to a process of a [`CompressedCommunicator`](crate::CompressedCommunicator); to be received by a method of
/// [`CompressedSource`](crate::CompressedSource).
///
/// Buffered and ready sends are rsmpi's own: these messages go as they are, and are received like all others.
///
/// # Errors
/// All methods: [`Error::NotCompressed`](crate::Error::NotCompressed), and errors of the MPI where its error handler comes back.
pub trait CompressedDestination: Destination {
    /// Sends a message, as [`Destination::send_with_tag`].
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn compressed_send_with_tag<Buf: Buffer + ?Sized>(&self, buf: &Buf, tag: Tag) -> Result<()> {
        send(self, buf, tag, Mode::Standard)
    }

    /// Sends a message, as [`Destination::send`].
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn compressed_send<Buf: Buffer + ?Sized>(&self, buf: &Buf) -> Result<()> {
        self.compressed_send_with_tag(buf, Tag::default())
    }

    /// Sends a message and waits until its receive has begun, as [`Destination::synchronous_send_with_tag`].
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn compressed_synchronous_send_with_tag<Buf: Buffer + ?Sized>(&self, buf: &Buf, tag: Tag) -> Result<()> {
        send(self, buf, tag, Mode::Synchronous)
    }

    /// Sends a message and waits until its receive has begun, as [`Destination::synchronous_send`].
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn compressed_synchronous_send<Buf: Buffer + ?Sized>(&self, buf: &Buf) -> Result<()> {
        self.compressed_synchronous_send_with_tag(buf, Tag::default())
    }

    /// Starts to send a message, as [`Destination::immediate_send_with_tag`]. It is encoded before this returns.
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn immediate_compressed_send_with_tag<'a, Sc: Scope<'a>, Buf: Buffer + ?Sized + 'a>(
        &self,
        scope: Sc,
        buf: &'a Buf,
        tag: Tag,
    ) -> Result<Request<'a, Buf, Sc>> {
        immediate_send(self, scope, buf, tag, Mode::Standard)
    }

    /// Starts to send a message, as [`Destination::immediate_send`].
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn immediate_compressed_send<'a, Sc: Scope<'a>, Buf: Buffer + ?Sized + 'a>(
        &self,
        scope: Sc,
        buf: &'a Buf,
    ) -> Result<Request<'a, Buf, Sc>> {
        self.immediate_compressed_send_with_tag(scope, buf, Tag::default())
    }

    /// Starts to send bytes that are mostly elements of this kind, at multiples of their length, as
    /// [`immediate_compressed_send_with_tag`](Self::immediate_compressed_send_with_tag) does. The receiver gets bytes.
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn immediate_compressed_send_as_with_tag<'a, Sc: Scope<'a>>(
        &self,
        scope: Sc,
        bytes: &'a [u8],
        kind: Kind,
        tag: Tag,
    ) -> Result<Request<'a, [u8], Sc>> {
        let mut span = Span::of(bytes)?;
        span.kind = Some(kind);
        // SAFETY: the span of the bytes.
        unsafe { start(self, scope, bytes, &span, tag, Mode::Standard) }
    }

    /// Starts to send a message that is complete only when its receive has begun, as
    /// [`Destination::immediate_synchronous_send_with_tag`].
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn immediate_compressed_synchronous_send_with_tag<'a, Sc: Scope<'a>, Buf: Buffer + ?Sized + 'a>(
        &self,
        scope: Sc,
        buf: &'a Buf,
        tag: Tag,
    ) -> Result<Request<'a, Buf, Sc>> {
        immediate_send(self, scope, buf, tag, Mode::Synchronous)
    }

    /// Starts to send a message that is complete only when its receive has begun, as
    /// [`Destination::immediate_synchronous_send`].
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn immediate_compressed_synchronous_send<'a, Sc: Scope<'a>, Buf: Buffer + ?Sized + 'a>(
        &self,
        scope: Sc,
        buf: &'a Buf,
    ) -> Result<Request<'a, Buf, Sc>> {
        self.immediate_compressed_synchronous_send_with_tag(scope, buf, Tag::default())
    }
}

impl<D: Destination + ?Sized> CompressedDestination for D {}

pub(crate) fn envelope<D: Destination + ?Sized>(to: &D, tag: Tag) -> Envelope {
    Envelope { comm: to.as_communicator().as_raw(), rank: to.destination_rank(), tag }
}

fn send<D: Destination + ?Sized, B: Buffer + ?Sized>(to: &D, buf: &B, tag: Tag, mode: Mode) -> Result<()> {
    let to = envelope(to, tag);
    let context = Context::of(to.comm)?;
    // SAFETY: a borrowed buffer, which is initialised.
    unsafe { operations::send(&context, &Span::of(buf)?, to, mode) }
}

fn immediate_send<'a, D: Destination + ?Sized, B: Buffer + ?Sized + 'a, S: Scope<'a>>(
    to: &D,
    scope: S,
    buf: &'a B,
    tag: Tag,
    mode: Mode,
) -> Result<Request<'a, B, S>> {
    // SAFETY: the span of the buffer.
    unsafe { start(to, scope, buf, &Span::of(buf)?, tag, mode) }
}

/// Starts to send a buffer.
///
/// # Safety
/// The span must be that of the buffer, of whatever kind.
unsafe fn start<'a, D: Destination + ?Sized, B: ?Sized + 'a, S: Scope<'a>>(
    to: &D,
    scope: S,
    buf: &'a B,
    span: &Span,
    tag: Tag,
    mode: Mode,
) -> Result<Request<'a, B, S>> {
    let to = envelope(to, tag);
    let context = Context::of(to.comm)?;
    // SAFETY: an initialised buffer that is borrowed as long as the scope lasts.
    unsafe {
        let message = operations::immediate_send(&context, span, to, mode)?;
        Ok(Request::new(Operation::Message(message), buf, scope))
    }
}
