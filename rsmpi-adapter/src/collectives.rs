//! Compressed forms of the collective operations in [`mpi::collective::CommunicatorCollectives`].

use crate::context::Context;
use crate::error::Result;
use crate::request::Request;
use crate::span::Span;
use mpi::datatype::traits::{Buffer, BufferMut, PartitionedBuffer, PartitionedBufferMut};
use mpi::request::Scope;
use mpi::traits::{Communicator, CommunicatorCollectives};
use mpress_layer::{MPI_Comm, calls};
use std::sync::Arc;

/// Collective operations of a [`CompressedCommunicator`](crate::CompressedCommunicator). All processes must call the same method of this
/// trait; none may call rsmpi's method for the same operation.
///
/// Blocks shorter than the threshold of the settings, 1 KiB by default, are not compressed. In the `varcount` forms of all-to-all, gather
/// and scatter a rank does not know the lengths of other ranks' blocks. There, some of the blocking operations exchange whether any block
/// reaches the threshold; immediate operations use the most recent exchange.
///
/// # Errors
/// All methods: [`Error::NotCompressed`](crate::Error::NotCompressed); [`Error::Parts`](crate::Error::Parts);
/// [`Error::Frame`](crate::Error::Frame) for a damaged frame; [`Error::Truncated`](crate::Error::Truncated) for a frame whose message does
/// not fit the buffer; [`Error::Memory`](crate::Error::Memory); and errors of the MPI if the communicator's error handler returns.
#[allow(clippy::missing_errors_doc, reason = "here, of all methods")]
pub trait CompressedCollectives: CommunicatorCollectives {
    /// Gathers the elements of all ranks on all ranks, as [`CommunicatorCollectives::all_gather_into`].
    fn compressed_all_gather_into<S: Buffer + ?Sized, R: BufferMut + ?Sized>(
        &self,
        sendbuf: &S,
        recvbuf: &mut R,
    ) -> Result<()> {
        let (context, comm) = of(self)?;
        let (out, into) = (Span::of(sendbuf), Span::of_mut(recvbuf));
        let share = context.share(into.count);
        let layer = context.layer();
        // SAFETY: all buffers are borrowed and initialised; receive buffers are borrowed mutably.
        context.outcome(unsafe {
            calls::MPI_Allgather(layer, out.at, out.count, out.kind, into.at, share, into.kind, comm)
        })
    }

    /// Gathers a varying number of elements from each rank on all ranks, as [`CommunicatorCollectives::all_gather_varcount_into`].
    fn compressed_all_gather_varcount_into<S: Buffer + ?Sized, R: PartitionedBufferMut + ?Sized>(
        &self,
        sendbuf: &S,
        recvbuf: &mut R,
    ) -> Result<()> {
        let (context, comm) = of(self)?;
        let (out, into) = (Span::of(sendbuf), Span::whole_mut(recvbuf));
        let (counts, places) = context.parts(recvbuf)?;
        let layer = context.layer();
        // SAFETY: all buffers are borrowed and initialised; receive buffers are borrowed mutably.
        context.outcome(unsafe {
            calls::MPI_Allgatherv(
                layer, out.at, out.count, out.kind, into.at, counts, places, into.kind, comm,
            )
        })
    }

    /// Sends each rank its elements, and receives from each rank, as [`CommunicatorCollectives::all_to_all_into`].
    fn compressed_all_to_all_into<S: Buffer + ?Sized, R: BufferMut + ?Sized>(
        &self,
        sendbuf: &S,
        recvbuf: &mut R,
    ) -> Result<()> {
        let (context, comm) = of(self)?;
        let (out, into) = (Span::of(sendbuf), Span::of_mut(recvbuf));
        let (shares, share) = (context.share(out.count), context.share(into.count));
        let layer = context.layer();
        // SAFETY: all buffers are borrowed and initialised; receive buffers are borrowed mutably.
        context.outcome(unsafe {
            calls::MPI_Alltoall(layer, out.at, shares, out.kind, into.at, share, into.kind, comm)
        })
    }

    /// Sends each rank a varying number of elements, and receives from each rank, as [`CommunicatorCollectives::all_to_all_varcount_into`].
    fn compressed_all_to_all_varcount_into<
        S: PartitionedBuffer + ?Sized,
        R: PartitionedBufferMut + ?Sized,
    >(
        &self,
        sendbuf: &S,
        recvbuf: &mut R,
    ) -> Result<()> {
        let (context, comm) = of(self)?;
        let (out, into) = (Span::whole(sendbuf), Span::whole_mut(recvbuf));
        let (sends, from) = context.parts(sendbuf)?;
        let (counts, places) = context.parts(recvbuf)?;
        let layer = context.layer();
        // SAFETY: all buffers are borrowed and initialised; receive buffers are borrowed mutably.
        context.outcome(unsafe {
            calls::MPI_Alltoallv(
                layer, out.at, sends, from, out.kind, into.at, counts, places, into.kind, comm,
            )
        })
    }

    /// Starts to gather the elements of all ranks on all ranks, as [`CommunicatorCollectives::immediate_all_gather_into`]. Each rank
    /// encodes its elements once and sends them to all others. If this would take longer than the MPI's own algorithm, the operation is
    /// left to the MPI ([`mpress::Spread`]).
    fn immediate_compressed_all_gather_into<
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
        let (context, comm) = of(self)?;
        let (out, into) = (Span::of(sendbuf), Span::of_mut(recvbuf));
        let share = context.share(into.count);
        // SAFETY: all buffers are borrowed for the scope's lifetime; receive buffers are borrowed mutably.
        unsafe {
            Request::start(context, recvbuf, scope, |layer, request| {
                calls::MPI_Iallgather(
                    layer, out.at, out.count, out.kind, into.at, share, into.kind, comm, request,
                )
            })
        }
    }

    /// Starts to gather a varying number of elements from each rank on all ranks, as
    /// [`CommunicatorCollectives::immediate_all_gather_varcount_into`]. It works like
    /// [`immediate_compressed_all_gather_into`](Self::immediate_compressed_all_gather_into).
    fn immediate_compressed_all_gather_varcount_into<
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
        let (context, comm) = of(self)?;
        let (out, into) = (Span::of(sendbuf), Span::whole_mut(recvbuf));
        let (counts, places) = context.parts(recvbuf)?;
        // SAFETY: all buffers are borrowed for the scope's lifetime; receive buffers are borrowed mutably.
        unsafe {
            Request::start(context, recvbuf, scope, |layer, request| {
                calls::MPI_Iallgatherv(
                    layer, out.at, out.count, out.kind, into.at, counts, places, into.kind, comm, request,
                )
            })
        }
    }

    /// Starts to send each rank its elements, and to receive from each rank, as [`CommunicatorCollectives::immediate_all_to_all_into`].
    fn immediate_compressed_all_to_all_into<
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
        let (context, comm) = of(self)?;
        let (out, into) = (Span::of(sendbuf), Span::of_mut(recvbuf));
        let (shares, share) = (context.share(out.count), context.share(into.count));
        // SAFETY: all buffers are borrowed for the scope's lifetime; receive buffers are borrowed mutably.
        unsafe {
            Request::start(context, recvbuf, scope, |layer, request| {
                calls::MPI_Ialltoall(
                    layer, out.at, shares, out.kind, into.at, share, into.kind, comm, request,
                )
            })
        }
    }

    /// Starts to send each rank a varying number of elements, and to receive from each rank, as
    /// [`CommunicatorCollectives::immediate_all_to_all_varcount_into`].
    fn immediate_compressed_all_to_all_varcount_into<
        'a,
        Sc: Scope<'a>,
        S: PartitionedBuffer + ?Sized + 'a,
        R: PartitionedBufferMut + ?Sized + 'a,
    >(
        &self,
        scope: Sc,
        sendbuf: &'a S,
        recvbuf: &'a mut R,
    ) -> Result<Request<'a, R, Sc>> {
        let (context, comm) = of(self)?;
        let (out, into) = (Span::whole(sendbuf), Span::whole_mut(recvbuf));
        let (sends, from) = context.parts(sendbuf)?;
        let (counts, places) = context.parts(recvbuf)?;
        // SAFETY: all buffers are borrowed for the scope's lifetime; receive buffers are borrowed mutably.
        unsafe {
            Request::start(context, recvbuf, scope, |layer, request| {
                calls::MPI_Ialltoallv(
                    layer, out.at, sends, from, out.kind, into.at, counts, places, into.kind, comm, request,
                )
            })
        }
    }
}

impl<C: Communicator + ?Sized> CompressedCollectives for C {}

/// The context and the handle of a compressed communicator.
fn of<C: Communicator + ?Sized>(communicator: &C) -> Result<(Arc<Context>, MPI_Comm)> {
    let comm = communicator.as_raw();
    Ok((Context::of(comm)?, comm.0 as _))
}
