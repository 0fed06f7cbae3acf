//! Broadcast and all-gather of short blocks, and the first ones on a communicator. Many ranks relay the messages, and the MPI's own algorithms do
//! this best. So the MPI gets frames to relay, each encoded once.
//!
//! This takes two calls on the program's communicator instead of one: lengths, then frames. All ranks make them in the same order, as they make
//! collectives of a communicator (MPI 4.0, section 6.14); no other collective call of the program can come between them, since threads, too, must
//! make theirs one after the other (section 11.6.2). Pending nonblocking collectives may be overtaken by blocking ones (section 6.12). The MPI itself
//! reports errors of the two calls to the communicator's error handler.

use super::{Handed, blocks::Blocks};
use crate::messages::{elements::land, error::Error, error::called, peers::Peers};
use crate::mpi::{fatal::no_memory, open, span::Envelope, span::Span, sys::*};
use crate::operations::state::Shim;
use mpress::HEADER_LEN;
use std::slice;

/// Instead of a frame's length: the block is sent unchanged.
const RAW: u64 = 0;
/// This rank has not enough memory: all blocks are sent unchanged.
const NO_MEMORY: u64 = u64::MAX;
/// The block is sent unchanged for a timed trial, which says nothing about later calls.
const ON_TRIAL: u64 = u64::MAX - 1;

/// Bcast, on all ranks; the MPI must not refuse `span`. The root sends the length of the frame; if there is none, the MPI's own call follows.
pub(super) fn bcast(
    shim: &Shim,
    peers: &Peers,
    span: Span,
    root: c_int,
    comm: MPI_Comm,
) -> Result<Handed, Error> {
    let message = Envelope::new(span, root, 0, comm);
    let raw = raw_word(shim);
    let (to, strategy) = (peers.spread.farthest(), peers.strategy());
    let wire = if peers.rank == root { shim.shared_frame(&message, to, strategy) } else { None };
    let mut len = wire.as_ref().map_or(raw, |wire| wire.len() as u64);
    // SAFETY: a number.
    called(unsafe { open::MPI_Bcast((&raw mut len).cast(), 1, UINT64_T, root, comm) })?;
    if len == RAW || len == ON_TRIAL {
        return Ok(left(len == ON_TRIAL));
    }
    match wire {
        // SAFETY: it lives until the call returns.
        Some(wire) => pass_on(unsafe { wire.span() }, root, comm)?,
        None => receive_frame(shim, &message, usize::try_from(len).map_err(|_| shim.damaged)?)?,
    }
    Ok(MADE)
}

/// Something got shorter, and is in its place.
const MADE: Handed = Handed { outcome: Ok(true), shorter: Some(true) };

/// Nothing got shorter: the MPI makes the collective. If a rank was `on_trial`, nothing is learned for the next one.
fn left(on_trial: bool) -> Handed {
    Handed { outcome: Ok(false), shorter: (!on_trial).then_some(false) }
}

fn pass_on(bytes: Span, root: c_int, comm: MPI_Comm) -> Result<(), Error> {
    // SAFETY: the span's own promise.
    called(unsafe { open::MPI_Bcast_any(bytes.ptr(), bytes.count(), bytes.datatype(), root, comm) })
}

/// Receives a frame. It is shorter than its message, so a contiguous buffer of the program serves for both. Other ranks may get the frame from here,
/// so it is received completely before it is decoded.
fn receive_frame(shim: &Shim, message: &Envelope, len: usize) -> Result<(), Error> {
    let Envelope { span, peer: root, comm, .. } = *message;
    let capacity = span.bytes().unwrap_or(0);
    let in_place = shim.layout(&span).contiguous && len <= capacity;
    let frame = if in_place {
        let bytes = shim.byte_span(span.ptr().cast(), len)?;
        // SAFETY: contiguous elements with room for `len` bytes; the span's own promise.
        let arrived = unsafe {
            pass_on(bytes.span(), root, comm)?;
            slice::from_raw_parts_mut(span.ptr().cast::<u8>(), len)
        };
        let Ok(mut frame) = shim.room(len) else {
            // The program must not send on what looks like a frame.
            arrived.iter_mut().take(HEADER_LEN).for_each(|byte| *byte = 0);
            return Err(ERR_NO_MEM.into());
        };
        frame.copy_from_slice(arrived);
        frame
    } else {
        let mut frame = shim.room(len).unwrap_or_else(|_| no_memory(len, "a broadcast"));
        let bytes = shim.byte_span(frame.as_mut_ptr(), len)?;
        // SAFETY: our own memory, which lives until the call returns.
        pass_on(unsafe { bytes.span() }, root, comm)?;
        frame
    };
    Ok(land(shim, &frame, true, &span).map(|_| ())?)
}

/// Allgather and Allgatherv, on all ranks: they exchange the lengths of their frames, then the MPI gathers frames, and uncompressed blocks. `mine`:
/// the block of this rank; `lens`: those of all `blocks`, in bytes.
pub(super) fn allgather(
    shim: &Shim,
    peers: &Peers,
    mine: Span,
    (blocks, lens): (&Blocks, &[usize]),
    comm: MPI_Comm,
) -> Result<Handed, Error> {
    let span = if mine.is_in_place() { blocks.of(peers.rank) } else { mine };
    let (room, raw) = (shim.engine.buffer(lens.iter().sum()), raw_word(shim));
    let message = Envelope::new(span, peers.rank, 0, comm);
    let frame = shim.shared_frame(&message, peers.spread.farthest(), peers.strategy());
    let is_frame = frame.is_some();
    let wire = frame.map_or_else(|| shim.plain_copy(&span), Ok);
    let said = match (&wire, &room) {
        (Ok(wire), Some(_)) => {
            if is_frame {
                wire.len() as u64
            } else {
                raw
            }
        }
        _ => NO_MEMORY,
    };
    let mut all = vec![0_u64; peers.ranks().len()];
    let (from, to) = ((&raw const said).cast(), all.as_mut_ptr().cast());
    // SAFETY: a number, and room for those of all ranks.
    called(unsafe { open::MPI_Allgather(from, 1, UINT64_T, to, 1, UINT64_T, comm) })?;
    let on_trial = all.contains(&ON_TRIAL);
    all.iter_mut().filter(|said| **said == ON_TRIAL).for_each(|said| *said = RAW);
    let shorter = all.iter().any(|said| *said != RAW) && !all.contains(&NO_MEMORY);
    let (Ok(wire), Some(mut room), true) = (wire, room, shorter) else { return Ok(left(on_trial)) };
    let (mut counts, mut places, mut end) = (Vec::new(), Vec::new(), 0);
    for (said, len) in all.iter().zip(lens) {
        let sent = if *said == RAW { *len as u64 } else { *said };
        counts.push(c_int::try_from(sent).map_err(|_| shim.damaged)?);
        places.push(c_int::try_from(end).map_err(|_| shim.damaged)?);
        end += usize::try_from(sent).map_err(|_| shim.damaged)?;
    }
    if end > room.room().len() {
        return Err(shim.damaged.into());
    }
    room.set_len(end);
    let (counts_at, places_at, to) = (counts.as_ptr(), places.as_ptr(), room.as_mut_ptr().cast());
    // SAFETY: the wire lives until the call returns; a buffer with room for all counts.
    called(unsafe {
        let sent = wire.span();
        // Its count is that of a `ByteSpan`, which fits.
        let (from, count) = (sent.ptr(), sent.count() as c_int);
        open::MPI_Allgatherv(from, count, sent.datatype(), to, counts_at, places_at, BYTE, comm)
    })?;
    let mut outcome = Ok(());
    for (rank, said) in peers.ranks().zip(all) {
        let at = rank as usize;
        let start = usize::try_from(places[at]).map_err(|_| shim.damaged)?;
        let block = room.get(start..start + counts[at].unsigned_abs() as usize).ok_or(shim.damaged)?;
        let landed = land(shim, block, said != RAW, &blocks.of(rank));
        outcome = outcome.and(landed.map(|_| ()));
    }
    Ok(outcome.map(|()| MADE)?)
}

/// The word that this rank sends for an uncompressed block.
fn raw_word(shim: &Shim) -> u64 {
    if shim.engine.is_on_trial() { ON_TRIAL } else { RAW }
}
