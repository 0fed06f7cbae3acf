//! Long messages in chunks: first the head, then the tail chunk by chunk, so that a layer may send some chunks while others are encoded and decoded
//! (cMPI, section 2.4). Format: `docs/format/frame.md`, section "Streams".

use super::Engine;
use super::noted::copied;
use crate::blocks;
use crate::buffer::{Buffer, Stopwatch};
use crate::codecs::Setting;
use crate::decide::{Considered, Plan};
use crate::engine::Destination;
use crate::frame::{self, FrameError, HEADER_LEN, Incoming, Note};
use crate::memory::{Arrival, Channel, Fill, Keeping, Memory};
use crate::settings::{Settings, Streams};
use crate::stream::{CHUNK_HEADER, FRONT, Stream};
use crate::traffic;
use mpress_codec::{CodecId, DecodeErrorKind, Encode, Kind, Out};
use mpress_selector::Transfer;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::time::Duration;

/// Bytes of a chunk of a long message on the wire. With its header it fits in the 64 KiB up to which Open MPI sends over TCP without asking the receiver.
const CHUNK: usize = 63 << 10;

/// The minimum number of raw bytes in a chunk, for messages shorter than a few of the above.
const LEAST_CHUNK: usize = 1 << 10;

/// The minimum message length in bytes: for shorter ones, chunks cost more than they gain.
const FROM: usize = 128 << 10;

/// A message that is not contiguous in memory: a layer produces parts of it on demand.
pub trait Pieces {
    /// Writes the bytes `range` of the message to `out`, which has their length. Returns `false` on failure; the message is then sent raw.
    fn fill(&self, range: Range<usize>, out: &mut [u8]) -> bool;
}

/// The form in which a message is sent.
#[derive(Debug)]
pub enum Outgoing {
    /// Unchanged.
    Raw,
    /// As one frame.
    Frame(Buffer),
    /// In chunks: the head, and the chunks that follow.
    Stream(Buffer, Box<Tail>),
}

/// The chunks of a message that have not been encoded yet.
#[derive(Debug)]
pub struct Tail {
    stream: Stream,
    setting: Setting,
    plan: Plan,
    to: Destination,
    next: usize,
    wire_len: usize,
    /// The bytes saved by what the message refers to.
    saved: usize,
    /// The message, if it is kept.
    keeping: Option<Keeping>,
    /// Encoding time so far.
    time: Duration,
}

impl Tail {
    /// The stream to which it belongs.
    #[must_use]
    pub const fn stream(&self) -> &Stream {
        &self.stream
    }

    /// The range of the message to be encoded next; `None` once all of it is.
    #[must_use]
    pub fn due(&self) -> Option<Range<usize>> {
        Some(self.stream.range(self.next)).filter(|range| !range.is_empty())
    }
}

impl Engine {
    /// Configures the engine for a layer that may send messages in chunks ([`begin`](Self::begin)), according to these settings.
    #[must_use]
    pub fn with_streams(self, settings: &Settings) -> Self {
        let streams = match settings.streams {
            // Several threads encode blocks in parallel instead.
            Streams::Auto => (settings.threads == 1).then_some(FROM),
            Streams::Off => None,
            Streams::From(bytes) => Some(bytes.max(Streams::LEAST)),
        };
        if let Some(from) = streams {
            self.decider.set_transfer(Transfer::Pipelined { chunk: CHUNK, from });
        }
        let prefers_streams = matches!(settings.streams, Streams::From(_));
        Self { streams, prefers_streams, ..self }
    }

    /// The length in bytes of the chunks of a message of `len` bytes on whose chunks several processes agree, for [`begin`](Self::begin); `None` if no
    /// message of this length is sent in chunks.
    #[must_use]
    pub fn chunk(&self, len: usize) -> Option<usize> {
        (len >= self.streams?).then(|| (len / 4).next_multiple_of(8).clamp(LEAST_CHUNK, CHUNK))
    }

    /// Like [`encode_considered`](Self::encode_considered), but a message that is worth compressing is sent in chunks of `chunk` bytes: a
    /// multiple of 8, at most 2^20. `None`: in chunks of any length if that is expected to be faster than one frame. A message that is no longer than a chunk
    /// is sent in one frame. No other stream in transit to the same process may have this `id`.
    pub fn begin(&self, considered: Considered, raw: &[u8], id: u32, chunk: Option<usize>) -> Outgoing {
        let Considered { kind, to, len, channel, .. } = considered;
        if raw.len() != len {
            return Outgoing::Raw;
        }
        let mut plan = self.plan(considered, raw, |window| raw.get(window));
        let setting = plan.of_stream(kind, &self.table);
        let stream = setting.and_then(|setting| self.stream_of(setting, &plan, (kind, len), id, chunk));
        let Some((setting, stream)) = setting.zip(stream) else {
            return self.finish(plan, raw, (kind, to, channel)).map_or(Outgoing::Raw, Outgoing::Frame);
        };
        let (watch, chunk) = (Stopwatch::start(), stream.range(0).len());
        let gains = self.instances.with_encoder(setting, |encoder| self.gains(encoder, raw, chunk));
        let first = raw.get(stream.range(0)).filter(|_| gains == Some(true));
        let keeping = first.and_then(|_| self.keep_long(setting, channel, (&mut plan, len), &copied(raw)));
        self.stream((stream, setting, plan, to), first, (channel, keeping), watch)
    }

    /// The same for a message that is produced piece by piece: its first chunk, or the one in its middle, decides whether it is worth compressing.
    ///
    /// # Errors
    /// Returns `considered` if the message is to be produced as a whole, for [`begin`](Self::begin).
    pub fn begin_pieces(
        &self,
        considered: Considered,
        pieces: &dyn Pieces,
        id: u32,
        chunk: Option<usize>,
    ) -> Result<Outgoing, Considered> {
        let Considered { kind, to, len, channel, .. } = considered;
        let sampled = chunk.or_else(|| self.preferred(len)).unwrap_or(CHUNK);
        if !considered.is_sent() || len <= sampled {
            return Err(considered);
        }
        let Some(first) = self.piece(pieces, 0..sampled) else { return Err(considered) };
        let mut plan = self.plan(considered, &first, |window| self.piece(pieces, window));
        let Some(setting) = plan.of_stream(kind, &self.table) else {
            self.counters.sent(kind, Err(plan.raw_reason()), to, len, len, Duration::ZERO);
            return Ok(Outgoing::Raw);
        };
        let Some(stream) = self.stream_of(setting, &plan, (kind, len), id, chunk) else {
            let Some(raw) = self.piece(pieces, 0..len) else {
                self.report(&plan, (kind, to, len), None, (len, Duration::ZERO));
                return Ok(Outgoing::Raw);
            };
            let frame = self.finish(plan, &raw, (kind, to, channel));
            return Ok(frame.map_or(Outgoing::Raw, Outgoing::Frame));
        };
        let (watch, chunk) = (Stopwatch::start(), stream.range(0).len());
        let first = if chunk == first.len() { Some(first) } else { self.piece(pieces, 0..chunk) };
        let gains = |part: &[u8]| {
            self.instances.with_encoder(setting, |encoder| self.gains(encoder, part, chunk)) == Some(true)
        };
        let middle = stream.range(len / chunk / 2);
        let first = first
            .filter(|first| gains(first) || self.piece(pieces, middle).is_some_and(|middle| gains(&middle)));
        let fill = |part: Range<usize>, copy: &mut [u8]| pieces.fill(part, copy);
        let keeping = first.as_ref().and_then(|_| self.keep_long(setting, channel, (&mut plan, len), &fill));
        Ok(self.stream((stream, setting, plan, to), first.as_deref(), (channel, keeping), watch))
    }

    /// The length of the chunks that the settings want for each long message, whatever is expected of them.
    fn preferred(&self, len: usize) -> Option<usize> {
        self.chunk(len).filter(|_| self.prefers_streams)
    }

    /// The stream that a message becomes with this codec; `None` if it is better sent in one frame.
    fn stream_of(
        &self,
        setting: Setting,
        plan: &Plan,
        (kind, len): (Kind, usize),
        id: u32,
        chunk: Option<usize>,
    ) -> Option<Stream> {
        // What is not observed may get longer on the wire than expected.
        let faster = || {
            let chunk = self.decider.chunk(plan, kind, len)?;
            Some(if plan.is_observed() { chunk } else { chunk.min(CHUNK) })
        };
        let chunk = chunk.or_else(|| self.preferred(len)).or_else(faster)?;
        Stream::new(id, (setting.id(), setting.number), kind, len, chunk)
    }

    /// A part of a message.
    fn piece(&self, pieces: &dyn Pieces, range: Range<usize>) -> Option<Buffer> {
        let mut buffer = self.buffers.take(range.len()).ok()?;
        buffer.set_len(range.len());
        pieces.fill(range, &mut buffer).then_some(buffer)
    }

    /// The next chunk of a message that is produced piece by piece, as in [`next_chunk`](Self::next_chunk).
    pub fn next_piece(&self, tail: &mut Tail, pieces: &dyn Pieces) -> Option<Buffer> {
        let raw = self.piece(pieces, tail.due()?)?;
        self.next_chunk(tail, &raw)
    }

    /// As [`keep`](Self::keep). Other threads may have the encoder meanwhile.
    fn keep_long(
        &self,
        setting: Setting,
        channel: Option<Channel>,
        (plan, len): (&mut Plan, usize),
        fill: Fill<'_>,
    ) -> Option<Keeping> {
        let (memory, channel) = self.memory.as_ref().zip(channel)?;
        self.instances.with_encoder(setting, |encoder| encoder.saved())??;
        self.keep((memory, channel), (plan, len), fill)
    }

    /// A stream that begins with this chunk; the raw message if there is no chunk because compression does not pay, or if out of memory.
    fn stream(
        &self,
        (stream, setting, plan, to): (Stream, Setting, Plan, Destination),
        first: Option<&[u8]>,
        (channel, keeping): (Option<Channel>, Option<Keeping>),
        watch: Stopwatch,
    ) -> Outgoing {
        let head = first.and_then(|first| self.head(&stream, setting, first, (channel, keeping.as_ref())));
        let time = watch.elapsed();
        match head {
            Some((head, saved)) => {
                let wire_len = head.len();
                let tail = Tail { stream, setting, plan, to, next: 1, wire_len, saved, keeping, time };
                Outgoing::Stream(head, Box::new(tail))
            }
            None => {
                let len = stream.raw_len();
                self.report(&plan, (stream.kind, to, len), None, (len, time));
                Outgoing::Raw
            }
        }
    }

    /// The head of a stream, with its first chunk, as from [`pack_chunk`](Self::pack_chunk).
    fn head(
        &self,
        stream: &Stream,
        setting: Setting,
        first: &[u8],
        (channel, keeping): (Option<Channel>, Option<&Keeping>),
    ) -> Option<(Buffer, usize)> {
        let (mut head, saved) = self.pack_chunk(setting, part(keeping, stream.range(0), first), FRONT)?;
        head.get_mut(HEADER_LEN..FRONT)?.copy_from_slice(&stream.head()?);
        let (by, of) = ((CodecId::STREAM, stream.setting), (stream.kind, stream.raw_len()));
        let memory = self.memory.as_ref().zip(channel);
        self.seal_noted(by, of, memory.map(|memory| (memory, keeping.cloned())), &mut head)?;
        Some((head, saved))
    }

    /// The next chunk of the tail, to be sent after the previous ones. `raw` are the bytes of the message that are [due](Tail::due). `None` if they
    /// are not, or if out of memory; the call may then be repeated.
    pub fn next_chunk(&self, tail: &mut Tail, raw: &[u8]) -> Option<Buffer> {
        if raw.len() != tail.due()?.len() {
            return None;
        }
        let watch = Stopwatch::start();
        let (mut chunk, saved) =
            self.pack_chunk(tail.setting, part(tail.keeping.as_ref(), tail.due()?, raw), CHUNK_HEADER)?;
        tail.stream.seal(self.mark, tail.next, &mut chunk)?;
        tail.time += watch.elapsed();
        tail.wire_len += chunk.len();
        tail.saved += saved;
        tail.next += 1;
        if tail.due().is_none() {
            let referring = tail.keeping.take().and_then(|keeping| keeping.referring());
            if let Some((memory, key)) = self.memory.as_ref().zip(referring) {
                self.referred(memory, key, &tail.plan, tail.wire_len, tail.saved);
            }
            let of = (tail.stream.kind, tail.to, tail.stream.raw_len());
            self.report(&tail.plan, of, Some(tail.setting), (tail.wire_len, tail.time));
        }
        Some(chunk)
    }

    /// Reports that `bytes` bytes of tails from other nodes arrived within `time`, while this process only waited for them and decoded them, which
    /// took `coding` of that time, and that a sender sent its part of them within `sent` ([`SentAt`](crate::SentAt)). From this the selector learns the
    /// bandwidth.
    pub fn arrived(&self, bytes: usize, (time, coding): (Duration, Duration), sent: Duration) {
        if bytes >= traffic::TRAIN {
            self.decider.arrived(bytes, (time, coding), sent);
        }
    }

    /// A chunk on the wire after `front` bytes for a header: compressed or, if that is not shorter, raw; and the bytes saved by its reference. `None` if
    /// out of memory.
    fn pack_chunk(
        &self,
        setting: Setting,
        (reference, raw): (Option<&[u8]>, &[u8]),
        front: usize,
    ) -> Option<(Buffer, usize)> {
        self.instances.with_encoder(setting, |encoder| {
            let bound = encoder.max_encoded_len(raw.len())?.max(raw.len());
            let mut buffer = self.buffers.take(frame::room(front.checked_add(bound)?)?).ok()?;
            let room = buffer.room().get_mut(front..)?;
            let len = blocks::encode_part(encoder, reference, raw, room).filter(|len| *len < raw.len());
            if len.is_none() {
                room.get_mut(..raw.len())?.copy_from_slice(raw);
            }
            buffer.set_len(front + len.unwrap_or(raw.len()));
            let saved = encoder.saved().filter(|_| reference.is_some()).unwrap_or(0);
            Some((buffer, saved.min(raw.len() - len.unwrap_or(raw.len()))))
        })?
    }

    /// The stream whose head has this front of at least [`FRONT`](crate::FRONT) bytes, for a message that was not received completely: its tail must
    /// be received and dropped. Does not check for damage.
    #[must_use]
    pub fn torn(&self, front: &[u8]) -> Option<Stream> {
        Incoming::torn(self.mark, front)
    }

    /// Decodes the chunk of a head into `out`, which must have room for exactly this chunk ([`Stream::range`] of 0). On success all of `out` is
    /// initialised; unsafe code may rely on that.
    ///
    /// # Errors
    /// If this is not a head, or its wire does not decode to exactly this number of bytes. The contents of `out` are then undefined.
    pub fn decode_head(
        &self,
        incoming: &Incoming<'_>,
        out: &mut [MaybeUninit<u8>],
    ) -> Result<(), FrameError> {
        let stream = incoming.stream().ok_or(FrameError::damaged(DecodeErrorKind::Corrupt, 9))?;
        let Some((note, memory)) = stream.note().zip(self.memory.as_ref()) else {
            if let Some(Note { reference: missing @ 1.., .. }) = stream.note() {
                return Err(FrameError::Reference(missing));
            }
            return self.decode_wire(&stream, 0, None, incoming.payload, Out::new(out));
        };
        let arrival = memory.arrive(note, stream.raw_len())?;
        self.decode_kept(&stream, 0, (memory, arrival), incoming.payload, out)
    }

    /// Decodes the chunk of the tail that is due, in the same way. `index` starts at 1.
    ///
    /// # Errors
    /// If this is not that chunk, complete and undamaged, or its wire does not decode to exactly its number of bytes. The contents of `out` are then
    /// undefined.
    pub fn decode_chunk(
        &self,
        stream: &Stream,
        index: usize,
        chunk: &[u8],
        out: &mut [MaybeUninit<u8>],
    ) -> Result<(), FrameError> {
        let wire = stream.open_chunk(self.mark, index, chunk).inspect_err(|_| self.refuse_stream(stream))?;
        let known =
            |note: Note| self.memory.as_ref().and_then(|memory| Some((memory, memory.take_out(&note)?)));
        match stream.note().and_then(known) {
            Some(known) => self.decode_kept(stream, index, known, wire, out),
            None => self.decode_wire(stream, index, None, wire, Out::new(out)),
        }
    }

    /// Reports that chunks of a stream will not be decoded.
    pub fn refuse_stream(&self, stream: &Stream) {
        self.refuse_noted(stream.note(), stream.raw_len());
    }

    /// Decodes a chunk of a message with a note.
    fn decode_kept(
        &self,
        stream: &Stream,
        index: usize,
        (memory, mut arrival): (&Memory, Arrival),
        wire: &[u8],
        out: &mut [MaybeUninit<u8>],
    ) -> Result<(), FrameError> {
        let chunk =
            |reference: Option<&[u8]>, out: Out<'_>| self.decode_wire(stream, index, reference, wire, out);
        let decoded = arrival.decode(stream.range(index), out, chunk);
        if decoded.is_ok() && index + 1 < stream.chunks() {
            memory.put_back(arrival, index);
        } else {
            memory.settle(arrival, decoded.is_ok().then_some(index));
        }
        decoded
    }

    fn decode_wire(
        &self,
        stream: &Stream,
        index: usize,
        reference: Option<&[u8]>,
        wire: &[u8],
        mut out: Out<'_>,
    ) -> Result<(), FrameError> {
        let len = stream.range(index).len();
        if out.remaining() != len || wire.len() > len {
            return Err(FrameError::damaged(DecodeErrorKind::Length, 0));
        }
        let watch = Stopwatch::start();
        if wire.len() == len {
            let full = FrameError::damaged(DecodeErrorKind::Length, 0);
            out.extend_from_slice(wire).map_err(|_| full)?;
        } else {
            let decoded = self.instances.decode(stream.codec, reference, wire, out);
            decoded.ok_or(FrameError::Codec(stream.codec))?.map_err(FrameError::Damaged)?;
        }
        let time = watch.elapsed();
        let codec = self.table.used(stream.codec, stream.setting).filter(|_| wire.len() < len);
        self.counters.received(stream.kind, codec, u64::from(index == 0), len, time);
        if let Some(codec) = codec {
            self.decider.decoded(stream.kind, codec, len, time);
        }
        Ok(())
    }
}

/// The reference of a part of a message, and the part itself, from the kept copy if there is one.
pub(super) fn part<'a>(
    keeping: Option<&'a Keeping>,
    range: Range<usize>,
    raw: &'a [u8],
) -> (Option<&'a [u8]>, &'a [u8]) {
    let reference = keeping.and_then(|keeping| keeping.reference()?.get(range.clone()));
    (reference, keeping.and_then(|keeping| keeping.message().get(range)).unwrap_or(raw))
}
