//! Compressed forms of the collective operations in [`mpi::collective::Root`].

use crate::context::Context;
use crate::error::{Error, Result};
use crate::request::Request;
use crate::span::Span;
use mpi::Rank;
use mpi::datatype::traits::{Buffer, BufferMut, PartitionedBuffer, PartitionedBufferMut};
use mpi::raw::AsRaw;
use mpi::request::Scope;
use mpi::traits::{Communicator, Root};
use mpress_layer::{MPI_Comm, calls};
use std::ptr;
use std::sync::Arc;

/// Collective operations with a process of a [`CompressedCommunicator`](crate::CompressedCommunicator) as root. All processes must call the
/// methods of this trait; none may call rsmpi's method for the same operation.
///
/// Blocks shorter than the threshold of the settings, 1 KiB by default, are not compressed. In the `varcount` forms of all-to-all, gather
/// and scatter a rank does not know the lengths of other ranks' blocks. There, some of the blocking operations exchange whether any block
/// reaches the threshold; immediate operations use the most recent exchange.
///
/// # Errors
/// All methods: [`Error::NotCompressed`]; [`Error::Root`]; [`Error::Parts`]; [`Error::Frame`] for a damaged frame; [`Error::Truncated`] for
/// a frame whose message does not fit the buffer; [`Error::Memory`]; and errors of the MPI if the communicator's error handler returns.
#[allow(clippy::missing_errors_doc, reason = "here, of all methods")]
pub trait CompressedRoot: Root {
    /// Sends the root's buffer to all ranks, as [`Root::broadcast_into`]. It is encoded once.
    fn compressed_broadcast_into<Buf: BufferMut + ?Sized>(&self, buffer: &mut Buf) -> Result<()> {
        let (context, root, comm) = of(self)?;
        let span = Span::of_mut(buffer);
        let layer = context.layer();
        // SAFETY: all buffers are borrowed and initialised; receive buffers are borrowed mutably.
        context.outcome(unsafe { calls::MPI_Bcast(layer, span.at, span.count, span.kind, root, comm) })
    }

    /// Sends the elements of this rank to the root, as [`Root::gather_into`].
    fn compressed_gather_into<S: Buffer + ?Sized>(&self, sendbuf: &S) -> Result<()> {
        let (context, root, comm) = other(self)?;
        let (out, into) = (Span::of(sendbuf), Span::none());
        let layer = context.layer();
        // SAFETY: all buffers are borrowed and initialised; receive buffers are borrowed mutably.
        context.outcome(unsafe {
            calls::MPI_Gather(layer, out.at, out.count, out.kind, into.at, 0, into.kind, root, comm)
        })
    }

    /// Gathers the elements of all ranks on the root; called by the root, as [`Root::gather_into_root`].
    fn compressed_gather_into_root<S: Buffer + ?Sized, R: BufferMut + ?Sized>(
        &self,
        sendbuf: &S,
        recvbuf: &mut R,
    ) -> Result<()> {
        let (context, root, comm) = root(self)?;
        let (out, into) = (Span::of(sendbuf), Span::of_mut(recvbuf));
        let share = context.share(into.count);
        let layer = context.layer();
        // SAFETY: all buffers are borrowed and initialised; receive buffers are borrowed mutably.
        context.outcome(unsafe {
            calls::MPI_Gather(layer, out.at, out.count, out.kind, into.at, share, into.kind, root, comm)
        })
    }

    /// Sends this rank's elements, whose number varies by rank, to the root, as [`Root::gather_varcount_into`].
    fn compressed_gather_varcount_into<S: Buffer + ?Sized>(&self, sendbuf: &S) -> Result<()> {
        let (context, root, comm) = other(self)?;
        let (out, into) = (Span::of(sendbuf), Span::none());
        let layer = context.layer();
        // SAFETY: all buffers are borrowed and initialised; receive buffers are borrowed mutably.
        context.outcome(unsafe {
            calls::MPI_Gatherv(
                layer,
                out.at,
                out.count,
                out.kind,
                into.at,
                ptr::null(),
                ptr::null(),
                into.kind,
                root,
                comm,
            )
        })
    }

    /// Gathers a varying number of elements from each rank; called by the root, as [`Root::gather_varcount_into_root`].
    fn compressed_gather_varcount_into_root<S: Buffer + ?Sized, R: PartitionedBufferMut + ?Sized>(
        &self,
        sendbuf: &S,
        recvbuf: &mut R,
    ) -> Result<()> {
        let (context, root, comm) = root(self)?;
        let (out, into) = (Span::of(sendbuf), Span::whole_mut(recvbuf));
        let (counts, places) = context.parts(recvbuf)?;
        let layer = context.layer();
        // SAFETY: all buffers are borrowed and initialised; receive buffers are borrowed mutably.
        context.outcome(unsafe {
            calls::MPI_Gatherv(
                layer, out.at, out.count, out.kind, into.at, counts, places, into.kind, root, comm,
            )
        })
    }

    /// Receives this rank's elements from the root, as [`Root::scatter_into`].
    fn compressed_scatter_into<R: BufferMut + ?Sized>(&self, recvbuf: &mut R) -> Result<()> {
        let (context, root, comm) = other(self)?;
        let (out, into) = (Span::none(), Span::of_mut(recvbuf));
        let layer = context.layer();
        // SAFETY: all buffers are borrowed and initialised; receive buffers are borrowed mutably.
        context.outcome(unsafe {
            calls::MPI_Scatter(layer, out.at, 0, out.kind, into.at, into.count, into.kind, root, comm)
        })
    }

    /// Sends each rank its elements; called by the root, as [`Root::scatter_into_root`].
    fn compressed_scatter_into_root<S: Buffer + ?Sized, R: BufferMut + ?Sized>(
        &self,
        sendbuf: &S,
        recvbuf: &mut R,
    ) -> Result<()> {
        let (context, root, comm) = root(self)?;
        let (out, into) = (Span::of(sendbuf), Span::of_mut(recvbuf));
        let share = context.share(out.count);
        let layer = context.layer();
        // SAFETY: all buffers are borrowed and initialised; receive buffers are borrowed mutably.
        context.outcome(unsafe {
            calls::MPI_Scatter(layer, out.at, share, out.kind, into.at, into.count, into.kind, root, comm)
        })
    }

    /// Receives this rank's elements, whose number varies by rank, from the root, as [`Root::scatter_varcount_into`].
    fn compressed_scatter_varcount_into<R: BufferMut + ?Sized>(&self, recvbuf: &mut R) -> Result<()> {
        let (context, root, comm) = other(self)?;
        let (out, into) = (Span::none(), Span::of_mut(recvbuf));
        let layer = context.layer();
        // SAFETY: all buffers are borrowed and initialised; receive buffers are borrowed mutably.
        context.outcome(unsafe {
            calls::MPI_Scatterv(
                layer,
                out.at,
                ptr::null(),
                ptr::null(),
                out.kind,
                into.at,
                into.count,
                into.kind,
                root,
                comm,
            )
        })
    }

    /// Sends each rank a varying number of elements; called by the root, as [`Root::scatter_varcount_into_root`].
    fn compressed_scatter_varcount_into_root<S: PartitionedBuffer + ?Sized, R: BufferMut + ?Sized>(
        &self,
        sendbuf: &S,
        recvbuf: &mut R,
    ) -> Result<()> {
        let (context, root, comm) = root(self)?;
        let (out, into) = (Span::whole(sendbuf), Span::of_mut(recvbuf));
        let (counts, places) = context.parts(sendbuf)?;
        let layer = context.layer();
        // SAFETY: all buffers are borrowed and initialised; receive buffers are borrowed mutably.
        context.outcome(unsafe {
            calls::MPI_Scatterv(
                layer, out.at, counts, places, out.kind, into.at, into.count, into.kind, root, comm,
            )
        })
    }

    /// Starts to send the root's buffer to all ranks, as [`Root::immediate_broadcast_into`]. The root encodes it once and sends it to each
    /// rank itself. If this would take longer than the MPI's own algorithm, the operation is left to the MPI ([`mpress::Spread`]).
    fn immediate_compressed_broadcast_into<'a, Sc: Scope<'a>, Buf: BufferMut + ?Sized + 'a>(
        &self,
        scope: Sc,
        buffer: &'a mut Buf,
    ) -> Result<Request<'a, Buf, Sc>> {
        let (context, root, comm) = of(self)?;
        let span = Span::of_mut(buffer);
        // SAFETY: all buffers are borrowed for the scope's lifetime; receive buffers are borrowed mutably.
        unsafe {
            Request::start(context, buffer, scope, |layer, request| {
                calls::MPI_Ibcast(layer, span.at, span.count, span.kind, root, comm, request)
            })
        }
    }

    /// Starts to send the elements of this rank to the root, as [`Root::immediate_gather_into`].
    fn immediate_compressed_gather_into<'a, Sc: Scope<'a>, S: Buffer + ?Sized + 'a>(
        &self,
        scope: Sc,
        sendbuf: &'a S,
    ) -> Result<Request<'a, S, Sc>> {
        let (context, root, comm) = other(self)?;
        let (out, into) = (Span::of(sendbuf), Span::none());
        // SAFETY: all buffers are borrowed for the scope's lifetime; receive buffers are borrowed mutably.
        unsafe {
            Request::start(context, sendbuf, scope, |layer, request| {
                calls::MPI_Igather(
                    layer, out.at, out.count, out.kind, into.at, 0, into.kind, root, comm, request,
                )
            })
        }
    }

    /// Starts to gather the elements of all ranks; called by the root, as [`Root::immediate_gather_into_root`].
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
        let (context, root, comm) = root(self)?;
        let (out, into) = (Span::of(sendbuf), Span::of_mut(recvbuf));
        let share = context.share(into.count);
        // SAFETY: all buffers are borrowed for the scope's lifetime; receive buffers are borrowed mutably.
        unsafe {
            Request::start(context, recvbuf, scope, |layer, request| {
                calls::MPI_Igather(
                    layer, out.at, out.count, out.kind, into.at, share, into.kind, root, comm, request,
                )
            })
        }
    }

    /// Starts to send this rank's elements, whose number varies by rank, to the root, as [`Root::immediate_gather_varcount_into`].
    fn immediate_compressed_gather_varcount_into<'a, Sc: Scope<'a>, S: Buffer + ?Sized + 'a>(
        &self,
        scope: Sc,
        sendbuf: &'a S,
    ) -> Result<Request<'a, S, Sc>> {
        let (context, root, comm) = other(self)?;
        let (out, into) = (Span::of(sendbuf), Span::none());
        // SAFETY: all buffers are borrowed for the scope's lifetime; receive buffers are borrowed mutably.
        unsafe {
            Request::start(context, sendbuf, scope, |layer, request| {
                calls::MPI_Igatherv(
                    layer,
                    out.at,
                    out.count,
                    out.kind,
                    into.at,
                    ptr::null(),
                    ptr::null(),
                    into.kind,
                    root,
                    comm,
                    request,
                )
            })
        }
    }

    /// Starts to gather a varying number of elements from each rank; called by the root, as [`Root::immediate_gather_varcount_into_root`].
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
        let (context, root, comm) = root(self)?;
        let (out, into) = (Span::of(sendbuf), Span::whole_mut(recvbuf));
        let (counts, places) = context.parts(recvbuf)?;
        // SAFETY: all buffers are borrowed for the scope's lifetime; receive buffers are borrowed mutably.
        unsafe {
            Request::start(context, recvbuf, scope, |layer, request| {
                calls::MPI_Igatherv(
                    layer, out.at, out.count, out.kind, into.at, counts, places, into.kind, root, comm,
                    request,
                )
            })
        }
    }

    /// Starts to receive this rank's elements from the root, as [`Root::immediate_scatter_into`].
    fn immediate_compressed_scatter_into<'a, Sc: Scope<'a>, R: BufferMut + ?Sized + 'a>(
        &self,
        scope: Sc,
        recvbuf: &'a mut R,
    ) -> Result<Request<'a, R, Sc>> {
        let (context, root, comm) = other(self)?;
        let (out, into) = (Span::none(), Span::of_mut(recvbuf));
        // SAFETY: all buffers are borrowed for the scope's lifetime; receive buffers are borrowed mutably.
        unsafe {
            Request::start(context, recvbuf, scope, |layer, request| {
                calls::MPI_Iscatter(
                    layer, out.at, 0, out.kind, into.at, into.count, into.kind, root, comm, request,
                )
            })
        }
    }

    /// Starts to send each rank its elements; called by the root, as [`Root::immediate_scatter_into_root`].
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
        let (context, root, comm) = root(self)?;
        let (out, into) = (Span::of(sendbuf), Span::of_mut(recvbuf));
        let share = context.share(out.count);
        // SAFETY: all buffers are borrowed for the scope's lifetime; receive buffers are borrowed mutably.
        unsafe {
            Request::start(context, recvbuf, scope, |layer, request| {
                calls::MPI_Iscatter(
                    layer, out.at, share, out.kind, into.at, into.count, into.kind, root, comm, request,
                )
            })
        }
    }

    /// Starts to receive this rank's elements, whose number varies by rank, from the root, as [`Root::immediate_scatter_varcount_into`].
    fn immediate_compressed_scatter_varcount_into<'a, Sc: Scope<'a>, R: BufferMut + ?Sized + 'a>(
        &self,
        scope: Sc,
        recvbuf: &'a mut R,
    ) -> Result<Request<'a, R, Sc>> {
        let (context, root, comm) = other(self)?;
        let (out, into) = (Span::none(), Span::of_mut(recvbuf));
        // SAFETY: all buffers are borrowed for the scope's lifetime; receive buffers are borrowed mutably.
        unsafe {
            Request::start(context, recvbuf, scope, |layer, request| {
                calls::MPI_Iscatterv(
                    layer,
                    out.at,
                    ptr::null(),
                    ptr::null(),
                    out.kind,
                    into.at,
                    into.count,
                    into.kind,
                    root,
                    comm,
                    request,
                )
            })
        }
    }

    /// Starts to send each rank a varying number of elements; called by the root, as [`Root::immediate_scatter_varcount_into_root`].
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
        let (context, root, comm) = root(self)?;
        let (out, into) = (Span::whole(sendbuf), Span::of_mut(recvbuf));
        let (counts, places) = context.parts(sendbuf)?;
        // SAFETY: all buffers are borrowed for the scope's lifetime; receive buffers are borrowed mutably.
        unsafe {
            Request::start(context, recvbuf, scope, |layer, request| {
                calls::MPI_Iscatterv(
                    layer, out.at, counts, places, out.kind, into.at, into.count, into.kind, root, comm,
                    request,
                )
            })
        }
    }
}

impl<R: Root + ?Sized> CompressedRoot for R {}

/// Context, root and communicator handle for a call.
type With = (Arc<Context>, Rank, MPI_Comm);

fn of<R: Root + ?Sized>(process: &R) -> Result<With> {
    let comm = process.as_communicator().as_raw();
    Ok((Context::of(comm)?, process.root_rank(), comm.0 as _))
}

/// Like [`of`], for the methods that the root calls.
fn root<R: Root + ?Sized>(process: &R) -> Result<With> {
    let (rank, root) = (process.as_communicator().rank(), process.root_rank());
    if rank == root { of(process) } else { Err(Error::Root { rank, root }) }
}

/// Like [`of`], for the methods that the other ranks call.
fn other<R: Root + ?Sized>(process: &R) -> Result<With> {
    let (rank, root) = (process.as_communicator().rank(), process.root_rank());
    if rank == root { Err(Error::Root { rank, root }) } else { of(process) }
}
