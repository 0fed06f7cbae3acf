//! Frames: how they are built, parsed and checked for damage. Layout and rules: `docs/format/frame.md`.

mod header;
mod note;

use header::MAX_RAW_LEN;
pub(crate) use header::VERSION;
pub use header::{HEADER_LEN, Header, Mark};
pub(crate) use note::{NOTE, Note};

use crate::buffer::Buffer;
use crate::stream::{FRONT, Stream};
use mpress_codec::{CodecId, DecodeError, DecodeErrorKind, Kind};

/// The position of the check.
const CHECK: std::ops::Range<usize> = Header::CHECK;

/// Messages shorter than this number of bytes are never sent in frames. The threshold is cMPI's (section 2.4).
pub const FLOOR: usize = 1024;

/// The length of the shortest frame. Shorter messages, and receives into shorter buffers, need no check.
pub const SHORTEST: usize = 1021;

/// The remainder of a frame's length modulo [`STEP`], which no array of elements of 2, 4 or 8 bytes has.
const REMAINDER: usize = 5;
const STEP: usize = 8;
const _: () = assert!(SHORTEST % STEP == REMAINDER && SHORTEST < FLOOR && SHORTEST > HEADER_LEN);

/// Whether a frame may have this length.
#[must_use]
pub const fn may_be_frame(len: usize) -> bool {
    len >= SHORTEST && len % STEP == REMAINDER
}

/// The length of the frame for a payload of this length.
#[must_use]
pub const fn frame_len(payload: usize) -> usize {
    let len = if HEADER_LEN + payload < SHORTEST { SHORTEST } else { HEADER_LEN + payload };
    len + (STEP + REMAINDER - len % STEP) % STEP
}

/// The room for a frame with a payload of at most this length, and a note.
pub(crate) fn room(payload: usize) -> Option<usize> {
    Some(payload.checked_add(HEADER_LEN + NOTE + STEP)?.max(SHORTEST))
}

/// Whether a frame with a payload of this length and any note is shorter than its message.
pub(crate) fn has_room_for_note(payload: usize, raw_len: usize) -> bool {
    frame_len(payload + NOTE) < raw_len
}

/// A frame that cannot be opened or decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The bytes are not a complete, undamaged frame.
    #[error("damaged frame: {0}")]
    Damaged(DecodeError),
    /// A codec that this build does not have.
    #[error("frame of unknown codec {}", .0.0)]
    Codec(CodecId),
    /// The message refers to an earlier one that is not here.
    #[error("frame that refers to message {0}, which is not here")]
    Reference(u32),
}

impl FrameError {
    pub(crate) const fn damaged(kind: DecodeErrorKind, offset: usize) -> Self {
        Self::Damaged(DecodeError::new(kind, offset))
    }
}

/// A received frame that has passed its check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incoming<'a> {
    pub(crate) codec: CodecId,
    pub(crate) kind: Kind,
    /// The setting with which the codec was used.
    pub(crate) setting: u8,
    raw_len: usize,
    pub(crate) note: Option<Note>,
    pub(crate) payload: &'a [u8],
    stream: Option<Stream>,
}

impl<'a> Incoming<'a> {
    /// Checks a frame.
    pub(crate) fn open(mark: Mark, frame: &'a [u8]) -> Result<Self, FrameError> {
        let header = Header::parse(frame).map_err(FrameError::Damaged)?;
        if header.mark != mark {
            return Err(FrameError::damaged(DecodeErrorKind::Corrupt, 0));
        }
        if check(frame) != header.check {
            return Err(FrameError::damaged(DecodeErrorKind::Corrupt, CHECK.start));
        }
        if !may_be_frame(frame.len()) {
            return Err(FrameError::damaged(DecodeErrorKind::Length, frame.len()));
        }
        let raw_len = usize::try_from(header.raw_len).ok().filter(|&len| len > frame.len());
        let raw_len = raw_len.ok_or(FrameError::damaged(DecodeErrorKind::Length, 24))?;
        let Header { codec, kind, setting, .. } = header;
        let (payload, note) =
            split(frame, &header).ok_or(FrameError::damaged(DecodeErrorKind::Corrupt, 30))?;
        let whole = Self { codec, kind, setting, raw_len, note, payload, stream: None };
        if codec != CodecId::STREAM {
            return Ok(whole);
        }
        let (stream, payload) = Stream::open(kind, setting, raw_len, payload)?;
        Ok(Self { codec: stream.codec, payload, stream: Some(stream.with_note(note)), ..whole })
    }

    /// The stream of a frame of which only the front is used; the frame cannot be checked then.
    pub(crate) fn torn(mark: Mark, front: &[u8]) -> Option<Stream> {
        let header = Header::parse(front).ok()?;
        let raw_len = usize::try_from(header.raw_len).ok()?;
        if header.mark != mark || header.codec != CodecId::STREAM {
            return None;
        }
        Some(Stream::open(header.kind, header.setting, raw_len, front.get(HEADER_LEN..FRONT)?).ok()?.0)
    }

    /// The stream whose head this frame is. Such a frame contains only the first chunk of its message.
    #[must_use]
    pub fn stream(&self) -> Option<Stream> {
        self.stream
    }

    /// Length of the message in bytes.
    #[must_use]
    pub fn raw_len(&self) -> usize {
        self.raw_len
    }
}

/// The payload of a frame and its note; `None` if there is no room for them, or it may not have such a note.
fn split<'a>(frame: &'a [u8], header: &Header) -> Option<(&'a [u8], Option<Note>)> {
    let end = frame.len().checked_sub(header.padding.into())?;
    let at = end.checked_sub(header.note.into())?;
    let note = match header.note {
        0 => None,
        _ => Some(Note::parse(frame.get(at..end)?).filter(|_| header.codec != CodecId::BLOCKS)?),
    };
    Some((frame.get(HEADER_LEN..at)?, note))
}

/// Completes `frame`: adds the note and padding, and fills in the header. It consists of room for a header and the compressed message, followed by
/// [`room`]. `None` if it may not be shorter than the message, or if the message is too long for a frame; then `note` has not been called, or has
/// found none.
pub(crate) fn seal(
    mark: Mark,
    codec: CodecId,
    setting: u8,
    kind: Kind,
    raw_len: usize,
    note: Option<impl FnOnce() -> Option<Note>>,
    frame: &mut Buffer,
) -> Option<()> {
    let payload_end = frame.len();
    let payload = payload_end.checked_sub(HEADER_LEN)?;
    let message = u64::try_from(raw_len).ok().filter(|len| *len <= MAX_RAW_LEN)?;
    // A note must be sent, so it is made only if there is room for the longest one.
    let is_shorter = match note {
        Some(_) => has_room_for_note(payload, raw_len),
        None => frame_len(payload) < raw_len,
    };
    if !is_shorter {
        return None;
    }
    let (wire, note) = note.map_or(Some(([0; NOTE], 0)), |note| Some(note()?.to_wire()))?;
    let len = frame_len(payload + note);
    frame.set_len(len);
    let (room, rest) = frame.get_mut(payload_end..)?.split_at_mut_checked(note)?;
    room.copy_from_slice(wire.get(..note)?);
    rest.fill(0);
    let padding = u16::try_from(len - payload_end - note).ok()?;
    let note = u8::try_from(note).ok()?;
    let mut header = Header { mark, codec, kind, setting, raw_len: message, note, padding, check: 0 };
    frame.first_chunk_mut()?.clone_from(&header.to_bytes()?);
    header.check = check(frame);
    frame.first_chunk_mut()?.clone_from(&header.to_bytes()?);
    Some(())
}

/// For a frame without a note.
pub(crate) const NO_NOTE: Option<fn() -> Option<Note>> = None;

/// The check of a frame; ignores the contents of its check field.
fn check(frame: &[u8]) -> u32 {
    let (before, after) = (frame.get(..CHECK.start), frame.get(CHECK.end..));
    crc(&[before.unwrap_or_default(), &[0; CHECK.end - CHECK.start], after.unwrap_or_default()])
}

/// The CRC-32 of the concatenated parts.
pub(crate) fn crc(parts: &[&[u8]]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    parts.iter().for_each(|part| crc.update(part));
    crc.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Pool;
    use std::sync::Arc;

    #[test]
    #[cfg(target_pointer_width = "64")] // elsewhere no message is that long
    fn a_message_too_long_for_the_header_gets_no_frame() {
        let sealed = |raw_len: u64| {
            let mut frame = Arc::new(Pool::default()).take(2 * SHORTEST).unwrap();
            frame.set_len(HEADER_LEN + 100);
            seal(Mark(*b"any mark"), CodecId::DFCM_F64, 0, Kind::F64, raw_len as usize, NO_NOTE, &mut frame)?;
            Some(Header::parse(&frame).unwrap().raw_len)
        };
        for raw_len in [5000, MAX_RAW_LEN] {
            assert_eq!(sealed(raw_len), Some(raw_len));
        }
        for raw_len in [MAX_RAW_LEN + 1, MAX_RAW_LEN + 5000, u64::MAX] {
            assert_eq!(sealed(raw_len), None, "{raw_len} bytes");
        }
    }
}
