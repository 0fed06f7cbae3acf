//! Streams: the wire format of long messages in chunks. Layout and rules: `docs/format/frame.md`, section "Streams".

use crate::frame::{FrameError, HEADER_LEN, Mark, Note, crc};
use mpress_codec::DecodeErrorKind::{Corrupt, Truncated};
use mpress_codec::{CodecId, Kind};
use std::ops::Range;
use std::time::Duration;

/// Length of the part before the wire of the first chunk, in the payload of a head.
pub(crate) const HEAD: usize = 12;

/// Length of the part of a head before the wire of its chunk, which identifies the stream.
pub const FRONT: usize = HEADER_LEN + HEAD;

/// Length of the part before the wire of a chunk of the tail.
pub(crate) const CHUNK_HEADER: usize = 16;

/// The position of the check in a chunk of the tail.
const CHECK: Range<usize> = 0..4;

/// The position of the time at which a chunk of the tail was sent. The check does not cover it, because it is written last.
const SENT: Range<usize> = 12..16;

/// The maximum number of raw bytes in a chunk.
pub(crate) const MAX_CHUNK: usize = 1 << 20;

/// Lengths of chunks are multiples of this, so that no element is split.
const STEP: usize = 8;

/// When a chunk was sent, by its sender's clock in microseconds, modulo 2^32. Time in which the MPI does not accept a chunk should not count, because
/// the network causes it. Layers that write this time show their receivers how fast the network is ([`Engine::arrived`](crate::Engine::arrived)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentAt(u32);

impl SentAt {
    /// The time of a received chunk of a tail; `None` if its sender did not write it, or if it is too short to be one.
    #[must_use]
    pub fn of(chunk: &[u8]) -> Option<Self> {
        let time = chunk.get(SENT)?.try_into().ok().map(u32::from_le_bytes)?;
        (time > 0).then_some(Self(time))
    }

    /// The time this long after a moment that is the same for all chunks of the stream.
    #[must_use]
    pub fn after(elapsed: Duration) -> Self {
        // 0 is not a time.
        Self((elapsed.as_micros() as u32).max(1))
    }

    /// Writes the time into a chunk of a tail.
    pub fn write(self, chunk: &mut [u8]) {
        if let Some(place) = chunk.get_mut(SENT) {
            place.copy_from_slice(&self.0.to_le_bytes());
        }
    }

    /// The time since an earlier chunk of the same stream.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.wrapping_sub(earlier.0).into())
    }
}

/// A message sent in chunks, as described by its head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    pub(crate) id: u32,
    pub(crate) codec: CodecId,
    /// The setting with which the codec is used.
    pub(crate) setting: u8,
    pub(crate) kind: Kind,
    raw_len: usize,
    chunk: usize,
    /// The note of a received head.
    note: Option<Note>,
}

impl Stream {
    /// A stream of a message of `raw_len` bytes in chunks of `chunk` bytes; `None` if `chunk` is not a valid length.
    pub(crate) fn new(
        id: u32,
        (codec, setting): (CodecId, u8),
        kind: Kind,
        raw_len: usize,
        chunk: usize,
    ) -> Option<Self> {
        let is_right = chunk > 0 && chunk.is_multiple_of(STEP) && chunk <= MAX_CHUNK && chunk < raw_len;
        // An index has 32 bits.
        let is_right = is_right && u32::try_from(raw_len.div_ceil(chunk)).is_ok();
        is_right.then_some(Self { id, codec, setting, kind, raw_len, chunk, note: None })
    }

    /// The same stream, whose head had this note.
    pub(crate) fn with_note(self, note: Option<Note>) -> Self {
        Self { note, ..self }
    }

    /// Its number, which identifies its tail.
    #[must_use]
    pub const fn id(&self) -> u32 {
        self.id
    }

    /// Length of the whole message in bytes.
    #[must_use]
    pub const fn raw_len(&self) -> usize {
        self.raw_len
    }

    /// The note of its head, if that has one and was received.
    pub(crate) fn note(&self) -> Option<Note> {
        self.note
    }

    /// The number of chunks, including that of the head: at least two.
    #[must_use]
    pub const fn chunks(&self) -> usize {
        self.raw_len.div_ceil(self.chunk)
    }

    /// The range of the message in a chunk; empty if there is no such chunk.
    #[must_use]
    pub fn range(&self, index: usize) -> Range<usize> {
        let at = |index: usize| index.checked_mul(self.chunk).map_or(self.raw_len, |at| at.min(self.raw_len));
        at(index)..at(index.saturating_add(1))
    }

    /// The maximum length of a chunk of the tail on the wire, in bytes.
    #[must_use]
    pub const fn longest(&self) -> usize {
        CHUNK_HEADER + self.chunk
    }

    /// The start of a head's payload.
    pub(crate) fn head(&self) -> Option<[u8; HEAD]> {
        let mut bytes = [0; HEAD];
        bytes[0] = self.codec.0;
        bytes[4..8].copy_from_slice(&self.id.to_le_bytes());
        bytes[8..12].copy_from_slice(&u32::try_from(self.chunk).ok()?.to_le_bytes());
        Some(bytes)
    }

    /// Parses the payload of a head into the stream and the wire of its first chunk.
    pub(crate) fn open(
        kind: Kind,
        setting: u8,
        raw_len: usize,
        payload: &[u8],
    ) -> Result<(Self, &[u8]), FrameError> {
        let truncated = FrameError::damaged(Truncated, payload.len());
        let (head, wire) = payload.split_first_chunk::<HEAD>().ok_or(truncated)?;
        let [codec, z0, z1, z2, i0, i1, i2, i3, c0, c1, c2, c3] = *head;
        let codec = CodecId(codec);
        if [CodecId::RAW, CodecId::BLOCKS, CodecId::STREAM].contains(&codec) || [z0, z1, z2] != [0; 3] {
            return Err(FrameError::damaged(Corrupt, 0));
        }
        let corrupt = FrameError::damaged(Corrupt, 8);
        let chunk = usize::try_from(u32::from_le_bytes([c0, c1, c2, c3])).map_err(|_| corrupt)?;
        let id = u32::from_le_bytes([i0, i1, i2, i3]);
        let stream = Self::new(id, (codec, setting), kind, raw_len, chunk).ok_or(corrupt)?;
        if wire.len() > chunk {
            return Err(FrameError::damaged(Corrupt, HEAD));
        }
        Ok((stream, wire))
    }

    /// Completes a chunk of the tail that consists of room for its header and the wire.
    pub(crate) fn seal(&self, mark: Mark, index: usize, chunk: &mut [u8]) -> Option<()> {
        let header = chunk.first_chunk_mut::<CHUNK_HEADER>()?;
        header[CHECK].fill(0);
        header[4..8].copy_from_slice(&self.id.to_le_bytes());
        header[8..12].copy_from_slice(&u32::try_from(index).ok()?.to_le_bytes());
        header[SENT].fill(0);
        let check = chunk_check(mark, chunk);
        chunk.get_mut(CHECK)?.copy_from_slice(&check.to_le_bytes());
        Some(())
    }

    /// The wire of a received chunk of the tail, which must be the one with this index.
    pub(crate) fn open_chunk<'a>(
        &self,
        mark: Mark,
        index: usize,
        chunk: &'a [u8],
    ) -> Result<&'a [u8], FrameError> {
        let (header, wire) =
            chunk.split_first_chunk::<CHUNK_HEADER>().ok_or(FrameError::damaged(Truncated, chunk.len()))?;
        if header[CHECK] != chunk_check(mark, chunk).to_le_bytes() {
            return Err(FrameError::damaged(Corrupt, CHECK.start));
        }
        let due = u32::try_from(index).map_err(|_| FrameError::damaged(Corrupt, CHECK.end))?;
        if header[4..8] != self.id.to_le_bytes() || header[8..12] != due.to_le_bytes() {
            return Err(FrameError::damaged(Corrupt, CHECK.end));
        }
        if wire.len() > self.range(index).len() {
            return Err(FrameError::damaged(Corrupt, CHUNK_HEADER));
        }
        Ok(wire)
    }
}

/// The check of a chunk of the tail; ignores the contents of its check field and the time at which it was sent.
fn chunk_check(mark: Mark, chunk: &[u8]) -> u32 {
    let part = |range: Range<usize>| chunk.get(range).unwrap_or_default();
    let zeros = [0; SENT.end - SENT.start];
    crc(&[&mark.0, &[0; CHECK.end], part(CHECK.end..SENT.start), &zeros, part(SENT.end..chunk.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: Mark = Mark(*b"any mark");

    fn stream(raw_len: usize, chunk: usize) -> Option<Stream> {
        Stream::new(7, (CodecId::DFCM_F64, 0), Kind::F64, raw_len, chunk)
    }

    #[test]
    fn chunks_cover_the_message() {
        for (raw_len, chunk) in [(9, 8), (16, 8), (100_000, 64_512), (1 << 20, 1024), (1 << 51, 1 << 20)] {
            let stream = stream(raw_len, chunk).unwrap();
            assert!(stream.chunks() > 1);
            for index in [0, 1, stream.chunks() - 2] {
                assert_eq!(stream.range(index).end, stream.range(index + 1).start);
            }
            assert_eq!((stream.range(0).start, stream.range(0).len()), (0, chunk));
            assert_eq!(stream.range(stream.chunks() - 1).end, raw_len);
            assert!(!stream.range(stream.chunks() - 1).is_empty());
            for beyond in [stream.chunks(), usize::MAX] {
                assert!(stream.range(beyond).is_empty());
            }
        }
        for (raw_len, chunk) in [(100, 0), (100, 12), (8, 8), (1 << 30, MAX_CHUNK + 8), (1 << 53, 1 << 20)] {
            assert_eq!(stream(raw_len, chunk), None, "{raw_len} {chunk}");
        }
    }

    #[test]
    fn the_layout_is_the_documented_one() {
        let stream = stream(100_000, 64_512).unwrap();
        let head = stream.head().unwrap();
        assert_eq!(head, *b"\x01\0\0\0\x07\0\0\0\x00\xfc\0\0");
        let payload = [&head[..], b"wire"].concat();
        assert_eq!(Stream::open(Kind::F64, 0, 100_000, &payload), Ok((stream, &b"wire"[..])));
        let mut chunk = *b"................wire of the chunk";
        stream.seal(MARK, 1, &mut chunk).unwrap();
        assert_eq!(&chunk[4..16], b"\x07\0\0\0\x01\0\0\0\0\0\0\0");
        SentAt(0x0403_0201).write(&mut chunk);
        assert_eq!(&chunk[12..16], b"\x01\x02\x03\x04");
        assert_eq!(stream.open_chunk(MARK, 1, &chunk), Ok(&b"wire of the chunk"[..]), "not checked");
        chunk[12..16].fill(0);
        let check = crc32fast::hash(&[&MARK.0[..], &[0; 4], &chunk[4..]].concat());
        assert_eq!(chunk[..4], check.to_le_bytes());
        assert_eq!(stream.open_chunk(MARK, 1, &chunk), Ok(&b"wire of the chunk"[..]));
    }

    #[test]
    fn times_of_sending_go_round() {
        let mut chunk = [0; CHUNK_HEADER];
        let mut at = |secs: f64| {
            SentAt::after(Duration::from_secs_f64(secs)).write(&mut chunk);
            SentAt::of(&chunk).unwrap()
        };
        let (first, last) = (at(4294.0), at(4296.5));
        assert_eq!(last.since(first), Duration::from_millis(2500), "after 2^32 microseconds");
        at(0.0);
        assert_eq!(SentAt::of(&chunk[..15]), None);
        SentAt::after(Duration::ZERO).write(&mut chunk[..15]);
        assert_eq!(SentAt::of(&[0; CHUNK_HEADER]), None, "not written");
    }

    #[test]
    fn what_is_refused_of_a_head() {
        let good = [&stream(100_000, 64_512).unwrap().head().unwrap()[..], b"wire"].concat();
        let kind = |payload: &[u8], raw_len| match Stream::open(Kind::F64, 0, raw_len, payload) {
            Err(FrameError::Damaged(error)) => Some((error.kind, error.offset)),
            _ => None,
        };
        for len in 0..HEAD {
            assert_eq!(kind(&good[..len], 100_000), Some((Truncated, len)));
        }
        let with = |at: usize, byte: u8| {
            let mut payload = good.clone();
            payload[at] = byte;
            payload
        };
        for codec in [0, 21, 22] {
            assert_eq!(kind(&with(0, codec), 100_000), Some((Corrupt, 0)));
        }
        for at in 1..4 {
            assert_eq!(kind(&with(at, 1), 100_000), Some((Corrupt, 0)));
        }
        assert_eq!(kind(&with(8, 1), 100_000), Some((Corrupt, 8)));
        assert_eq!(kind(&with(10, 0x11), 1 << 40), Some((Corrupt, 8)));
        assert_eq!(kind(&good, 64_512), Some((Corrupt, 8)));
        let long = [&good[..], &vec![0; 64_512]].concat();
        assert_eq!(kind(&long, 100_000), Some((Corrupt, HEAD)));
    }

    #[test]
    fn what_is_refused_of_a_chunk() {
        let stream = stream(100_000, 64_512).unwrap();
        let mut chunk = vec![3; CHUNK_HEADER + 50];
        stream.seal(MARK, 1, &mut chunk).unwrap();
        let refused = |stream: &Stream, mark, index, chunk: &[u8]| match stream.open_chunk(mark, index, chunk)
        {
            Err(FrameError::Damaged(error)) => Some((error.kind, error.offset)),
            _ => None,
        };
        assert_eq!(refused(&stream, MARK, 1, &chunk), None);
        for len in 0..CHUNK_HEADER {
            assert_eq!(refused(&stream, MARK, 1, &chunk[..len]), Some((Truncated, len)));
        }
        for at in (0..SENT.start).chain(SENT.end..chunk.len()) {
            chunk[at] ^= 0x40;
            assert_eq!(refused(&stream, MARK, 1, &chunk), Some((Corrupt, 0)), "byte {at}");
            chunk[at] ^= 0x40;
        }
        assert_eq!(refused(&stream, Mark(*b"another."), 1, &chunk), Some((Corrupt, 0)));
        assert_eq!(refused(&stream, MARK, 2, &chunk), Some((Corrupt, 4)));
        let other = Stream { id: 8, ..stream };
        assert_eq!(refused(&other, MARK, 1, &chunk), Some((Corrupt, 4)));
        let mut long = vec![0; CHUNK_HEADER + 100_000 - 64_512 + 1];
        stream.seal(MARK, 1, &mut long).unwrap();
        assert_eq!(refused(&stream, MARK, 1, &long), Some((Corrupt, CHUNK_HEADER)));
    }
}
