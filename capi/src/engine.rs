//! The engine: turns messages into frames and frames into messages.

use crate::error::{Error, guard};
use crate::kind;
use crate::memory::{self, Answer};
use crate::{MPRESS_MARK_LEN, mpress_settings, mpress_status};
use mpress::selector::Link;
use mpress::{Buffer, Channel, Engine, Incoming, Knowledge, Mark, Record, Settings, Strategy};
use std::ffi::{c_int, c_void};
use std::ptr;
use std::time::{Duration, Instant};

/// Compresses messages and counts the gain. One per process, for all its threads.
pub struct mpress_engine {
    pub(crate) engine: Engine,
    pub(crate) settings: Settings,
    pub(crate) start: Instant,
    /// The number of processes, if the engine has a memory of their messages.
    pub(crate) ranks: Option<u32>,
}

/// A message in its compressed form for sending.
pub struct mpress_frame {
    pub(crate) bytes: Buffer,
}

/// Creates an engine with these settings, or with the defaults if `settings` is NULL. It reads the
/// files named in the settings. `mark` is that of the job (mpress_handshake_mark). If `mark` is
/// NULL, the engine uses a fixed one; this is for tests, since a message with these bytes at its
/// start would be mistaken for a frame. Free `*engine` with mpress_engine_free; on an error it is
/// NULL. Thread-safe.
///
/// The engine assumes a network of 1 Gbit/s until it knows better: from mpress_engine_set_link or
/// mpress_engine_waited.
///
/// With the adaptive strategy an engine makes trials by the clock, unless MPRESS_CLOCK is off: from
/// a quarter of a second after this call on, it occasionally has all messages sent unchanged for 31 or
/// 125 ms, to measure whether compression gains anything; if it does not, all messages are sent
/// unchanged. So create the engines of all processes at the same time, ideally right after the handshake.
///
/// # Errors
/// MPRESS_STATUS_SETTINGS if a file named by MPRESS_HEURISTICS or MPRESS_GUIDE cannot be used.
/// MPRESS_STATUS_ARGUMENT.
///
/// # Safety
/// `settings` is NULL or not freed yet; `mark` is NULL or readable for MPRESS_MARK_LEN bytes;
/// `engine` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mpress_engine_new(
    settings: Option<&mpress_settings>,
    mark: *const u8,
    engine: *mut *mut mpress_engine,
) -> mpress_status {
    guard(|| {
        // SAFETY: guaranteed by the caller.
        let answer = unsafe { Answer::at(engine, "engine", ptr::null_mut()) }?;
        // SAFETY: guaranteed by the caller.
        answer.give(unsafe { mpress_engine::make(settings, mark) }?);
        Ok(())
    })
}

impl mpress_engine {
    /// An engine without a memory.
    ///
    /// # Safety
    /// `mark` is NULL or readable for [`MPRESS_MARK_LEN`] bytes.
    pub(crate) unsafe fn make(settings: Option<&mpress_settings>, mark: *const u8) -> Result<Self, Error> {
        let len = if mark.is_null() { 0 } else { MPRESS_MARK_LEN };
        // SAFETY: guaranteed by the caller.
        let mark = unsafe { memory::slice(mark, len, "mark") }?;
        let settings = settings.map(mpress_settings::get).unwrap_or_default();
        let engine = by(&settings)?;
        let engine = match mark.first_chunk() {
            Some(mark) => engine.with_mark(Mark(*mark)),
            None => engine,
        };
        Ok(Self { engine, settings, start: Instant::now(), ranks: None })
    }
}

/// An engine with these settings and the files that they name.
fn by(settings: &Settings) -> Result<Engine, Error> {
    let wrong = |text: String| Error::new(mpress_status::Settings, text);
    let (knowledge, errors) = settings.heuristics.as_deref().map(Knowledge::read).unwrap_or_default();
    if let Some(error) = errors.first() {
        return Err(wrong(format!("{}: {}", error.file.display(), error.why)));
    }
    // The other strategies write this file.
    let guide = settings.guide.as_deref().filter(|_| settings.strategy == Strategy::Guided);
    let record = guide.map(Record::read).transpose().map_err(wrong)?;
    let strategy = if settings.disable { Strategy::Off } else { settings.strategy };
    Ok(Engine::new(&Settings { strategy, ..settings.clone() }, &knowledge, record.as_ref()))
}

/// Sets the known properties of the network: the latency in microseconds, and the bandwidth that
/// one process gets while the others send too, in MB/s (10^6 bytes per second). Thread-safe.
///
/// # Errors
/// MPRESS_STATUS_ARGUMENT, also if the values are implausible: the latency must be from 0 to 10^7,
/// the bandwidth from 0.001 to 10^7.
#[unsafe(no_mangle)]
pub extern "C" fn mpress_engine_set_link(
    engine: Option<&mpress_engine>,
    latency_us: f64,
    bandwidth_mb_s: f64,
) -> mpress_status {
    guard(|| {
        let engine = engine.ok_or_else(|| Error::null("engine"))?;
        let link = Link { latency_us, bandwidth_mb_s };
        if !link.is_sane() {
            return Err(Error::argument(format!("no network has {latency_us} us and {bandwidth_mb_s} MB/s")));
        }
        engine.engine.set_link(link);
        Ok(())
    })
}

/// Reports that this process waited for `nanoseconds`, in calls that did nothing else, while frames
/// of `sent` bytes were sent to other nodes and frames of `received` bytes were received from them.
/// Count only frames of 32 KiB or more: shorter ones wait for other things than bandwidth. From
/// this the adaptive strategy learns the speed of the network. Optional. Thread-safe.
///
/// # Errors
/// MPRESS_STATUS_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn mpress_engine_waited(
    engine: Option<&mpress_engine>,
    sent: usize,
    received: usize,
    nanoseconds: u64,
) -> mpress_status {
    guard(|| {
        let engine = engine.ok_or_else(|| Error::null("engine"))?;
        // Lengths greater than any memory could overflow in sums.
        let most = isize::MAX.cast_unsigned() / 2;
        if sent > most || received > most {
            return Err(Error::argument("no frames have that many bytes"));
        }
        engine.engine.waited(sent, received, Duration::from_nanos(nanoseconds));
        Ok(())
    })
}

/// Creates the frame of a message of `len` bytes. `kind` is an mpress_kind, `to` an
/// mpress_destination.
///
/// `*frame` is NULL, with success, if the message is to be sent unchanged: because it is short,
/// does not become smaller, or because of the strategy, perhaps only temporarily
/// (mpress_engine_new). Otherwise send the bytes from mpress_frame_bytes instead, and free the frame
/// with mpress_frame_free after they have been sent. A frame is always shorter than its message, so
/// it fits wherever the message is received. On an error `*frame` is NULL, too. Thread-safe.
///
/// # Errors
/// MPRESS_STATUS_ARGUMENT.
///
/// # Safety
/// `engine` is NULL or not freed yet; `message` is readable for `len` bytes, or NULL if `len` is 0;
/// `frame` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mpress_engine_encode(
    engine: Option<&mpress_engine>,
    message: *const c_void,
    len: usize,
    kind: c_int,
    to: c_int,
    frame: *mut *mut mpress_frame,
) -> mpress_status {
    // SAFETY: guaranteed by the caller.
    guard(|| unsafe { encode(engine, (message, len), (kind, to), |_| Ok(None), frame) })
}

/// Creates the frame of a message, on this channel if there is one.
///
/// # Safety
/// As for [`mpress_engine_encode`].
pub(crate) unsafe fn encode(
    engine: Option<&mpress_engine>,
    (message, len): (*const c_void, usize),
    (kind, to): (c_int, c_int),
    channel: impl FnOnce(&mpress_engine) -> Result<Option<Channel>, Error>,
    frame: *mut *mut mpress_frame,
) -> Result<(), Error> {
    // SAFETY: guaranteed by the caller.
    let answer = unsafe { Answer::at(frame, "frame", ptr::null_mut()) }?;
    let engine = engine.ok_or_else(|| Error::null("engine"))?;
    let (kind, to) = (kind::kind(kind)?, kind::destination(to)?);
    let channel = channel(engine)?;
    // SAFETY: guaranteed by the caller.
    let message = unsafe { memory::bytes(message, len, "message") }?;
    let considered = engine.engine.consider(None, kind, to, len);
    let considered = considered.map(|known| match channel {
        Some(channel) => known.on(channel),
        None => known,
    });
    if let Some(bytes) = considered.and_then(|known| engine.engine.encode_considered(known, message)) {
        answer.give(mpress_frame { bytes });
    }
    Ok(())
}

/// Stores in `*data` and `*len` the address and the number of a frame's bytes. They belong to the
/// frame, and are valid until it is freed. Thread-safe.
///
/// # Errors
/// MPRESS_STATUS_ARGUMENT; `*data` is NULL and `*len` 0 then.
///
/// # Safety
/// `frame` is NULL or not freed yet; `data` and `len` are NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mpress_frame_bytes(
    frame: Option<&mpress_frame>,
    data: *mut *const c_void,
    len: *mut usize,
) -> mpress_status {
    guard(|| {
        // SAFETY: guaranteed by the caller.
        let (data, len) = unsafe { (Answer::at(data, "data", ptr::null())?, Answer::at(len, "len", 0)?) };
        let frame = frame.ok_or_else(|| Error::null("frame"))?;
        data.store(frame.bytes.as_ptr().cast());
        len.store(frame.bytes.len());
        Ok(())
    })
}

/// Frees a frame, which may outlive its engine. NULL is allowed. Nothing may be reading its bytes.
#[unsafe(no_mangle)]
pub extern "C" fn mpress_frame_free(frame: Option<Box<mpress_frame>>) {
    guard(|| {
        drop(frame);
        Ok(())
    });
}

/// Whether a frame can have this length in bytes. Data of any other length is an unchanged message
/// and needs no further check. Thread-safe.
#[unsafe(no_mangle)]
pub extern "C" fn mpress_may_be_frame(len: usize) -> bool {
    mpress::may_be_frame(len)
}

/// Stores in `*is_frame` whether the `len` received bytes are a frame of this job, possibly
/// damaged. Otherwise they are the message itself. Thread-safe.
///
/// # Errors
/// MPRESS_STATUS_ARGUMENT; `*is_frame` is false then.
///
/// # Safety
/// `engine` is NULL or not freed yet; `received` is readable for `len` bytes, or NULL if `len` is
/// 0; `is_frame` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mpress_engine_is_frame(
    engine: Option<&mpress_engine>,
    received: *const c_void,
    len: usize,
    is_frame: *mut bool,
) -> mpress_status {
    guard(|| {
        // SAFETY: guaranteed by the caller.
        let answer = unsafe { Answer::at(is_frame, "is_frame", false) }?;
        let engine = engine.ok_or_else(|| Error::null("engine"))?;
        // SAFETY: guaranteed by the caller.
        let received = unsafe { memory::bytes(received, len, "received") }?;
        answer.store(engine.engine.is_frame(received));
        Ok(())
    })
}

impl mpress_engine {
    fn open<'a>(&self, frame: &'a [u8]) -> Result<Incoming<'a>, Error> {
        let incoming = self.engine.open(frame)?;
        if incoming.stream().is_some() {
            let text = "the frame begins a message in chunks, which the C interface does not support";
            return Err(Error::new(mpress_status::Unsupported, text));
        }
        Ok(incoming)
    }
}

/// Checks a frame, and stores in `*message_len` the length of its message in bytes. This is the
/// length stated in the frame: up to 2^48 - 1, for a frame of any length. So check that it is
/// plausible before allocating memory. Thread-safe.
///
/// # Errors
/// MPRESS_STATUS_DAMAGED if it is not a complete frame of this job, MPRESS_STATUS_UNSUPPORTED,
/// MPRESS_STATUS_ARGUMENT; `*message_len` is 0 then.
///
/// # Safety
/// `engine` is NULL or not freed yet; `frame` is readable for `len` bytes, or NULL if `len` is 0;
/// `message_len` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mpress_engine_message_len(
    engine: Option<&mpress_engine>,
    frame: *const c_void,
    len: usize,
    message_len: *mut usize,
) -> mpress_status {
    guard(|| {
        // SAFETY: guaranteed by the caller.
        let answer = unsafe { Answer::at(message_len, "message_len", 0) }?;
        let engine = engine.ok_or_else(|| Error::null("engine"))?;
        // SAFETY: guaranteed by the caller.
        let frame = unsafe { memory::bytes(frame, len, "frame") }?;
        answer.store(engine.open(frame)?.raw_len());
        Ok(())
    })
}

/// Decodes a frame of `len` bytes into the memory of `room` bytes at `message`, and stores in
/// `*message_len` the length of the message in bytes. Memory beyond that is not modified. The
/// memory must not overlap the frame.
///
/// The frame may contain anything: there is an error, or the message that was sent, except for
/// damage that a CRC-32 does not detect. Thread-safe.
///
/// # Errors
/// MPRESS_STATUS_ROOM if the message is longer than `room`: `*message_len` is its length, and
/// nothing was written. MPRESS_STATUS_DAMAGED if it is not a complete frame of this job, or refers to
/// an earlier message that this engine does not keep (mpress_engine_encode_on).
/// MPRESS_STATUS_UNSUPPORTED if this library lacks its codec. MPRESS_STATUS_ARGUMENT. The contents of
/// `message` are then undefined.
///
/// # Safety
/// `engine` is NULL or not freed yet. `frame` is readable for `len` bytes and `message` writable
/// for `room` bytes; either may be NULL if its length is 0. `message_len` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mpress_engine_decode(
    engine: Option<&mpress_engine>,
    frame: *const c_void,
    len: usize,
    message: *mut c_void,
    room: usize,
    message_len: *mut usize,
) -> mpress_status {
    guard(|| {
        // SAFETY: guaranteed by the caller.
        let answer = unsafe { Answer::at(message_len, "message_len", 0) }?;
        let engine = engine.ok_or_else(|| Error::null("engine"))?;
        memory::apart((frame, len), (message, room))?;
        // SAFETY: guaranteed by the caller; they do not overlap.
        let (frame, message) =
            unsafe { (memory::bytes(frame, len, "frame")?, memory::room(message, room, "message")?) };
        let incoming = engine.open(frame)?;
        let needed = incoming.raw_len();
        let Some(message) = message.get_mut(..needed) else {
            answer.store(needed);
            return Err(Error::room(needed, room));
        };
        engine.engine.decode(&incoming, message)?;
        answer.store(needed);
        Ok(())
    })
}

/// Frees an engine. NULL is allowed. No other call may be using the engine; its frames stay valid.
#[unsafe(no_mangle)]
pub extern "C" fn mpress_engine_free(engine: Option<Box<mpress_engine>>) {
    guard(|| {
        drop(engine);
        Ok(())
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpress::{CodecId, Destination, FrameError, Kind, Outgoing};

    #[test]
    fn frames_that_are_not_supported_are_known() {
        let settings = Settings { strategy: "fixed:diffpack-fast".parse().unwrap(), ..Settings::default() };
        let engine = Engine::new(&settings, &Knowledge::default(), None).with_streams(&settings);
        let engine = mpress_engine { engine, settings, start: Instant::now(), ranks: None };
        let raw: Vec<u8> = (0..65_536).flat_map(|i| f64::from(i).to_le_bytes()).collect();
        let considered = engine.engine.consider(None, Kind::F64, Destination::OtherNode, raw.len()).unwrap();
        let chunk = engine.engine.chunk(raw.len()).unwrap();
        let Outgoing::Stream(head, _) = engine.engine.begin(considered, &raw, 1, Some(chunk)) else {
            panic!("no message in chunks")
        };
        let (frame, mut out, mut len) = (head.as_ptr().cast(), vec![0_u8; raw.len()], 7);
        // SAFETY: the bytes of a frame, memory of its length, and a place for a length.
        unsafe {
            let status = mpress_engine_message_len(Some(&engine), frame, head.len(), &raw mut len);
            assert_eq!((status, len), (mpress_status::Unsupported, 0));
            let room = out.as_mut_ptr().cast();
            let status =
                mpress_engine_decode(Some(&engine), frame, head.len(), room, out.len(), &raw mut len);
            assert_eq!((status, len), (mpress_status::Unsupported, 0));
        }
        let unknown = guard(|| Err(FrameError::Codec(CodecId(200)).into()));
        assert_eq!(unknown, mpress_status::Unsupported);
    }
}
