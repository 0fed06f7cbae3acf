//! The engine: message, element kind and destination in, frame out; and back.

mod streams;

pub use streams::{Outgoing, Pieces, Tail};

use crate::blocks::{self, BLOCK, Threads};
use crate::buffer::{Buffer, Pool};
use crate::codecs::{self, Instances, Setting};
use crate::decide::{Considered, Decider, Plan};
use crate::frame::{self, FrameError, HEADER_LEN, Incoming, Mark};
use crate::guide::Record;
use crate::knowledge::Knowledge;
use crate::settings::Settings;
use crate::stats::{Counters, Stats};
use crate::strategy::Strategy;
use crate::traffic::{self, Traffic};
use mpress_codec::{CodecId, DecodeErrorKind, Encode, Kind, encode_into};
use mpress_selector::{ByTheClock, Gain, Link, Tally, Thresholds};
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Where a codec has no verdict of its own, a long message is tried on a window at its start and one in its middle before
/// all of it is encoded, so that incompressible data costs next to nothing.
const TRIAL_WINDOW: usize = 4 << 10;
/// Messages from this length on are tried so. Below, encoding all costs no more than the trial.
const TRIAL_FROM: usize = 8 * TRIAL_WINDOW;

/// Where a message goes, as far as compression is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// A process that shares memory with this one.
    SameNode,
    /// A process on another node.
    OtherNode,
}

impl Destination {
    /// All there are, in the order of reports.
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

/// Compresses messages and counts what that gained. Shared by all threads of a process.
pub struct Engine {
    mark: Mark,
    decider: Decider,
    instances: Instances,
    threads: Threads,
    buffers: Arc<Pool>,
    counters: Counters,
    traffic: Traffic,
    /// From which length on messages go in chunks.
    streams: Option<usize>,
}

impl Default for Engine {
    /// With default settings, and no knowledge of the network: a gigabit is assumed.
    fn default() -> Self {
        Self::new(&Settings::default(), &Knowledge::default(), None)
    }
}

impl Engine {
    /// An engine with these settings that starts from this knowledge, and for the guided strategy from this record. The
    /// settings say how; files are read by the caller ([`Knowledge::read`], [`Record::read`]). Its mark is the same in every
    /// process; where messages may hold anything, give it one that is random ([`with_mark`](Self::with_mark)).
    ///
    /// Make it in all processes at about the same time, best right after a message that all wait for: after the first second the adaptive
    /// strategy has trials by the clock, counted from now, in which for an eighth of a second all messages go raw
    /// ([`Settings::clock`](crate::Settings::clock) = `false`: none).
    #[must_use]
    pub fn new(settings: &Settings, knowledge: &Knowledge, record: Option<&Record>) -> Self {
        Self {
            mark: Mark(*b"mpress 3"),
            decider: Decider::new(settings, knowledge, record.map(Record::guided)),
            instances: Instances::default(),
            threads: Threads::new(settings.threads),
            buffers: Arc::default(),
            counters: Counters::default(),
            traffic: Traffic::default(),
            streams: None,
        }
    }

    /// The same engine with the mark of this job, which all its processes must share.
    #[must_use]
    pub fn with_mark(self, mark: Mark) -> Self {
        Self { mark, ..self }
    }

    /// The frame of a message, if the strategy wants it compressed and that makes it shorter. `None`: send the message as it
    /// is.
    pub fn encode(&self, raw: &[u8], kind: Kind, to: Destination) -> Option<Buffer> {
        self.encode_considered(self.consider(None, kind, to, raw.len())?, raw)
    }

    /// Whether a message of this length is worth looking at: the first half of [`encode`](Self::encode), for callers that
    /// have the message's bytes only after some work. By another strategy than the engine's, if one is given;
    /// [`Strategy::Guided`] needs a record that the engine was made with, and sends messages as they are without.
    pub fn consider(
        &self,
        strategy: Option<Strategy>,
        kind: Kind,
        to: Destination,
        len: usize,
    ) -> Option<Considered> {
        let considered = self.decider.consider(strategy, kind, to, len);
        if considered.is_none() {
            self.counters.sent(kind, None, to, len, len, Duration::ZERO);
        }
        considered
    }

    /// The second half of [`encode`](Self::encode). `raw` must have the length that was considered; `None` if it has not.
    pub fn encode_considered(&self, considered: Considered, raw: &[u8]) -> Option<Buffer> {
        let (kind, to, len) = (considered.kind, considered.to, considered.len);
        if raw.len() != len {
            return None;
        }
        let plan = self.decider.plan(considered, raw);
        self.probe(&plan, raw, kind, to);
        self.finish(&plan, raw, kind, to)
    }

    /// The frame of a message by this plan, if there is one; it is counted in any case.
    fn finish(&self, plan: &Plan, raw: &[u8], kind: Kind, to: Destination) -> Option<Buffer> {
        let len = raw.len();
        let start = Instant::now();
        let setting = plan.codec.and_then(|codec| codec.of(kind));
        let packed = setting.and_then(|setting| self.pack(setting, raw, kind));
        let time = if setting.is_some() { start.elapsed() } else { Duration::ZERO };
        let wire_len = packed.as_ref().map_or(len, |frame| frame.len());
        if setting.is_some() {
            self.decider.encoded(plan, wire_len, time);
        }
        let codec = setting.filter(|_| packed.is_some()).map(|setting| setting.codec);
        self.counters.sent(kind, codec, to, len, wire_len, time);
        packed.filter(|_| plan.send)
    }

    /// Encodes what the selector wants to see encoded.
    fn probe(&self, plan: &Plan, raw: &[u8], kind: Kind, to: Destination) {
        if let Some((_, probe)) = plan.probe()
            && let Some(window) = raw.get(probe.window.clone())
        {
            self.probe_window(plan, window, kind, to);
        }
    }

    fn probe_window(&self, plan: &Plan, window: &[u8], kind: Kind, to: Destination) {
        let Some((codec, _)) = plan.probe() else { return };
        let Some(setting) = codec.of(kind) else { return };
        let start = Instant::now();
        let packed = self.instances.with_encoder(setting, |encoder| self.compress(encoder, window)).flatten();
        let time = start.elapsed();
        let wire_len = packed.map_or(window.len(), |buffer| buffer.len().saturating_sub(HEADER_LEN));
        self.decider.probed(plan, wire_len, time);
        self.counters.tried(kind, codec, to, time);
    }

    /// The frame of a message; `None` if that is no shorter, or memory is short.
    fn pack(&self, setting: Setting, raw: &[u8], kind: Kind) -> Option<Buffer> {
        let (id, mut buffer) = if raw.len() > BLOCK {
            (CodecId::BLOCKS, self.compress_blocks(setting, raw)?)
        } else {
            (setting.id, self.instances.with_encoder(setting, |encoder| self.compress(encoder, raw))??)
        };
        frame::seal(self.mark, id, setting.codec.setting(), kind, raw.len(), &mut buffer)?;
        Some(buffer)
    }

    /// The message compressed, after room for a header; `None` if it does not get smaller or memory is short.
    fn compress(&self, encoder: &mut dyn Encode, raw: &[u8]) -> Option<Buffer> {
        let gains = encoder.worthwhile(raw).unwrap_or_else(|| self.trial(encoder, raw));
        if gains { self.append(encoder, raw) } else { None }
    }

    /// The same of a long message, in blocks.
    fn compress_blocks(&self, setting: Setting, raw: &[u8]) -> Option<Buffer> {
        if !self.instances.with_encoder(setting, |encoder| self.gains(encoder, raw, BLOCK))? {
            return None;
        }
        let bound = blocks::bound(&self.instances, setting, raw.len())?;
        let mut buffer = self.buffers.take(frame::room(bound)?).ok()?;
        let room = buffer.room().get_mut(HEADER_LEN..)?;
        let len = blocks::encode(&self.threads, &self.instances, setting, raw, room)?;
        buffer.set_len(HEADER_LEN + len);
        Some(buffer)
    }

    /// Whether a message of which each part is coded for itself gets smaller.
    fn gains(&self, encoder: &mut dyn Encode, raw: &[u8], part: usize) -> bool {
        let mut verdicts = raw.chunks(part).map(|part| encoder.worthwhile(part));
        let known = verdicts.try_fold(false, |gains, verdict| Some(gains || verdict?));
        known.unwrap_or_else(|| self.trial(encoder, raw))
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
        let mut buffer = self.buffers.take(frame::room(bound)?).ok()?;
        let len = encode_into(encoder, raw, buffer.room().get_mut(HEADER_LEN..)?)?;
        buffer.set_len(HEADER_LEN + len);
        Some(buffer)
    }

    /// Whether what arrived is a frame, or what damage has left of one; else it is a message. The first
    /// [`HEADER_LEN`](crate::HEADER_LEN) bytes tell.
    #[must_use]
    pub fn is_frame(&self, message: &[u8]) -> bool {
        self.mark.is_in(message)
    }

    /// Checks a frame.
    ///
    /// # Errors
    /// Unless it is a whole frame of this job.
    pub fn open<'a>(&self, frame: &'a [u8]) -> Result<Incoming<'a>, FrameError> {
        Incoming::open(self.mark, frame)
    }

    /// Decodes a frame into `out`, which must have room for exactly [`Incoming::raw_len`] bytes. On success all of `out` is
    /// initialised; unsafe code may rely on that.
    ///
    /// # Errors
    /// If the payload does not decode to exactly that many bytes, as that of the [head](Incoming::stream) of a stream never does. What `out`
    /// holds then is undefined.
    pub fn decode(&self, incoming: &Incoming<'_>, out: &mut [MaybeUninit<u8>]) -> Result<(), FrameError> {
        let payload = incoming.payload;
        if out.len() != incoming.raw_len() || incoming.stream().is_some() {
            return Err(FrameError::damaged(DecodeErrorKind::Length, 24));
        }
        let start = Instant::now();
        let mut id = incoming.codec;
        if id == CodecId::BLOCKS {
            blocks::decode(&self.threads, &self.instances, payload, out)?;
            id = blocks::codec(payload).unwrap_or(CodecId::BLOCKS);
        } else {
            let decoded = self.instances.decode(id, payload, out).ok_or(FrameError::Codec(id))?;
            decoded.map_err(FrameError::Damaged)?;
        }
        let time = start.elapsed();
        let codec = codecs::used(id, incoming.setting);
        self.counters.received(incoming.kind, codec, 1, incoming.raw_len(), time);
        if let Some(codec) = codec {
            self.decider.decoded(incoming.kind, codec, incoming.raw_len(), time);
        }
        Ok(())
    }

    /// Whether frames of this many bytes are to be counted by [`waited`](Self::waited).
    #[must_use]
    pub const fn counts(bytes: usize) -> bool {
        bytes >= traffic::LONG
    }

    /// Says how long this process waited while `sent` bytes of frames went to other nodes and `received` bytes came, in calls that did nothing
    /// else. The selector learns from that between which bounds the bandwidth of the network is.
    pub fn waited(&self, sent: usize, received: usize, time: Duration) {
        if let Some(passage) = self.traffic.add(sent, received, time) {
            self.decider.passed(passage);
        }
    }

    /// Says what was measured of the network after the engine was made.
    pub fn set_link(&self, link: Link) {
        self.decider.set_link(link);
    }

    /// What is believed of the network now.
    #[must_use]
    pub fn link(&self) -> Link {
        self.decider.link()
    }

    /// What the adaptive strategy has gained, by its own estimate, on the way to other nodes.
    #[must_use]
    pub fn gain(&self) -> Gain {
        self.decider.gain()
    }

    /// Whether the adaptive strategy sends messages another way at this moment, for a trial by the clock, than it does most of the time: all
    /// raw, or, where raw messages have been faster, compressed. A layer must not learn from what comes of these that nothing gets shorter.
    #[must_use]
    pub fn is_on_trial(&self) -> bool {
        self.decider.is_on_trial()
    }

    /// The same engine, with a clock that began at this moment.
    pub(crate) fn begun(self, at: Instant) -> Self {
        Self { decider: self.decider.begun(at), ..self }
    }

    /// What the clock says: by what factor this process went faster with messages as the adaptive strategy decides than with raw ones. `None`
    /// if there were too few trials to tell.
    #[must_use]
    pub fn by_the_clock(&self) -> Option<ByTheClock> {
        self.decider.by_the_clock()
    }

    /// Between which lengths messages of this kind are considered, and how that came to be.
    #[must_use]
    pub fn window(&self, kind: Kind) -> (Thresholds, Vec<Thresholds>) {
        self.decider.window(kind)
    }

    /// What the adaptive strategy has chosen how often.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.decider.tally()
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

    /// By how many bytes all messages sent so far got shorter.
    #[must_use]
    pub fn saved(&self) -> u64 {
        self.counters.saved()
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
                let instances = Instances::default().with_idle(CodecId::DFCM_LANES_F64, decoder);
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
