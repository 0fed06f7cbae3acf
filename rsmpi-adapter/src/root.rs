//! Collective operations with a root: what [`mpi::collective::Root`] does, compressed.

use crate::context::Context;
use crate::error::{Error, Result, ok};
use crate::exchange::{all_ranks, exchange, start, start_for_many};
use crate::posted;
use crate::request::Request;
use crate::span::{Bytes, Span};
use mpi::datatype::traits::{Buffer, BufferMut, PartitionedBuffer, PartitionedBufferMut};
use mpi::request::Scope;
use mpi::traits::{Communicator, Root};
use mpi::{ffi, raw::AsRaw};
use mpress::{Destination, FrameError};
use std::sync::Arc;

/// Collective operations with a process of a [`CompressedCommunicator`](crate::CompressedCommunicator) as root. All processes
/// must call the methods of this trait; none may call rsmpi's own for the same operation.
///
/// Operations with less than 16 KiB for each rank are the MPI's own. In the `varcount` forms, where a rank does not know the
/// lengths of the others, every message of at least 1 KiB may be compressed.
///
/// # Errors
/// All methods: [`Error::NotCompressed`]; [`Error::Root`]; [`Error::Parts`]; [`Error::Frame`] for a damaged frame and
/// [`Error::Truncated`] for one of a message that does not fit; [`Error::Memory`]; and errors of the MPI where its error handler
/// comes back.
pub trait CompressedRoot: Root {
    /// The buffer of the root for all, as [`Root::broadcast_into`]. It is encoded once.
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn compressed_broadcast_into<Buf: BufferMut + ?Sized>(&self, buffer: &mut Buf) -> Result<()> {
        let context = context(self)?;
        let span = Span::of_mut(buffer)?;
        if !context.collective(span.len()) {
            self.broadcast_into(buffer);
            return Ok(());
        }
        // SAFETY: an initialised buffer that is borrowed alone.
        unsafe { broadcast(&context, &span, self.root_rank(), self.as_communicator().as_raw()) }
    }

    /// Sends the elements of this rank to the root, as [`Root::gather_into`].
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn compressed_gather_into<S: Buffer + ?Sized>(&self, sendbuf: &S) -> Result<()> {
        let context = other(self)?;
        let span = Span::of(sendbuf)?;
        if !context.collective(span.len()) {
            self.gather_into(sendbuf);
            return Ok(());
        }
        // SAFETY: a borrowed buffer, which is initialised.
        unsafe { exchange(&context, &[(self.root_rank(), span)], &[]) }
    }

    /// Gathers the elements of all ranks on the root, which calls this, as [`Root::gather_into_root`].
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn compressed_gather_into_root<S: Buffer + ?Sized, R: BufferMut + ?Sized>(
        &self,
        sendbuf: &S,
        recvbuf: &mut R,
    ) -> Result<()> {
        let context = root(self)?;
        let span = Span::of(sendbuf)?;
        if !context.collective(span.len()) {
            self.gather_into_root(sendbuf, recvbuf);
            return Ok(());
        }
        let parts = Span::of_mut(recvbuf)?.equal_parts(context.ranks())?;
        // SAFETY: borrowed buffers, the one alone; both are initialised.
        unsafe { exchange(&context, &[(self.root_rank(), span)], &all_ranks(&context, parts)) }
    }

    /// Sends as many elements as this rank has to the root, as [`Root::gather_varcount_into`].
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn compressed_gather_varcount_into<S: Buffer + ?Sized>(&self, sendbuf: &S) -> Result<()> {
        let context = other(self)?;
        if !context.peers.anyone {
            self.gather_varcount_into(sendbuf);
            return Ok(());
        }
        // SAFETY: a borrowed buffer, which is initialised.
        unsafe { exchange(&context, &[(self.root_rank(), Span::of(sendbuf)?)], &[]) }
    }

    /// Gathers as many elements as each rank has on the root, which calls this, as [`Root::gather_varcount_into_root`].
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn compressed_gather_varcount_into_root<S: Buffer + ?Sized, R: PartitionedBufferMut + ?Sized>(
        &self,
        sendbuf: &S,
        recvbuf: &mut R,
    ) -> Result<()> {
        let context = root(self)?;
        let parts = Span::parts_of_mut(recvbuf, context.ranks())?;
        if !context.peers.anyone {
            self.gather_varcount_into_root(sendbuf, recvbuf);
            return Ok(());
        }
        let span = Span::of(sendbuf)?;
        // SAFETY: borrowed buffers, the one alone; both are initialised.
        unsafe { exchange(&context, &[(self.root_rank(), span)], &all_ranks(&context, parts)) }
    }

    /// Receives this rank's elements from the root, as [`Root::scatter_into`].
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn compressed_scatter_into<R: BufferMut + ?Sized>(&self, recvbuf: &mut R) -> Result<()> {
        let context = other(self)?;
        let span = Span::of_mut(recvbuf)?;
        if !context.collective(span.len()) {
            self.scatter_into(recvbuf);
            return Ok(());
        }
        // SAFETY: an initialised buffer that is borrowed alone.
        unsafe { exchange(&context, &[], &[(self.root_rank(), span)]) }
    }

    /// Gives each rank its elements, on the root, as [`Root::scatter_into_root`].
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn compressed_scatter_into_root<S: Buffer + ?Sized, R: BufferMut + ?Sized>(
        &self,
        sendbuf: &S,
        recvbuf: &mut R,
    ) -> Result<()> {
        let context = root(self)?;
        let span = Span::of_mut(recvbuf)?;
        if !context.collective(span.len()) {
            self.scatter_into_root(sendbuf, recvbuf);
            return Ok(());
        }
        let parts = Span::of(sendbuf)?.equal_parts(context.ranks())?;
        // SAFETY: borrowed buffers, the one alone; both are initialised.
        unsafe { exchange(&context, &all_ranks(&context, parts), &[(self.root_rank(), span)]) }
    }

    /// Receives as many elements as are this rank's from the root, as [`Root::scatter_varcount_into`].
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn compressed_scatter_varcount_into<R: BufferMut + ?Sized>(&self, recvbuf: &mut R) -> Result<()> {
        let context = other(self)?;
        if !context.peers.anyone {
            self.scatter_varcount_into(recvbuf);
            return Ok(());
        }
        let span = Span::of_mut(recvbuf)?;
        // SAFETY: an initialised buffer that is borrowed alone.
        unsafe { exchange(&context, &[], &[(self.root_rank(), span)]) }
    }

    /// Gives each rank as many elements as are its own, on the root, as [`Root::scatter_varcount_into_root`].
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn compressed_scatter_varcount_into_root<S: PartitionedBuffer + ?Sized, R: BufferMut + ?Sized>(
        &self,
        sendbuf: &S,
        recvbuf: &mut R,
    ) -> Result<()> {
        let context = root(self)?;
        let parts = Span::parts_of(sendbuf, context.ranks())?;
        if !context.peers.anyone {
            self.scatter_varcount_into_root(sendbuf, recvbuf);
            return Ok(());
        }
        let span = Span::of_mut(recvbuf)?;
        // SAFETY: borrowed buffers, the one alone; both are initialised.
        unsafe { exchange(&context, &all_ranks(&context, parts), &[(self.root_rank(), span)]) }
    }

    /// Starts to send the buffer of the root to all, as [`Root::immediate_broadcast_into`]. It is encoded once; the root sends it to
    /// each rank itself, and leaves that to the MPI where it would take longer ([`mpress::Spread`]).
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn immediate_compressed_broadcast_into<'a, Sc: Scope<'a>, Buf: BufferMut + ?Sized + 'a>(
        &self,
        scope: Sc,
        buffer: &'a mut Buf,
    ) -> Result<Request<'a, Buf, Sc>> {
        let (context, root) = (context(self)?, self.root_rank());
        let span = Span::of_mut(buffer)?;
        let ranks = 0..self.as_communicator().size();
        if !context.collective(span.len()) || !context.peers.spread.may_broadcast(root) {
            return Ok(Request::plain(self.immediate_broadcast_into(scope, buffer)));
        }
        // SAFETY: an initialised buffer that is borrowed alone as long as the scope lasts.
        unsafe {
            let messages = if self.as_communicator().rank() == root {
                start_for_many(&context, &span, ranks.filter(|rank| *rank != root), &[])
            } else {
                start(&context, &[], &[(root, span)])
            };
            Ok(Request::collective(messages, buffer, scope))
        }
    }

    /// Starts to send the elements of this rank to the root, as [`Root::immediate_gather_into`].
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn immediate_compressed_gather_into<'a, Sc: Scope<'a>, S: Buffer + ?Sized + 'a>(
        &self,
        scope: Sc,
        sendbuf: &'a S,
    ) -> Result<Request<'a, S, Sc>> {
        let context = other(self)?;
        let span = Span::of(sendbuf)?;
        if !context.collective(span.len()) {
            return Ok(Request::plain(self.immediate_gather_into(scope, sendbuf)));
        }
        // SAFETY: a buffer that is borrowed as long as the scope lasts.
        Ok(unsafe { Request::collective(start(&context, &[(self.root_rank(), span)], &[]), sendbuf, scope) })
    }

    /// Starts to gather the elements of all ranks on the root, which calls this, as [`Root::immediate_gather_into_root`].
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn immediate_compressed_gather_into_root<
        'a,
        Sc: Scope<'a>,
        S: Buffer + ?Sized + 'a,
        R: BufferMut + ?Sized + 'a,
    >(
        &self,
        scope: Sc,
        sendbuf: &'a S,
        recvbuf: &'a mut R,
    ) -> Result<Request<'a, R, Sc>> {
        let context = root(self)?;
        let span = Span::of(sendbuf)?;
        if !context.collective(span.len()) {
            return Ok(Request::plain(self.immediate_gather_into_root(scope, sendbuf, recvbuf)));
        }
        let parts = all_ranks(&context, Span::of_mut(recvbuf)?.equal_parts(context.ranks())?);
        // SAFETY: buffers that are borrowed as long as the scope lasts, the one alone.
        Ok(unsafe {
            Request::collective(start(&context, &[(self.root_rank(), span)], &parts), recvbuf, scope)
        })
    }

    /// Starts to send as many elements as this rank has to the root, as [`Root::immediate_gather_varcount_into`].
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn immediate_compressed_gather_varcount_into<'a, Sc: Scope<'a>, S: Buffer + ?Sized + 'a>(
        &self,
        scope: Sc,
        sendbuf: &'a S,
    ) -> Result<Request<'a, S, Sc>> {
        let context = other(self)?;
        if !context.peers.anyone {
            return Ok(Request::plain(self.immediate_gather_varcount_into(scope, sendbuf)));
        }
        let span = Span::of(sendbuf)?;
        // SAFETY: a buffer that is borrowed as long as the scope lasts.
        Ok(unsafe { Request::collective(start(&context, &[(self.root_rank(), span)], &[]), sendbuf, scope) })
    }

    /// Starts to gather as many elements as each rank has on the root, which calls this, as
    /// [`Root::immediate_gather_varcount_into_root`].
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn immediate_compressed_gather_varcount_into_root<
        'a,
        Sc: Scope<'a>,
        S: Buffer + ?Sized + 'a,
        R: PartitionedBufferMut + ?Sized + 'a,
    >(
        &self,
        scope: Sc,
        sendbuf: &'a S,
        recvbuf: &'a mut R,
    ) -> Result<Request<'a, R, Sc>> {
        let context = root(self)?;
        let parts = Span::parts_of_mut(recvbuf, context.ranks())?;
        if !context.peers.anyone {
            return Ok(Request::plain(self.immediate_gather_varcount_into_root(scope, sendbuf, recvbuf)));
        }
        let (span, parts) = (Span::of(sendbuf)?, all_ranks(&context, parts));
        // SAFETY: buffers that are borrowed as long as the scope lasts, the one alone.
        Ok(unsafe {
            Request::collective(start(&context, &[(self.root_rank(), span)], &parts), recvbuf, scope)
        })
    }

    /// Starts to receive this rank's elements from the root, as [`Root::immediate_scatter_into`].
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn immediate_compressed_scatter_into<'a, Sc: Scope<'a>, R: BufferMut + ?Sized + 'a>(
        &self,
        scope: Sc,
        recvbuf: &'a mut R,
    ) -> Result<Request<'a, R, Sc>> {
        let context = other(self)?;
        let span = Span::of_mut(recvbuf)?;
        if !context.collective(span.len()) {
            return Ok(Request::plain(self.immediate_scatter_into(scope, recvbuf)));
        }
        // SAFETY: a buffer that is borrowed as long as the scope lasts.
        Ok(unsafe { Request::collective(start(&context, &[], &[(self.root_rank(), span)]), recvbuf, scope) })
    }

    /// Starts to give each rank its elements, on the root, as [`Root::immediate_scatter_into_root`].
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn immediate_compressed_scatter_into_root<
        'a,
        Sc: Scope<'a>,
        S: Buffer + ?Sized + 'a,
        R: BufferMut + ?Sized + 'a,
    >(
        &self,
        scope: Sc,
        sendbuf: &'a S,
        recvbuf: &'a mut R,
    ) -> Result<Request<'a, R, Sc>> {
        let context = root(self)?;
        let span = Span::of_mut(recvbuf)?;
        if !context.collective(span.len()) {
            return Ok(Request::plain(self.immediate_scatter_into_root(scope, sendbuf, recvbuf)));
        }
        let parts = all_ranks(&context, Span::of(sendbuf)?.equal_parts(context.ranks())?);
        // SAFETY: buffers that are borrowed as long as the scope lasts, the one alone.
        Ok(unsafe {
            Request::collective(start(&context, &parts, &[(self.root_rank(), span)]), recvbuf, scope)
        })
    }

    /// Starts to receive as many elements as are this rank's from the root, as [`Root::immediate_scatter_varcount_into`].
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn immediate_compressed_scatter_varcount_into<'a, Sc: Scope<'a>, R: BufferMut + ?Sized + 'a>(
        &self,
        scope: Sc,
        recvbuf: &'a mut R,
    ) -> Result<Request<'a, R, Sc>> {
        let context = other(self)?;
        if !context.peers.anyone {
            return Ok(Request::plain(self.immediate_scatter_varcount_into(scope, recvbuf)));
        }
        let span = Span::of_mut(recvbuf)?;
        // SAFETY: a buffer that is borrowed as long as the scope lasts.
        Ok(unsafe { Request::collective(start(&context, &[], &[(self.root_rank(), span)]), recvbuf, scope) })
    }

    /// Starts to give each rank as many elements as are its own, on the root, as
    /// [`Root::immediate_scatter_varcount_into_root`].
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn immediate_compressed_scatter_varcount_into_root<
        'a,
        Sc: Scope<'a>,
        S: PartitionedBuffer + ?Sized + 'a,
        R: BufferMut + ?Sized + 'a,
    >(
        &self,
        scope: Sc,
        sendbuf: &'a S,
        recvbuf: &'a mut R,
    ) -> Result<Request<'a, R, Sc>> {
        let context = root(self)?;
        let parts = Span::parts_of(sendbuf, context.ranks())?;
        if !context.peers.anyone {
            return Ok(Request::plain(self.immediate_scatter_varcount_into_root(scope, sendbuf, recvbuf)));
        }
        let (span, parts) = (Span::of_mut(recvbuf)?, all_ranks(&context, parts));
        // SAFETY: buffers that are borrowed as long as the scope lasts, the one alone.
        Ok(unsafe {
            Request::collective(start(&context, &parts, &[(self.root_rank(), span)]), recvbuf, scope)
        })
    }
}

impl<R: Root + ?Sized> CompressedRoot for R {}

fn context<R: Root + ?Sized>(process: &R) -> Result<Arc<Context>> {
    Context::of(process.as_communicator().as_raw())
}

/// The context, for the method of the root.
fn root<R: Root + ?Sized>(process: &R) -> Result<Arc<Context>> {
    let (rank, root) = (process.as_communicator().rank(), process.root_rank());
    if rank == root { context(process) } else { Err(Error::Root { rank, root }) }
}

/// The context, for the method of the other ranks.
fn other<R: Root + ?Sized>(process: &R) -> Result<Arc<Context>> {
    let (rank, root) = (process.as_communicator().rank(), process.root_rank());
    if rank == root { Err(Error::Root { rank, root }) } else { context(process) }
}

/// Broadcasts the length of the frame, 0 if there is none, and then the frame or the elements.
///
/// # Safety
/// The elements must be initialised and the caller's alone.
unsafe fn broadcast(context: &Context, span: &Span, root: mpi::Rank, comm: ffi::MPI_Comm) -> Result<()> {
    let is_root = context.channel.0.rank() == root;
    // SAFETY: the caller vouches for the elements.
    let frame = if is_root { unsafe { context.encode(span, Destination::OtherNode) } } else { None };
    let mut len = frame.as_ref().map_or(0, |frame| frame.len() as u64);
    // SAFETY: a number; then the elements, or a buffer of as many bytes as are counted.
    unsafe {
        ok(ffi::MPI_Bcast((&raw mut len).cast(), 1, ffi::RSMPI_UINT64_T, root, comm))?;
        if len == 0 {
            return ok(ffi::MPI_Bcast(span.ptr, span.count, span.datatype, root, comm));
        }
        let mut wire = match frame {
            Some(frame) => frame,
            None => {
                // A frame is shorter than its message, for which there is room.
                let wrong = FrameError::Damaged(mpress::DecodeError::new(mpress::DecodeErrorKind::Length, 0));
                let len = usize::try_from(len).ok().filter(|&len| len < span.len()).ok_or(wrong)?;
                let mut wire = context.buffer(len)?;
                wire.set_len(len);
                wire
            }
        };
        let bytes = Bytes::new(wire.len())?;
        ok(ffi::MPI_Bcast(wire.as_mut_ptr().cast(), bytes.count, bytes.datatype, root, comm))?;
        if !is_root {
            posted::land(context, &wire, span)?;
        }
    }
    Ok(())
}
