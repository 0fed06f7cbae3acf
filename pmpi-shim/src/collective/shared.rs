//! Broadcast and all-gather: what one rank sends passes through the hands of many. The MPI knows best how; it is given frames to
//! pass on, each made once.

use super::{Blocks, Group};
use crate::deliver::land;
use crate::span::{Envelope, Layout, Span};
use crate::state::Shim;
use crate::sys::*;
use crate::table::real;
use crate::wire::Wire;
use mpress::Buffer;
use std::ffi::{c_int, c_void};
use std::slice;
use std::sync::Arc;

/// A length that is no frame's: the block goes as it is.
const RAW: u64 = 0;
/// This rank has not enough memory: everything goes as it is.
const NO_MEMORY: u64 = u64::MAX;

/// Bcast. The root says how long the frame is; where there is none, the MPI's own call follows.
pub(crate) unsafe fn bcast(
    shim: &Shim,
    span: Span,
    root: c_int,
    comm: MPI_Comm,
    pass: impl Fn() -> c_int,
) -> c_int {
    let Some(peers) = shim.rooted_peers(comm, root, Some(span)) else { return pass() };
    let pause = &peers.collectives.bcast;
    if shim.refused(&span) || pause.takes() {
        return pass();
    }
    let mut shorter = false;
    let code = shim.collectively(comm, &peers.collectives, |group| {
        let message = Envelope::new(span, root, 0, comm);
        // SAFETY: the program's own span; all ranks make the same calls.
        unsafe {
            let wire = if group.rank == root { shim.shared_frame(&message) } else { None };
            let mut len = wire.as_ref().map_or(RAW, |wire| wire.len() as u64);
            ok(real::MPI_Bcast((&raw mut len).cast(), 1, UINT64, root, group.own))?;
            shorter = len != RAW;
            if !shorter {
                return Ok(());
            }
            let len = usize::try_from(len).map_err(|_| shim.damaged)?;
            match wire {
                Some(wire) => ok(pass_on(wire.ptr(), wire.count(), wire.datatype(), root, group)),
                None => receive_frame(shim, &span, len, root, group),
            }
        }
    });
    pause.learn(shorter);
    if code == SUCCESS && !shorter { pass() } else { code }
}

unsafe fn pass_on(
    ptr: *const c_void,
    count: c_int,
    datatype: MPI_Datatype,
    root: c_int,
    group: &Group,
) -> c_int {
    // SAFETY: the caller vouches for the memory.
    unsafe { real::MPI_Bcast(ptr.cast_mut(), count, datatype, root, group.own) }
}

/// A frame is shorter than its message: where the program's buffer is in one piece, it serves for both.
unsafe fn receive_frame(
    shim: &Shim,
    span: &Span,
    len: usize,
    root: c_int,
    group: &Group,
) -> Result<(), c_int> {
    let capacity = span.bytes().unwrap_or(0);
    let in_place = matches!(shim.layout(span), Layout::Contiguous(_)) && len <= capacity;
    // SAFETY: memory of `len` bytes, the program's or ours.
    unsafe {
        let frame = if in_place {
            let bytes = shim.byte_span(span.ptr.cast(), len)?;
            ok(pass_on(bytes.span.ptr, bytes.count(), bytes.span.datatype, root, group))?;
            let mut frame = buffer(shim, len)?;
            frame.copy_from_slice(slice::from_raw_parts(span.ptr.cast::<u8>(), len));
            frame
        } else {
            let mut frame = buffer(shim, len)?;
            let bytes = shim.byte_span(frame.as_mut_ptr(), len)?;
            ok(pass_on(bytes.span.ptr, bytes.count(), bytes.span.datatype, root, group))?;
            frame
        };
        land(shim, &frame, true, span, capacity).map(|_| ())
    }
}

/// Allgather and Allgatherv: all ranks say how long their frames are, then the MPI gathers frames, and blocks that are none.
/// `mine`: the block of this rank. All ranks know the lengths of all `blocks`.
pub(crate) unsafe fn allgather(
    shim: &Shim,
    mine: Span,
    blocks: impl Blocks,
    comm: MPI_Comm,
    pass: impl Fn() -> c_int,
) -> c_int {
    let Some(peers) = shim.collective_peers(comm) else { return pass() };
    let pause = &peers.collectives.allgather;
    let lens: Option<Vec<usize>> = (0..peers.size()).map(|rank| blocks(rank).bytes()).collect();
    // The MPI's counts and places are ints.
    let Some(lens) = lens.filter(|lens| {
        lens.iter().any(|len| *len >= shim.threshold)
            && lens
                .iter()
                .try_fold(0_usize, |sum, len| sum.checked_add(*len))
                .is_some_and(|sum| c_int::try_from(sum).is_ok())
    }) else {
        return pass();
    };
    if pause.takes() {
        return pass();
    }
    let mut shorter = false;
    let code = shim.collectively(comm, &peers.collectives, |group| {
        let span = if mine.ptr == IN_PLACE { blocks(group.rank) } else { mine };
        // SAFETY: the program's own spans; all ranks make the same calls.
        unsafe {
            let room = shim.engine.buffer(lens.iter().sum());
            let wire = shim.own_block(&Envelope::new(span, group.rank, 0, comm));
            let said = match (&wire, &room) {
                (Ok((_, true)), Some(_)) => wire.as_ref().map_or(RAW, |(wire, _)| wire.len() as u64),
                (Ok((_, false)), Some(_)) => RAW,
                _ => NO_MEMORY,
            };
            let mut all = vec![0_u64; lens.len()];
            ok(real::MPI_Allgather(
                (&raw const said).cast(),
                1,
                UINT64,
                all.as_mut_ptr().cast(),
                1,
                UINT64,
                group.own,
            ))?;
            shorter = all.iter().any(|said| *said != RAW) && !all.contains(&NO_MEMORY);
            let (Ok((wire, _)), Some(room), true) = (wire, room, shorter) else { return Ok(()) };
            gather_frames(shim, group, &wire, &all, &lens, room, &blocks)
        }
    });
    pause.learn(shorter);
    if code == SUCCESS && !shorter { pass() } else { code }
}

/// Gathers what the ranks have said they send, and puts it where the program wants it.
unsafe fn gather_frames(
    shim: &Shim,
    group: &Group,
    wire: &Wire,
    said: &[u64],
    lens: &[usize],
    mut room: Buffer,
    blocks: &impl Blocks,
) -> Result<(), c_int> {
    let (mut counts, mut places, mut end) = (Vec::new(), Vec::new(), 0);
    for (said, len) in said.iter().zip(lens) {
        let sent = if *said == RAW { *len as u64 } else { *said };
        counts.push(c_int::try_from(sent).map_err(|_| shim.damaged)?);
        places.push(c_int::try_from(end).map_err(|_| shim.damaged)?);
        end += usize::try_from(sent).map_err(|_| shim.damaged)?;
    }
    if end > room.room().len() {
        return Err(shim.damaged);
    }
    room.set_len(end);
    // SAFETY: room for all that the counts say.
    unsafe {
        ok(real::MPI_Allgatherv(
            wire.ptr(),
            wire.count(),
            wire.datatype(),
            room.as_mut_ptr().cast(),
            counts.as_ptr(),
            places.as_ptr(),
            BYTE,
            group.own,
        ))?;
    }
    let mut outcome = Ok(());
    for (rank, (said, len)) in group.ranks().zip(said.iter().zip(lens)) {
        let at = rank as usize;
        let start = usize::try_from(places[at]).map_err(|_| shim.damaged)?;
        let block = room.get(start..start + counts[at].unsigned_abs() as usize).ok_or(shim.damaged)?;
        // SAFETY: a block of the program's buffer; the wire is ours.
        let landed = unsafe { land(shim, block, *said != RAW, &blocks(rank), *len) };
        outcome = outcome.and(landed.map(|_| ()));
    }
    outcome
}

fn buffer(shim: &Shim, len: usize) -> Result<Buffer, c_int> {
    let mut buffer = shim.engine.buffer(len).ok_or(ERR_NO_MEM)?;
    buffer.set_len(len);
    Ok(buffer)
}

impl Shim {
    /// What a rank gives to an all-gather, and whether it is a frame.
    ///
    /// # Safety
    /// The message must be what the program gave.
    unsafe fn own_block(&self, message: &Envelope) -> Result<(Arc<Wire>, bool), c_int> {
        // SAFETY: the caller vouches for the message.
        unsafe {
            match self.shared_frame(message) {
                Some(wire) => Ok((wire, true)),
                None => Ok((self.plain_copy(message, message.span.bytes().unwrap_or(0))?, false)),
            }
        }
    }
}
