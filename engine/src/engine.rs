//! The engine: message, element kind and destination in, frame out; and back.

use crate::blocks::{self, BLOCK, Threads};
use crate::buffer::{Buffer, Pool};
use crate::codecs::Instances;
use crate::frame::{self, FLOOR, Frame, FrameError, HEADER_LEN, Incoming};
use crate::policy::{self, Destination};
use crate::settings::SameNode;
use crate::stats::{Counters, Stats};
use mpress_codec::{CodecId, DecodeErrorKind, Encode, Kind, Out};
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Where a codec has no verdict of its own, a long message is tried on a window at its start and one in its middle before
/// all of it is encoded, so that incompressible data costs next to nothing.
const TRIAL_WINDOW: usize = 4 << 10;
/// Messages from this length on are tried so. Below, encoding all costs no more than the trial.
const TRIAL_FROM: usize = 8 * TRIAL_WINDOW;

/// Compresses messages and counts what that gained. Shared by all threads of a process.
#[derive(Default)]
pub struct Engine {
    same_node: SameNode,
    instances: Instances,
    threads: Threads,
    buffers: Arc<Pool>,
    counters: Counters,
}

impl Engine {
    /// An engine that treats messages inside a node as `same_node` says.
    #[must_use]
    pub fn new(same_node: SameNode) -> Self {
        Self { same_node, ..Self::default() }
    }

    /// The same with this many threads for messages of more than a MiB. Frames are the same whatever their number. Fewer
    /// than two mean that the caller does it alone.
    #[cfg(feature = "rayon")]
    #[must_use]
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads: Threads::new(threads), ..self }
    }

    /// Makes a frame of a message. The frame is never more than 16 bytes longer than the message, and never shorter
    /// than [`FLOOR`](crate::FLOOR) if the message is not.
    ///
    /// `None` if the message is longer than a frame can say (2^48 - 1 bytes).
    pub fn encode(&self, raw: &[u8], kind: Kind, to: Destination) -> Option<Frame> {
        let header = frame::raw_header(kind, raw.len())?;
        let id = policy::choose(kind, to, self.same_node);
        if id == CodecId::RAW {
            self.counters.sent(kind, id, raw.len(), HEADER_LEN + raw.len(), Duration::ZERO);
            return Some(Frame::Raw(header));
        }
        let start = Instant::now();
        let (wire_id, packed) = if raw.len() > BLOCK {
            (CodecId::BLOCKS, self.compress_blocks(id, raw))
        } else {
            (id, self.instances.with_encoder(id, |encoder| self.compress(encoder, raw)).flatten())
        };
        let packed = packed
            .and_then(|mut buffer| frame::seal(wire_id, kind, raw.len(), &mut buffer).map(|()| buffer))
            .filter(|buffer| buffer.len() < HEADER_LEN + raw.len());
        let time = start.elapsed();
        Some(match packed {
            Some(buffer) => {
                self.counters.sent(kind, id, raw.len(), buffer.len(), time);
                Frame::Packed(buffer)
            }
            None => {
                self.counters.sent(kind, CodecId::RAW, raw.len(), HEADER_LEN + raw.len(), time);
                Frame::Raw(header)
            }
        })
    }

    /// The message compressed, behind room for a header; `None` if it does not get smaller or memory is short.
    fn compress(&self, encoder: &mut dyn Encode, raw: &[u8]) -> Option<Buffer> {
        let gains = encoder.worthwhile(raw).unwrap_or_else(|| self.trial(encoder, raw));
        if gains { self.append(encoder, raw) } else { None }
    }

    /// The same of a long message, in blocks.
    fn compress_blocks(&self, id: CodecId, raw: &[u8]) -> Option<Buffer> {
        let gains = |encoder: &mut dyn Encode| {
            let mut verdicts = raw.chunks(BLOCK).map(|block| encoder.worthwhile(block));
            let known = verdicts.try_fold(false, |gains, verdict| Some(gains || verdict?));
            known.unwrap_or_else(|| self.trial(encoder, raw))
        };
        if !self.instances.with_encoder(id, gains)? {
            return None;
        }
        let bound = blocks::bound(&self.instances, id, raw.len())?;
        let mut buffer = self.buffers.take(HEADER_LEN.checked_add(bound)?).ok()?;
        let room = buffer.room().get_mut(HEADER_LEN..)?;
        let len = blocks::encode(&self.threads, &self.instances, id, raw, room)?;
        buffer.set_len(HEADER_LEN + len);
        Some(buffer)
    }

    /// Whether a window of the message gets smaller.
    fn trial(&self, encoder: &mut dyn Encode, raw: &[u8]) -> bool {
        if raw.len() < TRIAL_FROM {
            return true;
        }
        let middle = raw.len() / 16 * 8;
        [&raw[..TRIAL_WINDOW], &raw[middle..middle + TRIAL_WINDOW]].into_iter().any(|window| {
            self.append(encoder, window).is_some_and(|buffer| buffer.len() < HEADER_LEN + window.len())
        })
    }

    fn append(&self, encoder: &mut dyn Encode, raw: &[u8]) -> Option<Buffer> {
        let bound = encoder.max_encoded_len(raw.len())?;
        let mut buffer = self.buffers.take(HEADER_LEN.checked_add(bound)?.max(FLOOR)).ok()?;
        let mut out = Out::from_slice(buffer.room().get_mut(HEADER_LEN..)?);
        encoder.encode(raw, &mut out).ok()?;
        let len = out.len();
        buffer.set_len(HEADER_LEN + len);
        Some(buffer)
    }

    /// Decodes everything behind the header of a frame into `out`, which must have room for exactly
    /// [`Incoming::raw_len`] bytes.
    ///
    /// # Errors
    /// If the payload does not decode to exactly that many bytes. What `out` holds then is undefined.
    pub fn decode(
        &self,
        incoming: &Incoming,
        body: &[u8],
        out: &mut [MaybeUninit<u8>],
    ) -> Result<(), FrameError> {
        let payload = incoming
            .payload(body)
            .ok_or(FrameError::damaged(DecodeErrorKind::Truncated, HEADER_LEN + body.len()))?;
        if out.len() != incoming.raw_len() {
            return Err(FrameError::damaged(DecodeErrorKind::Length, 8));
        }
        let start = Instant::now();
        if incoming.codec == CodecId::BLOCKS {
            blocks::decode(&self.threads, &self.instances, payload, out)?;
            let codec = blocks::codec(payload).unwrap_or(CodecId::BLOCKS);
            self.counters.received(incoming.kind, codec, start.elapsed());
            return Ok(());
        }
        let mut out = Out::new(out);
        if incoming.is_raw() {
            out.extend_from_slice(payload).map_err(|_| FrameError::damaged(DecodeErrorKind::Length, 8))?;
        } else {
            self.instances
                .with_decoder(incoming.codec, |decoder| {
                    // A failed decoder may refuse to work on; the next message is not to blame.
                    decoder.decode(payload, &mut out).inspect_err(|_| decoder.reset())
                })
                .ok_or(FrameError::Codec(incoming.codec))?
                .map_err(FrameError::Damaged)?;
        }
        self.counters.received(incoming.kind, incoming.codec, start.elapsed());
        Ok(())
    }

    /// An empty buffer with room for at least this many bytes, from the engine's pool; `None` if memory is short.
    pub fn buffer(&self, room: usize) -> Option<Buffer> {
        self.buffers.take(room).ok()
    }

    /// What has been counted so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.counters.snapshot()
    }
}
