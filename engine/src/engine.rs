//! The engine: encodes a message with its element kind and destination to a frame, and decodes it.

mod noted;
mod streams;

pub use streams::{Outgoing, Pieces, Tail};

use crate::blocks::{self, BLOCK, Threads};
use crate::buffer::{Buffer, Pool, Stopwatch};
use crate::codecs::{Instances, Setting, Table};
use crate::decide::{Considered, Decider, Plan};
use crate::frame::{self, FrameError, HEADER_LEN, Incoming, Mark, NO_NOTE, Note};
use crate::guide::Record;
use crate::knowledge::Knowledge;
use crate::memory::{Channel, Memory};
use crate::settings::Settings;
use crate::stats::{Counters, RawReason, Stats};
use crate::strategy::Strategy;
use crate::traffic::{self, Traffic};
use mpress_codec::{CodecId, DecodeErrorKind, Encode, Kind, Out, encode_into_with};
use mpress_selector::{Gain, Link, Tally, Thresholds, TrialResult};
use std::mem::MaybeUninit;
use std::ops::{Deref, Range};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// If a codec cannot tell whether a message is compressible, a long message is first tried on a window at its start and one in its middle, so that
/// incompressible data cost almost nothing.
const TRIAL_WINDOW: usize = 4 << 10;
/// The minimum length of messages for this trial. For shorter ones, encoding everything costs no more than the trial.
const TRIAL_FROM: usize = 8 * TRIAL_WINDOW;
/// The destination of a message, as far as it matters for compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// A process that shares memory with this one.
    SameNode,
    /// A process on another node.
    OtherNode,
}

impl Destination {
    /// All destinations, in the order of reports.
    pub const ALL: [Self; 2] = [Self::SameNode, Self::OtherNode];

    /// A short name for reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SameNode => "same node",
            Self::OtherNode => "other nodes",
        }
    }
}

/// Compresses messages and counts the gain. Shared by all threads of a process.
pub struct Engine {
    mark: Mark,
    table: Arc<Table>,
    decider: Decider,
    instances: Instances,
    threads: Threads,
    buffers: Arc<Pool>,
    counters: Counters,
    traffic: Traffic,
    memory: Option<Memory>,
    /// The minimum length of messages that are sent in chunks.
    streams: Option<usize>,
    /// Whether they are, even if one frame is expected to be faster.
    prefers_streams: bool,
    /// The file in which this process keeps the link at the end of the job, and the number of its nodes there.
    pub(crate) keeps_link: Option<(PathBuf, u64)>,
}

impl Default for Engine {
    /// With default settings, and without knowledge of the network: 1 Gbit/s is assumed.
    fn default() -> Self {
        Self::new(&Settings::default(), &Knowledge::default(), None)
    }
}

impl Engine {
    /// An engine with these settings that starts from this knowledge, and for the guided strategy from this record. The settings only name files; the
    /// caller reads them ([`Knowledge::read`], [`Record::read`]). Its mark is the same in every process; if messages may contain any bytes, give it a
    /// random one ([`with_mark`](Self::with_mark)). It has codecs of others if the settings name them ([`Settings::codecs`]) and all processes have agreed
    /// on them ([`Settings::agreed`]); for frames of any other codec it gives an error.
    ///
    /// Create it in all processes at about the same time, ideally right after a message that all wait for. Its clock starts at once: after a quarter
    /// of a second, the adaptive strategy begins trials by the clock, in which all messages are sent raw for up to an eighth of a second
    /// ([`Settings::clock`](crate::Settings::clock) = `false`: none).
    #[must_use]
    pub fn new(settings: &Settings, knowledge: &Knowledge, record: Option<&Record>) -> Self {
        let table = settings.codecs.table();
        let guided = record.map(|record| record.guided(&table));
        Self {
            mark: Mark(*b"mpress 3"),
            decider: Decider::new(settings, knowledge, guided, Arc::clone(&table)),
            instances: Instances::of(Arc::clone(&table)),
            threads: Threads::new(settings.threads),
            buffers: Arc::default(),
            counters: Counters::of(Arc::clone(&table)),
            table,
            traffic: Traffic::default(),
            memory: None,
            streams: None,
            prefers_streams: false,
            keeps_link: None,
        }
    }

    /// The same engine with the mark of this job, which must be the same in all its processes.
    #[must_use]
    pub fn with_mark(self, mark: Mark) -> Self {
        Self { mark, ..self }
    }

    /// The same engine with a memory of channels of the size in these settings: messages may refer to earlier ones ([`Considered::on`]). `rank`: the
    /// rank of this process among the `size` processes that exchange frames.
    #[must_use]
    pub fn with_memory(self, settings: &Settings, rank: u32, size: u32) -> Self {
        let memory = |most| Memory::new(rank, size, most, Arc::clone(&self.buffers));
        Self { memory: Some(settings.memory).filter(|most| *most > 0).map(memory), ..self }
    }

    /// The frame of a message, if the strategy compresses it and the frame is shorter. `None`: send the message unchanged.
    pub fn encode(&self, raw: &[u8], kind: Kind, to: Destination) -> Option<Buffer> {
        self.encode_considered(self.consider(None, kind, to, raw.len())?, raw)
    }

    /// Decides whether a message of this length is worth reading: the first half of [`encode`](Self::encode), for callers that need some work to get
    /// the message's bytes. Uses the given strategy instead of the engine's, if there is one; [`Strategy::Guided`] needs a record with which the
    /// engine was created, and without it sends messages unchanged.
    pub fn consider(
        &self,
        strategy: Option<Strategy>,
        kind: Kind,
        to: Destination,
        len: usize,
    ) -> Option<Considered> {
        match self.decider.consider(strategy, kind, to, len) {
            Ok(considered) => Some(considered),
            Err(reason) => {
                self.counters.sent(kind, Err(reason), to, len, len, Duration::ZERO);
                None
            }
        }
    }

    /// The second half of [`encode`](Self::encode). `raw` must have the length that was considered; otherwise returns `None`.
    pub fn encode_considered(&self, considered: Considered, raw: &[u8]) -> Option<Buffer> {
        let Considered { kind, to, len, channel, .. } = considered;
        if raw.len() != len {
            return None;
        }
        let plan = self.plan(considered, raw, |window| raw.get(window));
        self.finish(plan, raw, (kind, to, channel))
    }

    /// The frame of a message by this plan, if there is one; counts the message in either case.
    fn finish(
        &self,
        mut plan: Plan,
        raw: &[u8],
        (kind, to, channel): (Kind, Destination, Option<Channel>),
    ) -> Option<Buffer> {
        let len = raw.len();
        let Some(setting) = plan.codec.and_then(|codec| self.table.setting(codec, kind)) else {
            self.counters.sent(kind, Err(plan.raw_reason()), to, len, len, Duration::ZERO);
            return None;
        };
        let watch = Stopwatch::start();
        let packed = match channel.filter(|_| plan.send).zip(self.memory.as_ref()) {
            Some((channel, memory)) => self.pack_noted(setting, raw, kind, (memory, channel, &mut plan)),
            None => self.pack(setting, raw, kind),
        };
        let time = watch.elapsed();
        let wire_len = packed.as_ref().map_or(len, |frame| frame.len());
        let by = packed.as_ref().map(|_| setting);
        self.report(&plan, (kind, to, len), by, (wire_len, time));
        packed.filter(|_| plan.send)
    }

    /// Reports what a message of `len` bytes became, and the time that this took: in this codec, or sent raw.
    fn report(
        &self,
        plan: &Plan,
        (kind, to, len): (Kind, Destination, usize),
        by: Option<Setting>,
        (wire_len, time): (usize, Duration),
    ) {
        self.decider.encoded(plan, wire_len, time);
        let codec = by.map(|setting| setting.index).ok_or(RawReason::Longer);
        self.counters.sent(kind, codec, to, len, wire_len, time);
        if plan.refers && by.is_some() {
            self.counters.referred(len, wire_len);
        }
    }

    /// Decides about a message that begins with `first`. Before that, encodes the parts of it that the selector asks for.
    fn plan<W: Deref<Target = [u8]>>(
        &self,
        considered: Considered,
        first: &[u8],
        part: impl Fn(Range<usize>) -> Option<W>,
    ) -> Plan {
        let kind = considered.kind;
        let mut plan = self.decider.plan(considered, first);
        // Each codec once.
        for _ in 0..self.table.len() {
            let Some(probe) = plan.probe() else { break };
            let setting = self.table.setting(probe.offer, kind);
            let Some((window, setting)) = part(probe.window).zip(setting) else { break };
            let watch = Stopwatch::start();
            let packed =
                self.instances.with_encoder(setting, |encoder| self.compress(encoder, &window)).flatten();
            let wire_len = packed.map_or(window.len(), |buffer| buffer.len().saturating_sub(HEADER_LEN));
            plan = self.decider.probed(plan, wire_len, watch.elapsed(), first);
        }
        plan
    }

    /// The frame of a message; `None` if it is not shorter, or if out of memory.
    fn pack(&self, setting: Setting, raw: &[u8], kind: Kind) -> Option<Buffer> {
        let (id, mut buffer) = if raw.len() > BLOCK {
            (CodecId::BLOCKS, self.compress_blocks(setting, raw)?)
        } else {
            (setting.id(), self.instances.with_encoder(setting, |encoder| self.compress(encoder, raw))??)
        };
        frame::seal(self.mark, id, setting.number, kind, raw.len(), NO_NOTE, &mut buffer)?;
        Some(buffer)
    }

    /// The compressed message after room for a header; `None` if it does not get shorter, or if out of memory.
    fn compress(&self, encoder: &mut dyn Encode, raw: &[u8]) -> Option<Buffer> {
        if self.gains(encoder, raw, raw.len()) { self.append(encoder, None, raw) } else { None }
    }

    /// The same for a long message, in blocks.
    fn compress_blocks(&self, setting: Setting, raw: &[u8]) -> Option<Buffer> {
        if !self.instances.with_encoder(setting, |encoder| self.gains(encoder, raw, BLOCK))? {
            return None;
        }
        let slot = blocks::slot(&self.instances, setting)?;
        let mut buffer = self.buffers.take(frame::room(blocks::bound(slot, raw.len())?)?).ok()?;
        let room = buffer.room().get_mut(HEADER_LEN..)?;
        let len = blocks::encode(&self.threads, &self.instances, (setting, slot), raw, room)?;
        buffer.set_len(HEADER_LEN + len);
        Some(buffer)
    }

    /// Whether a message gets shorter if its parts are encoded separately.
    fn gains(&self, encoder: &mut dyn Encode, raw: &[u8], part: usize) -> bool {
        let mut verdicts = raw.chunks(part).map(|part| encoder.worthwhile(part));
        let known = verdicts.try_fold(false, |gains, verdict| Some(gains || verdict?));
        known.unwrap_or_else(|| self.trial(encoder, raw))
    }

    /// Whether a window of the message gets shorter.
    fn trial(&self, encoder: &mut dyn Encode, raw: &[u8]) -> bool {
        if raw.len() < TRIAL_FROM {
            return true;
        }
        let middle = raw.len() / 16 * 8;
        [&raw[..TRIAL_WINDOW], &raw[middle..middle + TRIAL_WINDOW]].into_iter().any(|window| {
            self.append(encoder, None, window).is_some_and(|buffer| buffer.len() < HEADER_LEN + window.len())
        })
    }

    /// The compressed message after room for a header.
    fn append(&self, encoder: &mut dyn Encode, reference: Option<&[u8]>, raw: &[u8]) -> Option<Buffer> {
        let bound = encoder.max_encoded_len(raw.len())?;
        let mut buffer = self.buffers.take(frame::room(bound)?).ok()?;
        let len = encode_into_with(encoder, reference, raw, buffer.room().get_mut(HEADER_LEN..)?).ok()?;
        buffer.set_len(HEADER_LEN + len);
        Some(buffer)
    }

    /// Whether received bytes are a frame, perhaps a damaged one; otherwise they are a message. The first [`HEADER_LEN`](crate::HEADER_LEN) bytes
    /// suffice.
    #[must_use]
    pub fn is_frame(&self, message: &[u8]) -> bool {
        self.mark.is_in(message)
    }

    /// Checks a frame.
    ///
    /// # Errors
    /// If it is not a complete frame of this job.
    pub fn open<'a>(&self, frame: &'a [u8]) -> Result<Incoming<'a>, FrameError> {
        Incoming::open(self.mark, frame)
    }

    /// Decodes a frame into `out`, which must have room for exactly [`Incoming::raw_len`] bytes. On success all of `out` is
    /// initialised; unsafe code may rely on that.
    ///
    /// # Errors
    /// If the payload does not decode to exactly this number of bytes; that of the [head](Incoming::stream) of a stream never does. The contents of
    /// `out` are then undefined.
    pub fn decode(&self, incoming: &Incoming<'_>, out: &mut [MaybeUninit<u8>]) -> Result<(), FrameError> {
        let payload = incoming.payload;
        if out.len() != incoming.raw_len() || incoming.stream().is_some() {
            return Err(FrameError::damaged(DecodeErrorKind::Length, 24));
        }
        let watch = Stopwatch::start();
        let mut id = incoming.codec;
        match (incoming.note, &self.memory) {
            (Some(note), Some(memory)) => self.decode_noted(incoming, note, memory, out)?,
            (Some(Note { reference: missing @ 1.., .. }), None) => {
                return Err(FrameError::Reference(missing));
            }
            _ if id == CodecId::BLOCKS => {
                blocks::decode(&self.threads, &self.instances, payload, out)?;
                id = blocks::codec(payload).unwrap_or(CodecId::BLOCKS);
            }
            _ => self.decode_payload(incoming, None, Out::new(out))?,
        }
        let time = watch.elapsed();
        let codec = self.table.used(id, incoming.setting);
        self.counters.received(incoming.kind, codec, 1, incoming.raw_len(), time);
        if let Some(codec) = codec {
            self.decider.decoded(incoming.kind, codec, incoming.raw_len(), time);
        }
        Ok(())
    }

    fn decode_payload(
        &self,
        incoming: &Incoming<'_>,
        reference: Option<&[u8]>,
        out: Out<'_>,
    ) -> Result<(), FrameError> {
        let id = incoming.codec;
        let decoded = self.instances.decode(id, reference, incoming.payload, out);
        decoded.ok_or(FrameError::Codec(id))?.map_err(FrameError::Damaged)
    }

    /// Whether frames of this size in bytes should be reported to [`waited`](Self::waited).
    #[must_use]
    pub const fn counts(bytes: usize) -> bool {
        bytes >= traffic::LONG
    }

    /// Reports how long this process waited while it sent `sent` bytes of frames to other nodes and received `received` bytes from them, in calls
    /// that did nothing else. From this the selector learns bounds of the network's bandwidth.
    pub fn waited(&self, sent: usize, received: usize, time: Duration) {
        if let Some(passage) = self.traffic.add(sent, received, time) {
            self.decider.passed(passage);
        }
    }

    /// Sets a link that was measured after the engine was created.
    pub fn set_link(&self, link: Link) {
        self.decider.set_link(link);
    }

    /// The current estimate of the network.
    #[must_use]
    pub fn link(&self) -> Link {
        self.decider.link()
    }

    /// The gain of the adaptive strategy on the link to other nodes, by its own estimate.
    #[must_use]
    pub fn gain(&self) -> Gain {
        self.decider.gain()
    }

    /// Whether the adaptive strategy currently sends messages differently than usual, for a trial by the clock: all raw, or, if raw messages have
    /// been faster, compressed. A layer must not conclude from the results of these messages that none can be compressed.
    #[must_use]
    pub fn is_on_trial(&self) -> bool {
        self.decider.is_on_trial()
    }

    /// The same engine, with a clock that began at this moment.
    pub(crate) fn begun(self, at: Instant) -> Self {
        Self { decider: self.decider.begun(at), ..self }
    }

    /// The result of the trials by the clock: the factor by which this process was faster with messages as the adaptive strategy decides than with
    /// raw ones. `None` if there were too few trials.
    #[must_use]
    pub fn trial_result(&self) -> Option<TrialResult> {
        self.decider.trial_result()
    }

    /// The lengths between which the strategy `ras` considers messages of this kind, and their history.
    #[must_use]
    pub fn window(&self, kind: Kind) -> (Thresholds, Vec<Thresholds>) {
        self.decider.window(kind)
    }

    /// How often the adaptive strategy has made each choice.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.decider.tally()
    }

    /// The codecs of this engine.
    pub(crate) fn table(&self) -> &Table {
        &self.table
    }

    /// An empty buffer with room for at least this number of bytes, from the engine's pool; `None` if out of memory.
    pub fn buffer(&self, room: usize) -> Option<Buffer> {
        self.buffers.take(room).ok()
    }

    /// The bytes of the messages that the memory of channels keeps: of those sent, and of those received.
    #[must_use]
    pub fn kept_bytes(&self) -> [usize; 2] {
        self.memory.as_ref().map_or([0; 2], Memory::bytes)
    }

    /// The counts so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.counters.snapshot()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codecs::elsewhere::Elsewhere;

    #[test]
    fn a_decoder_that_fills_other_memory_is_found_out() {
        let raw: Vec<u8> = (0..400_000).flat_map(|i| f64::from(i).to_le_bytes()).collect();
        for len in [8_000, raw.len()] {
            let engine = Engine::default();
            let strategy = "fixed:dfcm-lanes".parse().ok();
            let considered = engine.consider(strategy, Kind::F64, Destination::OtherNode, len).unwrap();
            let frame = engine.encode_considered(considered, &raw[..len]).unwrap();
            let incoming = engine.open(&frame).unwrap();
            let mut out = vec![MaybeUninit::uninit(); len];
            let decode = |decoder, out: &mut Vec<_>| {
                let instances = Instances::of(Arc::default()).with_idle(CodecId::DFCM_LANES_F64, decoder);
                Engine { instances, ..Engine::default() }.decode(&incoming, out)
            };
            for empty in [true, false] {
                let Err(FrameError::Damaged(error)) = decode(Box::new(Elsewhere { empty }), &mut out) else {
                    panic!("{len} bytes: success, but the message is not there")
                };
                assert_eq!(error.kind, DecodeErrorKind::Unfilled);
            }
            assert_eq!(engine.decode(&incoming, &mut out), Ok(()));
        }
    }
}
