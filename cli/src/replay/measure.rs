//! The result of every codec for every message: measured once, used for all links.
//!
//! Times are those of the engine, as in the report of a job: with the look whether a message is worthwhile, and the check of the frame.

use super::{Error, Input};
use mpress::selector::Packed;
use mpress::{Codec, Destination, Engine, Kind, Knowledge, Out, Settings, Stats, Strategy};
use mpress_corpus::cold::{Surcharge, Work, sample};
use std::mem::MaybeUninit;

/// Passes over a file; the result is the median of a message's times.
const PASSES: usize = 5;
/// The maximum number of messages of a file that are timed cold, for each codec, and how often each is timed.
const COLD: usize = 32;
const COLD_PASSES: usize = 3;

/// Messages, and the results of codecs for them.
pub(super) struct Measured<'a> {
    pub(super) name: &'a str,
    pub(super) kind: Kind,
    pub(super) messages: &'a [Vec<u8>],
    /// By codec, the result for each message; its `wire_len` is `None` where the frame is not shorter.
    pub(super) codecs: Vec<(Codec, Vec<Outcome>)>,
}

/// The result of a codec for a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    /// Bytes of the frame; `None` if that is no shorter than the message.
    pub(super) wire_len: Option<usize>,
    hot: Coding,
    cold: Coding,
}

/// Nanoseconds of coding a message.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Coding {
    pub(super) encode_ns: f64,
    /// Zero where the message is sent raw.
    pub(super) decode_ns: f64,
}

/// Whether codecs find their code and data in the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caches {
    /// They do not: the program has worked since the last message.
    Cold,
    /// They do: message follows message.
    Hot,
}

impl Caches {
    /// As tables say it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Cold => "cold caches",
            Self::Hot => "hot caches",
        }
    }
}

impl Outcome {
    /// The times of coding.
    pub(super) fn coding(&self, caches: Caches) -> Coding {
        match caches {
            Caches::Cold => self.cold,
            Caches::Hot => self.hot,
        }
    }

    /// The outcome in the form of the selector's estimate.
    pub(super) fn packed(&self, len: usize, caches: Caches) -> Packed {
        let fraction = self.wire_len.map_or(1.0, |wire_len| wire_len as f64 / len as f64);
        let Coding { encode_ns, decode_ns } = self.coding(caches);
        Packed { fraction, encode_ns, decode_ns, handover_ns: 0.0, receiving_ns: 0.0 }
    }
}

/// Measures all codecs that are made for this kind.
pub(super) fn measure<'a>(input: &'a Input, work: &mut Work) -> Result<Measured<'a>, Error> {
    let mut codecs = Vec::new();
    for codec in Codec::all() {
        if let Some(outcomes) = measure_codec(codec, input.kind, &input.messages, work)? {
            codecs.push((codec, outcomes));
        }
    }
    Ok(Measured { name: &input.name, kind: input.kind, messages: &input.messages, codecs })
}

fn measure_codec(
    codec: Codec,
    kind: Kind,
    messages: &[Vec<u8>],
    work: &mut Work,
) -> Result<Option<Vec<Outcome>>, Error> {
    if !check(codec, kind, messages)? {
        return Ok(None);
    }
    let mut sides = Sides::new(codec, kind, messages);
    let mut passes = Vec::new();
    for _ in 0..PASSES {
        // A job starts without what encoders learn from message to message.
        sides = Sides::new(codec, kind, messages);
        passes.push(messages.iter().map(|message| sides.code(message)).collect::<Result<Vec<_>, _>>()?);
    }
    let hot = |at: usize| Coding::median(&passes.iter().map(|pass| pass[at].1).collect::<Vec<_>>());
    let hot: Vec<_> = (0..messages.len()).map(hot).collect();
    let wire_lens: Vec<_> = passes[0].iter().map(|(wire_len, _)| *wire_len).collect();
    let surcharges = Surcharges::measure(&mut sides, messages, &hot, work)?;
    let outcome = |at: usize| {
        let cold = surcharges.add(hot[at], messages[at].len(), wire_lens[at].is_some());
        Outcome { wire_len: wire_lens[at], hot: hot[at], cold }
    };
    Ok(Some((0..messages.len()).map(outcome).collect()))
}

/// Whether the codec supports the kind; if so, it must restore all messages.
fn check(codec: Codec, kind: Kind, messages: &[Vec<u8>]) -> Result<bool, Error> {
    let Some((mut encoder, mut decoder)) = codec.instances(kind) else { return Ok(false) };
    let longest = messages.iter().map(Vec::len).max().unwrap_or(0);
    let bound = encoder.max_encoded_len(longest).ok_or(Error::TooLong(longest))?;
    let (mut wire, mut raw) = (vec![0; bound], vec![0; longest]);
    for message in messages {
        let (mut out, raw) = (Out::from_slice(&mut wire), &mut raw[..message.len()]);
        if encoder.encode(message, &mut out).is_ok() {
            let decoded = decoder.decode(out.written(), &mut Out::from_slice(raw));
            if decoded.is_err() || *raw != **message {
                return Err(Error::NotLossless(codec.name()));
            }
        }
    }
    Ok(true)
}

/// Sender and receiver of messages by one codec.
struct Sides {
    codec: Codec,
    kind: Kind,
    engine: Engine,
    /// Where the receiver wants the message.
    room: Vec<MaybeUninit<u8>>,
}

impl Sides {
    fn new(codec: Codec, kind: Kind, messages: &[Vec<u8>]) -> Self {
        let settings = Settings { strategy: Strategy::Fixed(codec), threads: 1, ..Settings::default() };
        let longest = messages.iter().map(Vec::len).max().unwrap_or(0);
        let engine = Engine::new(&settings, &Knowledge::default(), None);
        Self { codec, kind, engine, room: vec![MaybeUninit::new(0); longest] }
    }

    /// Encodes and decodes a message: the length of its frame, if it has one, and the times.
    fn code(&mut self, message: &[u8]) -> Result<(Option<usize>, Coding), Error> {
        self.code_after(message, || ())
    }

    /// The same after some work.
    fn code_after(&mut self, message: &[u8], work: impl FnOnce()) -> Result<(Option<usize>, Coding), Error> {
        let before = self.engine.stats();
        work();
        let frame = self.engine.encode(message, self.kind, Destination::OtherNode);
        if let Some(frame) = &frame {
            let broken = |_| Error::NotLossless(self.codec.name());
            let incoming = self.engine.open(frame).map_err(broken)?;
            self.engine.decode(&incoming, &mut self.room[..message.len()]).map_err(broken)?;
        }
        Ok((frame.map(|frame| frame.len()), Coding::between(&before, &self.engine.stats())))
    }
}

impl Coding {
    /// The median of each time.
    fn median(all: &[Self]) -> Self {
        let middle = |of: fn(&Self) -> f64| {
            let mut times: Vec<_> = all.iter().map(of).collect();
            times.sort_by(f64::total_cmp);
            times.get(times.len() / 2).copied().unwrap_or(0.0)
        };
        Self { encode_ns: middle(|coding| coding.encode_ns), decode_ns: middle(|coding| coding.decode_ns) }
    }

    /// What was counted meanwhile.
    fn between(before: &Stats, after: &Stats) -> Self {
        let (before, after) = (before.total(), after.total());
        Self {
            encode_ns: (after.encode_ns - before.encode_ns) as f64,
            decode_ns: (after.decode_ns - before.decode_ns) as f64,
        }
    }
}

/// What cold caches add to the times of a codec on the messages of a file.
#[derive(Debug, Default)]
struct Surcharges {
    /// To encoding messages that are then sent raw, and those that are sent compressed.
    encode: [Surcharge; 2],
    decode: Surcharge,
}

impl Surcharges {
    fn measure(sides: &mut Sides, messages: &[Vec<u8>], hot: &[Coding], work: &mut Work) -> Result<Self, Error> {
        let lens: Vec<_> = messages.iter().map(Vec::len).collect();
        let (mut encode, mut decode) = ([Vec::new(), Vec::new()], Vec::new());
        for at in sample(&lens, COLD) {
            let mut times = Vec::new();
            let mut wire_len = None;
            for _ in 0..COLD_PASSES {
                let (len, coding) = sides.code_after(&messages[at], || work.run())?;
                wire_len = len;
                times.push(coding);
            }
            let cold = Coding::median(&times);
            encode[usize::from(wire_len.is_some())].push((lens[at], cold.encode_ns - hot[at].encode_ns));
            if wire_len.is_some() {
                decode.push((lens[at], cold.decode_ns - hot[at].decode_ns));
            }
        }
        let [raw, compressed] = encode.map(|points| (!points.is_empty()).then(|| Surcharge::fit(&points)));
        // A way that no message of the sample went is taken to cost as much as the other.
        let either = |this: Option<Surcharge>, other: Option<Surcharge>| this.or(other).unwrap_or_default();
        let encode = [either(raw, compressed), either(compressed, raw)];
        Ok(Self { encode, decode: Surcharge::fit(&decode) })
    }

    fn add(&self, hot: Coding, len: usize, is_compressed: bool) -> Coding {
        let decode_ns = if is_compressed { hot.decode_ns + self.decode.ns(len) } else { 0.0 };
        Coding { encode_ns: hot.encode_ns + self.encode[usize::from(is_compressed)].ns(len), decode_ns }
    }
}
