//! Sender and receiver of messages with one codec in one process, and the engine's times as in a job's report: including the check whether a
//! message is worthwhile, buffers, and the checksum of the frame. With cold caches these take as long as the codec.

use mpress::{Channel, Codec, Destination, Engine, FrameError, Kind, Knowledge, Settings, Stats, Strategy};
use std::collections::HashMap;
use std::mem::MaybeUninit;

/// Ranks of the simulated job.
const RANKS: u32 = 1 << 20;

/// Nanoseconds of coding a message.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Coding {
    pub(crate) encode_ns: f64,
    /// Zero if the message is sent raw.
    pub(crate) decode_ns: f64,
}

/// Sender and receiver of messages with one codec.
pub(crate) struct Sides {
    kind: Kind,
    settings: Settings,
    engine: Engine,
    /// With a memory: the receivers of the messages, by rank. Each sends the same messages back.
    peers: HashMap<u32, Engine>,
    /// The receiver's buffer for the message.
    room: Vec<MaybeUninit<u8>>,
}

impl Sides {
    /// For messages of up to `longest` bytes.
    pub(crate) fn new(codec: Codec, kind: Kind, longest: usize) -> Self {
        let settings = Settings { strategy: Strategy::Fixed(codec), threads: 1, ..Settings::default() };
        let engine = Engine::new(&settings, &Knowledge::default(), None);
        Self { kind, settings, engine, peers: HashMap::new(), room: vec![MaybeUninit::new(0); longest] }
    }

    /// The same with a memory of channels.
    pub(crate) fn with_memory(self) -> Self {
        Self { engine: self.engine.with_memory(&self.settings, 0, RANKS), ..self }
    }

    /// Encodes and decodes a message of a channel, as [`code`](Self::code) does, with a receiver that sends the same message back at the same time: so
    /// it says of a message that it keeps it when it sends the next one.
    ///
    /// # Errors
    /// If a frame cannot be decoded.
    pub(crate) fn exchange(
        &mut self,
        channel: Channel,
        message: &[u8],
        mut work: impl FnMut(),
    ) -> Result<(Option<usize>, Coding), FrameError> {
        let (kind, settings) = (self.kind, &self.settings);
        let peer = self.peers.entry(channel.peer).or_insert_with(|| {
            Engine::new(settings, &Knowledge::default(), None).with_memory(settings, channel.peer, RANKS)
        });
        let send = |engine: &Engine, channel: Channel| {
            let considered = engine.consider(None, kind, Destination::OtherNode, message.len())?;
            engine.encode_considered(considered.on(channel), message)
        };
        let room = &mut self.room[..message.len()];
        let before = [self.engine.stats(), peer.stats()];
        work();
        let frame = send(&self.engine, channel);
        let encoded = Coding::between(&before[0], &self.engine.stats());
        let back = send(peer, Channel { peer: 0, ..channel });
        if let Some(frame) = &frame {
            work();
            peer.decode(&peer.open(frame)?, room)?;
        }
        let decoded = Coding::between(&before[1], &peer.stats());
        if let Some(back) = back {
            self.engine.decode(&self.engine.open(&back)?, room)?;
        }
        Ok((frame.map(|frame| frame.len()), Coding { decode_ns: decoded.decode_ns, ..encoded }))
    }

    /// Encodes and decodes a message, each after some work. Returns the length of its frame, if it has one, and the times.
    ///
    /// # Errors
    /// If the frame cannot be decoded.
    pub(crate) fn code(
        &mut self,
        message: &[u8],
        mut work: impl FnMut(),
    ) -> Result<(Option<usize>, Coding), FrameError> {
        let before = self.engine.stats();
        work();
        let frame = self.engine.encode(message, self.kind, Destination::OtherNode);
        if let Some(frame) = &frame {
            work();
            let incoming = self.engine.open(frame)?;
            self.engine.decode(&incoming, &mut self.room[..message.len()])?;
        }
        Ok((frame.map(|frame| frame.len()), Coding::between(&before, &self.engine.stats())))
    }
}

impl Coding {
    /// The median of each time.
    pub(crate) fn median(all: &[Self]) -> Self {
        let middle = |of: fn(&Self) -> f64| {
            let mut times: Vec<_> = all.iter().map(of).collect();
            times.sort_by(f64::total_cmp);
            times.get(times.len() / 2).copied().unwrap_or(0.0)
        };
        Self { encode_ns: middle(|coding| coding.encode_ns), decode_ns: middle(|coding| coding.decode_ns) }
    }

    /// The counts since then.
    fn between(before: &Stats, after: &Stats) -> Self {
        let (before, after) = (before.total(), after.total());
        Self {
            encode_ns: (after.encode_ns - before.encode_ns) as f64,
            decode_ns: (after.decode_ns - before.decode_ns) as f64,
        }
    }
}
