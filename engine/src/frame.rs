//! Frames: what goes out, what comes in, and the check that tells a whole one from a damaged one.
//! Layout and rules: `docs/format/frame.md`.

use crate::buffer::Buffer;
use mpress_codec::frame::{Header, MAX_RAW_LEN};
use mpress_codec::{CodecId, DecodeError, DecodeErrorKind, Kind};

pub use mpress_codec::frame::HEADER_LEN;

/// Messages shorter than this many bytes are never framed, and no frame is shorter. So a receiver that sees fewer
/// bytes knows them for a plain message. The threshold is cMPI's (section 2.4).
pub const FLOOR: usize = 1024;

/// A message ready to be sent.
#[derive(Debug)]
pub enum Frame {
    /// Send this header, and behind it the message itself.
    Raw([u8; HEADER_LEN]),
    /// Send these bytes.
    Packed(Buffer),
}

/// A frame that cannot be opened or decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The bytes are no whole, undamaged frame.
    #[error("damaged frame: {0}")]
    Damaged(DecodeError),
    /// A codec that this build does not have.
    #[error("frame of unknown codec {}", .0.0)]
    Codec(CodecId),
}

impl FrameError {
    pub(crate) const fn damaged(kind: DecodeErrorKind, offset: usize) -> Self {
        Self::Damaged(DecodeError::new(kind, offset))
    }
}

/// A frame that came in and passed its check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incoming {
    pub(crate) codec: CodecId,
    pub(crate) kind: Kind,
    raw_len: usize,
    payload_len: usize,
}

impl Incoming {
    /// Checks a frame, given its header and everything behind it.
    ///
    /// # Errors
    /// Unless the header is one of ours and the check holds.
    pub fn open(header: &[u8; HEADER_LEN], body: &[u8]) -> Result<Self, FrameError> {
        let parsed = Header::parse(header).map_err(FrameError::Damaged)?;
        if check(&parsed, checked_part(&parsed, body)) != parsed.check {
            return Err(FrameError::damaged(DecodeErrorKind::Corrupt, 4));
        }
        let raw_len =
            usize::try_from(parsed.raw_len).map_err(|_| FrameError::damaged(DecodeErrorKind::Length, 8))?;
        let payload_len = body
            .len()
            .checked_sub(usize::from(parsed.padding))
            .ok_or(FrameError::damaged(DecodeErrorKind::Corrupt, 14))?;
        if parsed.codec == CodecId::RAW && (payload_len != raw_len || parsed.padding != 0) {
            let kind =
                if payload_len < raw_len { DecodeErrorKind::Truncated } else { DecodeErrorKind::Length };
            return Err(FrameError::damaged(kind, HEADER_LEN + body.len()));
        }
        Ok(Self { codec: parsed.codec, kind: parsed.kind, raw_len, payload_len })
    }

    /// Length of the message in bytes.
    #[must_use]
    pub fn raw_len(&self) -> usize {
        self.raw_len
    }

    /// Whether the message follows the header as it is.
    #[must_use]
    pub fn is_raw(&self) -> bool {
        self.codec == CodecId::RAW
    }

    /// The compressed part of everything behind the header.
    pub(crate) fn payload<'a>(&self, body: &'a [u8]) -> Option<&'a [u8]> {
        body.get(..self.payload_len)
    }
}

/// The header of a message that travels raw; `None` if it is too long for a frame.
pub(crate) fn raw_header(kind: Kind, raw_len: usize) -> Option<[u8; HEADER_LEN]> {
    finished(CodecId::RAW, kind, raw_len, 0, &[])
}

/// Completes `frame`, which holds room for a header, the compressed message, and room up to the floor: pads it and
/// fills in the header. `None` if the message is too long for a frame.
pub(crate) fn seal(codec: CodecId, kind: Kind, raw_len: usize, frame: &mut Buffer) -> Option<()> {
    let payload_end = frame.len();
    let padding = FLOOR.saturating_sub(payload_end);
    let header = finished(codec, kind, raw_len, u16::try_from(padding).ok()?, frame.get(HEADER_LEN..)?)?;
    frame.first_chunk_mut::<HEADER_LEN>()?.copy_from_slice(&header);
    frame.set_len(payload_end + padding);
    frame.get_mut(payload_end..)?.fill(0);
    Some(())
}

fn finished(
    codec: CodecId,
    kind: Kind,
    raw_len: usize,
    padding: u16,
    payload: &[u8],
) -> Option<[u8; HEADER_LEN]> {
    let raw_len = u64::try_from(raw_len).ok().filter(|&n| n <= MAX_RAW_LEN)?;
    let mut header = Header { codec, kind, raw_len, padding, check: 0 };
    header.check = check(&header, payload);
    Some(header.to_bytes())
}

/// What the check covers beside the header: the payload, unless it is the message itself.
fn checked_part<'a>(header: &Header, body: &'a [u8]) -> &'a [u8] {
    let payload = body.len().saturating_sub(usize::from(header.padding));
    if header.codec == CodecId::RAW { &[] } else { &body[..payload] }
}

fn check(header: &Header, payload: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&Header { check: 0, ..*header }.to_bytes());
    crc.update(payload);
    crc.finalize()
}
