//! Messages that refer to earlier ones of their channel.

use crate::engine::encode;
use crate::error::{Error, guard};
use crate::memory::{self, Answer};
use crate::{mpress_engine, mpress_frame, mpress_settings, mpress_status};
use mpress::Channel;
use std::ffi::{c_int, c_void};
use std::ptr;

/// Creates an engine like mpress_engine_new, with a memory of messages: mpress_engine_encode_on may
/// encode a message by its differences from an earlier one that the receiver keeps. `rank` is the
/// number of this process among the `size` processes that exchange frames, from 0, as in
/// MPI_COMM_WORLD. The engine keeps at most MPRESS_MEMORY bytes of messages, half of them sent, half
/// received; it never refers to others if that is 0. Free `*engine` with mpress_engine_free; on an
/// error it is NULL. Thread-safe.
///
/// With such an engine, decode each frame once, with mpress_engine_decode, or give it to
/// mpress_engine_refuse. The order does not matter.
///
/// # Errors
/// MPRESS_STATUS_SETTINGS as for mpress_engine_new. MPRESS_STATUS_ARGUMENT, also if `rank` is not one
/// of `size` processes.
///
/// # Safety
/// `settings` is NULL or not freed yet; `mark` is NULL or readable for MPRESS_MARK_LEN bytes;
/// `engine` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mpress_engine_with_memory(
    settings: Option<&mpress_settings>,
    mark: *const u8,
    rank: c_int,
    size: c_int,
    engine: *mut *mut mpress_engine,
) -> mpress_status {
    guard(|| {
        // SAFETY: guaranteed by the caller.
        let answer = unsafe { Answer::at(engine, "engine", ptr::null_mut()) }?;
        let wrong = || Error::argument(format!("no process has rank {rank} of {size}"));
        let ranks = u32::try_from(size).map_err(|_| wrong())?;
        let own = u32::try_from(rank).ok().filter(|own| *own < ranks).ok_or_else(wrong)?;
        // SAFETY: guaranteed by the caller.
        let made = unsafe { mpress_engine::make(settings, mark) }?;
        answer.give(mpress_engine {
            engine: made.engine.with_memory(&made.settings, own, ranks),
            ranks: Some(ranks),
            ..made
        });
        Ok(())
    })
}

/// Creates the frame of a message like mpress_engine_encode, for the process with rank `peer`. If
/// the engine was created by mpress_engine_with_memory, the message may refer to an earlier one of
/// its channel, given by `peer`, `context` (any number for the communicator) and `tag`. So messages
/// of at most 1 MiB that resemble earlier ones of the same channel and length make shorter frames,
/// once frames in the other direction, including those of this function, have told this engine what
/// the receiver keeps.
///
/// Send the frame to that process only, once. Its engine must have been created with that rank. The
/// message is copied, so it may change after the call. Thread-safe.
///
/// # Errors
/// MPRESS_STATUS_ARGUMENT, also if `peer` is negative, or not less than the `size` of
/// mpress_engine_with_memory.
///
/// # Safety
/// `engine` is NULL or not freed yet; `message` is readable for `len` bytes, or NULL if `len` is 0;
/// `frame` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mpress_engine_encode_on(
    engine: Option<&mpress_engine>,
    message: *const c_void,
    len: usize,
    kind: c_int,
    to: c_int,
    peer: c_int,
    context: u64,
    tag: c_int,
    frame: *mut *mut mpress_frame,
) -> mpress_status {
    let channel = |engine: &mpress_engine| {
        let rank = u32::try_from(peer).ok().filter(|rank| engine.ranks.is_none_or(|ranks| *rank < ranks));
        let peer = rank.ok_or_else(|| Error::argument(format!("no process has rank {peer}")))?;
        Ok(Some(Channel { peer, context, tag }))
    };
    // SAFETY: guaranteed by the caller.
    guard(|| unsafe { encode(engine, (message, len), (kind, to), channel, frame) })
}

/// Reports that a frame of `len` bytes came, but its message will not be decoded, for example because
/// it is longer than the program's memory for it (MPRESS_STATUS_ROOM). Without that, its sender would
/// wait for news of this message, and the receiver would keep what it refers to until the job ends.
/// The call is not needed after mpress_engine_decode has succeeded, or failed with
/// MPRESS_STATUS_DAMAGED; it then changes nothing, nor does it for a frame that is not from
/// mpress_engine_encode_on. Thread-safe.
///
/// # Errors
/// MPRESS_STATUS_DAMAGED if it is not a complete frame of this job, MPRESS_STATUS_UNSUPPORTED,
/// MPRESS_STATUS_ARGUMENT.
///
/// # Safety
/// `engine` is NULL or not freed yet; `frame` is readable for `len` bytes, or NULL if `len` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mpress_engine_refuse(
    engine: Option<&mpress_engine>,
    frame: *const c_void,
    len: usize,
) -> mpress_status {
    guard(|| {
        let engine = engine.ok_or_else(|| Error::null("engine"))?;
        // SAFETY: guaranteed by the caller.
        let frame = unsafe { memory::bytes(frame, len, "frame") }?;
        engine.engine.refuse(&engine.engine.open(frame)?);
        Ok(())
    })
}
