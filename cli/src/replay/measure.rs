//! The result of every codec for every message: measured once, used for all links.

use super::{Error, Input};
use mpress::selector::Packed;
use mpress::{Codec, Kind, Out, frame_len};
use std::time::Instant;

/// Passes over a file; the result is the median of a message's times.
const PASSES: usize = 5;

/// Messages, and the results of codecs for them.
pub(super) struct Measured<'a> {
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
    pub(super) encode_ns: f64,
    pub(super) decode_ns: f64,
}

impl Outcome {
    /// The outcome in the form of the selector's estimate.
    pub(super) fn packed(&self, len: usize) -> Packed {
        let fraction = self.wire_len.map_or(1.0, |wire_len| wire_len as f64 / len as f64);
        let decode_ns = if self.wire_len.is_some() { self.decode_ns } else { 0.0 };
        Packed { fraction, encode_ns: self.encode_ns, decode_ns, handover_ns: 0.0, receiving_ns: 0.0 }
    }
}

/// Measures all codecs that are made for this kind.
pub(super) fn measure(input: &Input) -> Result<Measured<'_>, Error> {
    let mut codecs = Vec::new();
    for codec in Codec::all() {
        if let Some(outcomes) = measure_codec(codec, input.kind, &input.messages)? {
            codecs.push((codec, outcomes));
        }
    }
    Ok(Measured { kind: input.kind, messages: &input.messages, codecs })
}

fn measure_codec(codec: Codec, kind: Kind, messages: &[Vec<u8>]) -> Result<Option<Vec<Outcome>>, Error> {
    let longest = messages.iter().map(Vec::len).max().unwrap_or(0);
    let mut passes: Vec<Vec<Outcome>> = Vec::new();
    for _ in 0..PASSES {
        let Some((mut encoder, mut decoder)) = codec.instances(kind) else { return Ok(None) };
        let bound = encoder.max_encoded_len(longest).ok_or(Error::TooLong(longest))?;
        let (mut wire, mut raw) = (vec![0; bound], vec![0; longest]);
        let mut outcomes = Vec::new();
        for message in messages {
            let start = Instant::now();
            let mut out = Out::from_slice(&mut wire);
            let tried =
                encoder.worthwhile(message) != Some(false) && encoder.encode(message, &mut out).is_ok();
            let encode_ns = start.elapsed().as_secs_f64() * 1e9;
            let wire = out.written();
            let gains = tried && frame_len(wire.len()) < message.len();
            let mut decode_ns = 0.0;
            if gains {
                let raw = &mut raw[..message.len()];
                let start = Instant::now();
                let decoded = decoder.decode(wire, &mut Out::from_slice(raw));
                decode_ns = start.elapsed().as_secs_f64() * 1e9;
                if decoded.is_err() || *raw != **message {
                    return Err(Error::NotLossless(codec.name()));
                }
            }
            let wire_len = gains.then_some(frame_len(wire.len()));
            outcomes.push(Outcome { wire_len, encode_ns, decode_ns });
        }
        passes.push(outcomes);
    }
    let median = |of: &dyn Fn(&Outcome) -> f64, at: usize| {
        let mut times: Vec<_> = passes.iter().map(|pass| of(&pass[at])).collect();
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let median_of = |at: usize| Outcome {
        wire_len: passes[0][at].wire_len,
        encode_ns: median(&|outcome| outcome.encode_ns, at),
        decode_ns: median(&|outcome| outcome.decode_ns, at),
    };
    Ok(Some((0..messages.len()).map(median_of).collect()))
}
