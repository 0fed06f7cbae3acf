//! Collective operations of all ranks: what [`mpi::collective::CommunicatorCollectives`] does, compressed.

use crate::context::Context;
use crate::error::Result;
use crate::request::Request;
use crate::span::Span;
use mpi::datatype::traits::{Buffer, BufferMut, PartitionedBuffer, PartitionedBufferMut};
use mpi::request::Scope;
use mpi::traits::{Communicator, CommunicatorCollectives};
use mpress_layer::{MPI_Comm, calls};
use std::sync::Arc;

/// Collective operations of a [`CompressedCommunicator`](crate::CompressedCommunicator). All processes must call the methods of
/// this trait; none may call rsmpi's own for the same operation.
///
/// Blocks shorter than the threshold of the settings, 1 KiB unless they say otherwise, are not compressed. In the `varcount` forms of all-to-all,
/// gather and scatter, where a rank does not know the lengths of the others, the ranks tell each other from time to time, in blocking operations,
/// whether there are longer ones; immediate ones go by what was last said.
///
/// # Errors
/// All methods: [`Error::NotCompressed`](crate::Error::NotCompressed); [`Error::Parts`](crate::Error::Parts);
/// [`Error::Frame`](crate::Error::Frame) for a damaged frame and [`Error::Truncated`](crate::Error::Truncated) for one of a message
/// that does not fit; [`Error::Memory`](crate::Error::Memory); and errors of the MPI where its error handler comes back.
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
        // SAFETY: borrowed buffers, what is received into alone; all are initialised.
        context.outcome(unsafe {
            calls::MPI_Allgather(layer, out.at, out.count, out.kind, into.at, share, into.kind, comm)
        })
    }

    /// Gathers as many elements as each rank has on all ranks, as [`CommunicatorCollectives::all_gather_varcount_into`].
    fn compressed_all_gather_varcount_into<S: Buffer + ?Sized, R: PartitionedBufferMut + ?Sized>(
        &self,
        sendbuf: &S,
        recvbuf: &mut R,
    ) -> Result<()> {
        let (context, comm) = of(self)?;
        context.parts(recvbuf.counts(), recvbuf.displs())?;
        let (out, into) = (Span::of(sendbuf), Span::whole_mut(recvbuf));
        let (counts, places) = (recvbuf.counts().as_ptr(), recvbuf.displs().as_ptr());
        let layer = context.layer();
        // SAFETY: borrowed buffers, what is received into alone; all are initialised.
        context.outcome(unsafe {
            calls::MPI_Allgatherv(
                layer, out.at, out.count, out.kind, into.at, counts, places, into.kind, comm,
            )
        })
    }

    /// Sends each rank its elements, and receives from each, as [`CommunicatorCollectives::all_to_all_into`].
    fn compressed_all_to_all_into<S: Buffer + ?Sized, R: BufferMut + ?Sized>(
        &self,
        sendbuf: &S,
        recvbuf: &mut R,
    ) -> Result<()> {
        let (context, comm) = of(self)?;
        let (out, into) = (Span::of(sendbuf), Span::of_mut(recvbuf));
        let (shares, share) = (context.share(out.count), context.share(into.count));
        let layer = context.layer();
        // SAFETY: borrowed buffers, what is received into alone; all are initialised.
        context.outcome(unsafe {
            calls::MPI_Alltoall(layer, out.at, shares, out.kind, into.at, share, into.kind, comm)
        })
    }

    /// Sends each rank as many elements as are its own, and receives from each, as
    /// [`CommunicatorCollectives::all_to_all_varcount_into`].
    fn compressed_all_to_all_varcount_into<
        S: PartitionedBuffer + ?Sized,
        R: PartitionedBufferMut + ?Sized,
    >(
        &self,
        sendbuf: &S,
        recvbuf: &mut R,
    ) -> Result<()> {
        let (context, comm) = of(self)?;
        context.parts(sendbuf.counts(), sendbuf.displs())?;
        context.parts(recvbuf.counts(), recvbuf.displs())?;
        let (out, into) = (Span::whole(sendbuf), Span::whole_mut(recvbuf));
        let (sends, from) = (sendbuf.counts().as_ptr(), sendbuf.displs().as_ptr());
        let (counts, places) = (recvbuf.counts().as_ptr(), recvbuf.displs().as_ptr());
        let layer = context.layer();
        // SAFETY: borrowed buffers, what is received into alone; all are initialised.
        context.outcome(unsafe {
            calls::MPI_Alltoallv(
                layer, out.at, sends, from, out.kind, into.at, counts, places, into.kind, comm,
            )
        })
    }

    /// Starts to gather the elements of all ranks on all ranks, as [`CommunicatorCollectives::immediate_all_gather_into`]. Each rank
    /// sends its own to all, encoded once, and leaves that to the MPI where it would take longer ([`mpress::Spread`]).
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
        // SAFETY: buffers that are borrowed as long as the scope lasts, what is received into alone.
        unsafe {
            Request::start(context, recvbuf, scope, |layer, request| {
                calls::MPI_Iallgather(
                    layer, out.at, out.count, out.kind, into.at, share, into.kind, comm, request,
                )
            })
        }
    }

    /// Starts to gather as many elements as each rank has on all ranks, as
    /// [`CommunicatorCollectives::immediate_all_gather_varcount_into`], in the way of
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
        context.parts(recvbuf.counts(), recvbuf.displs())?;
        let (out, into) = (Span::of(sendbuf), Span::whole_mut(recvbuf));
        let (counts, places) = (recvbuf.counts().as_ptr(), recvbuf.displs().as_ptr());
        // SAFETY: buffers that are borrowed as long as the scope lasts, what is received into alone.
        unsafe {
            Request::start(context, recvbuf, scope, |layer, request| {
                calls::MPI_Iallgatherv(
                    layer, out.at, out.count, out.kind, into.at, counts, places, into.kind, comm, request,
                )
            })
        }
    }

    /// Starts to send each rank its elements, and to receive from each, as [`CommunicatorCollectives::immediate_all_to_all_into`].
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
        // SAFETY: buffers that are borrowed as long as the scope lasts, what is received into alone.
        unsafe {
            Request::start(context, recvbuf, scope, |layer, request| {
                calls::MPI_Ialltoall(
                    layer, out.at, shares, out.kind, into.at, share, into.kind, comm, request,
                )
            })
        }
    }

    /// Starts to send each rank as many elements as are its own, and to receive from each, as
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
        context.parts(sendbuf.counts(), sendbuf.displs())?;
        context.parts(recvbuf.counts(), recvbuf.displs())?;
        let (out, into) = (Span::whole(sendbuf), Span::whole_mut(recvbuf));
        let (sends, from) = (sendbuf.counts().as_ptr(), sendbuf.displs().as_ptr());
        let (counts, places) = (recvbuf.counts().as_ptr(), recvbuf.displs().as_ptr());
        // SAFETY: buffers that are borrowed as long as the scope lasts, what is received into alone.
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

/// A communicator that compresses.
fn of<C: Communicator + ?Sized>(communicator: &C) -> Result<(Arc<Context>, MPI_Comm)> {
    let comm = communicator.as_raw();
    Ok((Context::of(comm)?, comm.0 as _))
}
