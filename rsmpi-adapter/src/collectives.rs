//! Collective operations of all ranks: what [`mpi::collective::CommunicatorCollectives`] does, compressed.

use crate::context::Context;
use crate::error::{Result, ok};
use crate::exchange::{all_ranks, exchange, start, start_for_many};
use crate::posted;
use crate::request::Request;
use crate::span::Span;
use mpi::datatype::traits::{Buffer, BufferMut, PartitionedBuffer, PartitionedBufferMut};
use mpi::ffi::{self, MPI_Comm};
use mpi::request::Scope;
use mpi::traits::{Communicator, CommunicatorCollectives};
use mpress::{Destination, FrameError};
use std::ffi::c_int;

/// Collective operations of a [`CompressedCommunicator`](crate::CompressedCommunicator). All processes must call the methods of
/// this trait; none may call rsmpi's own for the same operation.
///
/// Operations with less than 16 KiB for each rank are the MPI's own. In
/// [`compressed_all_to_all_varcount_into`](Self::compressed_all_to_all_varcount_into), where a rank does not know the lengths of
/// the others, every message of at least 1 KiB may be compressed.
///
/// # Errors
/// All methods: [`Error::NotCompressed`](crate::Error::NotCompressed); [`Error::Parts`](crate::Error::Parts);
/// [`Error::Frame`](crate::Error::Frame) for a damaged frame and [`Error::Truncated`](crate::Error::Truncated) for one of a message
/// that does not fit; [`Error::Memory`](crate::Error::Memory); and errors of the MPI where its error handler comes back.
pub trait CompressedCollectives: CommunicatorCollectives {
    /// Gathers the elements of all ranks on all ranks, as [`CommunicatorCollectives::all_gather_into`].
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn compressed_all_gather_into<S: Buffer + ?Sized, R: BufferMut + ?Sized>(
        &self,
        sendbuf: &S,
        recvbuf: &mut R,
    ) -> Result<()> {
        let context = Context::of(self.as_raw())?;
        let (span, ranks) = (Span::of(sendbuf)?, context.ranks());
        let all = span.len().saturating_mul(ranks);
        if !context.collective(span.len()) || !countable(all) {
            self.all_gather_into(sendbuf, recvbuf);
            return Ok(());
        }
        let parts = Span::of_mut(recvbuf)?.equal_parts(ranks)?;
        // SAFETY: borrowed buffers, the one alone; both are initialised.
        unsafe { all_gather(&context, &span, &parts, self.as_raw()) }
    }

    /// Gathers as many elements as each rank has on all ranks, as [`CommunicatorCollectives::all_gather_varcount_into`].
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn compressed_all_gather_varcount_into<S: Buffer + ?Sized, R: PartitionedBufferMut + ?Sized>(
        &self,
        sendbuf: &S,
        recvbuf: &mut R,
    ) -> Result<()> {
        let context = Context::of(self.as_raw())?;
        let parts = Span::parts_of_mut(recvbuf, context.ranks())?;
        // All ranks know the lengths of all.
        let longest = parts.iter().map(Span::len).max().unwrap_or(0);
        let all = parts.iter().map(Span::len).fold(0, usize::saturating_add);
        if !context.collective(longest) || !countable(all) {
            self.all_gather_varcount_into(sendbuf, recvbuf);
            return Ok(());
        }
        // SAFETY: borrowed buffers, the one alone; both are initialised.
        unsafe { all_gather(&context, &Span::of(sendbuf)?, &parts, self.as_raw()) }
    }

    /// Sends each rank its elements, and receives from each, as [`CommunicatorCollectives::all_to_all_into`].
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn compressed_all_to_all_into<S: Buffer + ?Sized, R: BufferMut + ?Sized>(
        &self,
        sendbuf: &S,
        recvbuf: &mut R,
    ) -> Result<()> {
        let context = Context::of(self.as_raw())?;
        let sends = Span::of(sendbuf)?.equal_parts(context.ranks())?;
        if !context.collective(sends.first().map_or(0, Span::len)) {
            self.all_to_all_into(sendbuf, recvbuf);
            return Ok(());
        }
        let receives = Span::of_mut(recvbuf)?.equal_parts(context.ranks())?;
        // SAFETY: borrowed buffers, the one alone; both are initialised.
        unsafe { exchange(&context, &all_ranks(&context, sends), &all_ranks(&context, receives)) }
    }

    /// Sends each rank as many elements as are its own, and receives from each, as
    /// [`CommunicatorCollectives::all_to_all_varcount_into`].
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
    fn compressed_all_to_all_varcount_into<
        S: PartitionedBuffer + ?Sized,
        R: PartitionedBufferMut + ?Sized,
    >(
        &self,
        sendbuf: &S,
        recvbuf: &mut R,
    ) -> Result<()> {
        let context = Context::of(self.as_raw())?;
        let sends = Span::parts_of(sendbuf, context.ranks())?;
        let receives = Span::parts_of_mut(recvbuf, context.ranks())?;
        if !context.peers.anyone {
            self.all_to_all_varcount_into(sendbuf, recvbuf);
            return Ok(());
        }
        // SAFETY: borrowed buffers, the one alone; both are initialised.
        unsafe { exchange(&context, &all_ranks(&context, sends), &all_ranks(&context, receives)) }
    }

    /// Starts to gather the elements of all ranks on all ranks, as [`CommunicatorCollectives::immediate_all_gather_into`]. Each rank
    /// sends its own to all, encoded once, and leaves that to the MPI where it would take longer ([`mpress::Spread`]).
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
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
        let context = Context::of(self.as_raw())?;
        let span = Span::of(sendbuf)?;
        if !context.collective(span.len()) || !context.peers.spread.may_gather() {
            return Ok(Request::plain(self.immediate_all_gather_into(scope, sendbuf, recvbuf)));
        }
        let parts = all_ranks(&context, Span::of_mut(recvbuf)?.equal_parts(context.ranks())?);
        // SAFETY: buffers that are borrowed as long as the scope lasts, the one alone.
        unsafe {
            let messages = start_for_many(&context, &span, parts.iter().map(|(rank, _)| *rank), &parts);
            Ok(Request::collective(messages, recvbuf, scope))
        }
    }

    /// Starts to gather as many elements as each rank has on all ranks, as
    /// [`CommunicatorCollectives::immediate_all_gather_varcount_into`], in the way of
    /// [`immediate_compressed_all_gather_into`](Self::immediate_compressed_all_gather_into).
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
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
        let context = Context::of(self.as_raw())?;
        let parts = Span::parts_of_mut(recvbuf, context.ranks())?;
        // All ranks know the lengths of all.
        let longest = parts.iter().map(Span::len).max().unwrap_or(0);
        if !context.collective(longest) || !context.peers.spread.may_gather() {
            return Ok(Request::plain(self.immediate_all_gather_varcount_into(scope, sendbuf, recvbuf)));
        }
        let (span, parts) = (Span::of(sendbuf)?, all_ranks(&context, parts));
        // SAFETY: buffers that are borrowed as long as the scope lasts, the one alone.
        unsafe {
            let messages = start_for_many(&context, &span, parts.iter().map(|(rank, _)| *rank), &parts);
            Ok(Request::collective(messages, recvbuf, scope))
        }
    }

    /// Starts to send each rank its elements, and to receive from each, as [`CommunicatorCollectives::immediate_all_to_all_into`].
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
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
        let context = Context::of(self.as_raw())?;
        let sends = all_ranks(&context, Span::of(sendbuf)?.equal_parts(context.ranks())?);
        if !context.collective(sends.first().map_or(0, |(_, span)| span.len())) {
            return Ok(Request::plain(self.immediate_all_to_all_into(scope, sendbuf, recvbuf)));
        }
        let receives = all_ranks(&context, Span::of_mut(recvbuf)?.equal_parts(context.ranks())?);
        // SAFETY: buffers that are borrowed as long as the scope lasts, the one alone.
        Ok(unsafe { Request::collective(start(&context, &sends, &receives), recvbuf, scope) })
    }

    /// Starts to send each rank as many elements as are its own, and to receive from each, as
    /// [`CommunicatorCollectives::immediate_all_to_all_varcount_into`].
    #[allow(clippy::missing_errors_doc, reason = "on the trait")]
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
        let context = Context::of(self.as_raw())?;
        let sends = all_ranks(&context, Span::parts_of(sendbuf, context.ranks())?);
        let receives = all_ranks(&context, Span::parts_of_mut(recvbuf, context.ranks())?);
        if !context.peers.anyone {
            return Ok(Request::plain(self.immediate_all_to_all_varcount_into(scope, sendbuf, recvbuf)));
        }
        // SAFETY: buffers that are borrowed as long as the scope lasts, the one alone.
        Ok(unsafe { Request::collective(start(&context, &sends, &receives), recvbuf, scope) })
    }
}

impl<C: Communicator + ?Sized> CompressedCollectives for C {}

/// Whether the MPI can count so many bytes and the displacements in them.
fn countable(bytes: usize) -> bool {
    c_int::try_from(bytes).is_ok()
}

/// Gathers lengths, and then frames and messages, whichever each rank has.
///
/// # Safety
/// What is sent must be initialised and stay as it is meanwhile; what is received into must be the caller's alone. All parts
/// together must be [`countable`].
unsafe fn all_gather(context: &Context, own: &Span, parts: &[Span], comm: MPI_Comm) -> Result<()> {
    // SAFETY: the caller vouches for the elements.
    let frame = unsafe { context.encode(own, Destination::OtherNode) };
    let packed = if frame.is_none() && own.kind.is_none() { Some(context.pack(own)?) } else { None };
    // SAFETY: as above.
    let raw = unsafe { own.bytes() }.unwrap_or_default();
    let wire: &[u8] = frame.as_deref().or(packed.as_deref()).unwrap_or(raw);
    let mine = wire.len() as u64;
    let mut lengths = vec![0_u64; parts.len()];
    // SAFETY: a number, and as many as there are ranks.
    unsafe {
        let (number, into) = (ffi::RSMPI_UINT64_T, lengths.as_mut_ptr().cast());
        ok(ffi::MPI_Allgather((&raw const mine).cast(), 1, number, into, 1, number, comm))?;
    }
    let (mut counts, mut starts, mut total) = (Vec::new(), Vec::new(), 0_usize);
    for (part, &len) in parts.iter().zip(&lengths) {
        let len = usize::try_from(len).ok().filter(|&len| len <= part.len());
        let wrong = FrameError::Damaged(mpress::DecodeError::new(mpress::DecodeErrorKind::Length, 0));
        let len = len.ok_or(wrong)?;
        counts.push(c_int::try_from(len).unwrap_or(c_int::MAX));
        starts.push(c_int::try_from(total).unwrap_or(c_int::MAX));
        total += len;
    }
    let mut all = context.buffer(total)?;
    all.set_len(total);
    // SAFETY: the wire's bytes, and room for those of all, each as many as was said.
    unsafe {
        let (byte, count) = (ffi::RSMPI_UINT8_T, c_int::try_from(wire.len()).unwrap_or(c_int::MAX));
        ok(ffi::MPI_Allgatherv(
            wire.as_ptr().cast(),
            count,
            byte,
            all.as_mut_ptr().cast(),
            counts.as_ptr(),
            starts.as_ptr(),
            byte,
            comm,
        ))?;
    }
    let mut rest = &all[..];
    for (part, &len) in parts.iter().zip(&lengths) {
        let Some((wire, next)) = usize::try_from(len).ok().and_then(|len| rest.split_at_checked(len)) else {
            break;
        };
        rest = next;
        // SAFETY: the caller vouches for the parts.
        unsafe {
            if wire.len() < part.len() {
                posted::land(context, wire, part)?;
            } else if let Some(room) = part.room(wire.len()) {
                room.write_copy_of_slice(wire);
            } else {
                context.unpack(wire, part)?;
            }
        }
    }
    Ok(())
}
