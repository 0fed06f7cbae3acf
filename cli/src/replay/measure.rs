//! The result of every codec for every message: measured once, used for all links.

use super::{Error, Input};
use crate::sides::{Coding, Sides};
use mpress::selector::Packed;
use mpress::{Codec, FrameError, Kind, Out};
use mpress_corpus::cold::{Surcharge, Work, sample};

/// Passes over a file; the result is the median of a message's times.
const PASSES: usize = 5;
/// The maximum number of messages of a kind that are timed cold for each codec, and the number of repeats.
const COLD: usize = 64;
const COLD_PASSES: usize = 3;

/// Messages, and the results of codecs for them.
pub(super) struct Measured<'a> {
    pub(super) name: &'a str,
    pub(super) kind: Kind,
    pub(super) messages: &'a [Vec<u8>],
    /// For each codec, the result for each message; its `wire_len` is `None` if the frame is not shorter.
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

/// Whether codecs find their code and data in the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caches {
    /// They do not: the program has worked since the last message.
    Cold,
    /// They do: messages follow each other.
    Hot,
}

impl Caches {
    /// The name in tables.
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
        Packed { fraction, encode_ns, decode_ns }
    }
}

/// Measures all codecs that are made for the kind of each input; with cold caches only if `is_wanted`; with a `memory`
/// of channels, or without.
pub(super) fn measure(
    inputs: &[Input],
    (is_wanted, memory): (bool, bool),
) -> Result<Vec<Measured<'_>>, Error> {
    let mut measured = inputs.iter().map(|input| hot(input, memory)).collect::<Result<Vec<_>, _>>()?;
    if !is_wanted {
        return Ok(measured);
    }
    let mut work = Work::default();
    for kind in Kind::ALL {
        // Code and tables of a codec are the same for all messages of a kind, so one sample serves all.
        let mut files: Vec<_> = measured.iter_mut().filter(|file| file.kind == kind).collect();
        for codec in Codec::all() {
            cold(codec, kind, &mut files, &mut work)?;
        }
    }
    Ok(measured)
}

/// Measures with hot caches.
fn hot(input: &Input, memory: bool) -> Result<Measured<'_>, Error> {
    let Input { name, kind, messages, channels } = input;
    let mut codecs = Vec::new();
    for codec in Codec::all() {
        if !check(codec, *kind, messages)? {
            continue;
        }
        let longest = messages.iter().map(Vec::len).max().unwrap_or(0);
        let broken = |_| Error::NotLossless(codec.name());
        let mut passes = Vec::new();
        for _ in 0..PASSES {
            // A job starts without what encoders learn from message to message.
            let mut sides = Sides::new(codec, *kind, longest);
            if memory {
                sides = sides.with_memory();
            }
            passes.push(
                messages
                    .iter()
                    .zip(channels)
                    .map(|(message, channel)| match channel.filter(|_| memory) {
                        Some(channel) => sides.exchange(channel, message, || ()),
                        None => sides.code(message, || ()),
                    })
                    .collect::<Result<Vec<_>, _>>()
                    .map_err(broken)?,
            );
        }
        let outcome = |at: usize| {
            let hot = Coding::median(&passes.iter().map(|pass| pass[at].1).collect::<Vec<_>>());
            Outcome { wire_len: passes[0][at].0, hot, cold: hot }
        };
        codecs.push((codec, (0..messages.len()).map(outcome).collect()));
    }
    Ok(Measured { name, kind: *kind, messages, codecs })
}

/// Adds the extra time of a codec with cold caches to the outcomes of files of a kind.
fn cold(codec: Codec, kind: Kind, files: &mut [&mut Measured<'_>], work: &mut Work) -> Result<(), Error> {
    let all = files.iter().flat_map(|file| {
        let outcomes = file.codecs.iter().find(|(other, _)| *other == codec).map(|(_, outcomes)| outcomes);
        file.messages.iter().zip(outcomes.into_iter().flatten())
    });
    let all: Vec<_> = all.collect();
    let lens: Vec<_> = all.iter().map(|(message, _)| message.len()).collect();
    let mut sides = Sides::new(codec, kind, lens.iter().copied().max().unwrap_or(0));
    let (mut encode, mut decode) = ([Vec::new(), Vec::new()], Vec::new());
    for at in sample(&lens, COLD) {
        let (message, Outcome { hot, wire_len, .. }) = all[at];
        let cold = (0..COLD_PASSES).map(|_| Ok(sides.code(message, || work.run())?.1));
        let cold =
            cold.collect::<Result<Vec<_>, _>>().map_err(|_: FrameError| Error::NotLossless(codec.name()))?;
        let cold = Coding::median(&cold);
        encode[usize::from(wire_len.is_some())].push((lens[at], cold.encode_ns - hot.encode_ns));
        if wire_len.is_some() {
            decode.push((lens[at], cold.decode_ns - hot.decode_ns));
        }
    }
    // The times of messages sent raw, and of those sent compressed. If the sample lacks one group, the other stands in for it.
    if let Some(at) = encode.iter().position(Vec::is_empty) {
        encode[at] = encode[1 - at].clone();
    }
    let (encode, decode) = (encode.map(|messages| Surcharge::fit(&messages)), Surcharge::fit(&decode));
    for file in files {
        let outcomes =
            file.codecs.iter_mut().filter(|(other, _)| *other == codec).flat_map(|(_, outcomes)| outcomes);
        for (outcome, message) in outcomes.zip(file.messages) {
            let len = message.len();
            outcome.cold.encode_ns += encode[usize::from(outcome.wire_len.is_some())].ns(len);
            if outcome.wire_len.is_some() {
                outcome.cold.decode_ns += decode.ns(len);
            }
        }
    }
    Ok(())
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
