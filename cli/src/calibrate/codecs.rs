//! The behaviour of the codecs on this machine.

use super::data::{self, TEXTURES, Texture};
use super::{median, round};
use crate::sides::{Coding, Sides};
use mpress::knowledge::CodecBehaviour;
use mpress::selector::{self, Level, Speed};
use mpress::{Codec, Decoder, Encoder, Kind, Out};
use mpress_corpus::cold::Work;
use std::time::{Duration, Instant};

/// The lengths of the measured messages. Two lengths determine the time per byte and the fixed time.
const SHORT: usize = 4 << 10;
const LONG: usize = 256 << 10;
/// The number of different messages of each length and texture, at distances of LONG bytes. Together they exceed the first-level cache, and branch
/// predictors cannot learn them (they do learn a message that is repeated).
const MESSAGES: usize = 8;
/// The minimum number of messages to measure; all are measured if there is time.
const LEAST: usize = 5;
/// Every third texture is also timed with cold caches, which takes milliseconds per message.
const COLD_STEP: usize = 3;
const PATIENCE: Duration = Duration::from_millis(8);

/// A codec on messages of one texture and length.
#[derive(Clone, Copy)]
struct Measured {
    /// Compressed bytes divided by raw bytes.
    fraction: f64,
    encode_ns: f64,
    decode_ns: f64,
}

/// Measures every codec that the strategies `adaptive` and `ras` consider, by kind and level. Calls `begin` for each kind and codec.
pub(super) fn measure(mut begin: impl FnMut(Kind, Codec)) -> Vec<CodecBehaviour> {
    let mut behaviours = Vec::new();
    let mut work = Work::default();
    for kind in Kind::ALL {
        let data: Vec<_> = TEXTURES.iter().map(|texture| Data::new(kind, *texture)).collect();
        for codec in considered(kind) {
            begin(kind, codec);
            behaviours.extend(measure_codec(codec, kind, &data, &mut work));
        }
    }
    behaviours
}

/// The number of calls of `begin`.
pub(super) fn steps() -> usize {
    Kind::ALL.into_iter().map(|kind| considered(kind).count()).sum()
}

/// The codecs that strategies consider for a kind.
fn considered(kind: Kind) -> impl Iterator<Item = Codec> {
    let by_ras = move |codec: &Codec| codec.is_of_practical() && codec.instances(kind).is_some();
    Codec::all().filter(move |codec| codec.adaptive_kinds().contains(&kind) || by_ras(codec))
}

/// Messages of a texture, one after another.
struct Data {
    level: Level,
    bytes: Vec<u8>,
}

impl Data {
    fn new(kind: Kind, texture: Texture) -> Self {
        let bytes = data::message(kind, texture, MESSAGES * LONG);
        let mut levels: Vec<_> = bytes.chunks(LONG).map(|message| selector::level(kind, message)).collect();
        levels.sort_unstable();
        Self { level: levels[MESSAGES / 2], bytes }
    }
}

fn measure_codec(codec: Codec, kind: Kind, data: &[Data], work: &mut Work) -> Vec<CodecBehaviour> {
    let measured: Vec<_> = data
        .iter()
        .filter_map(|data| {
            Some((data.level, time(codec, kind, &data.bytes, SHORT)?, time(codec, kind, &data.bytes, LONG)?))
        })
        .collect();
    let (short_cold, long_cold) = (cold(codec, kind, data, SHORT, work), cold(codec, kind, data, LONG, work));
    let levels = Level::ALL.into_iter().filter_map(|level| {
        // Messages of unknown level may have any level.
        let here: Vec<_> =
            measured.iter().filter(|(at, ..)| *at == level || level == Level::Unknown).collect();
        let mean = |of: &dyn Fn(&Measured, &Measured) -> f64| {
            here.iter().map(|(_, short, long)| of(short, long)).sum::<f64>() / here.len() as f64
        };
        let speed = |ns: fn(&Measured) -> f64, cold: fn(&Coding) -> f64| {
            let hot = [mean(&|short, _| ns(short)), mean(&|_, long| ns(long))];
            speed(hot, [cold(&short_cold), cold(&long_cold)])
        };
        (!here.is_empty()).then(|| CodecBehaviour {
            kind: kind.name().into(),
            level: level.name().into(),
            codec: codec.name().into(),
            ratio: round(1.0 / mean(&|_, long| long.fraction)),
            encode: speed(|measured| measured.encode_ns, |cold| cold.encode_ns),
            decode: speed(|measured| measured.decode_ns, |cold| cold.decode_ns),
        })
    });
    levels.collect()
}

/// The line through the times, in nanoseconds, of a short and a long message, each with the addition for cold caches.
fn speed(hot: [f64; 2], cold: [f64; 2]) -> Speed {
    let [short_ns, long_ns] = [hot[0] + cold[0], hot[1] + cold[1]];
    // Even if the fixed time and noise dominate, a byte takes some time.
    let ns_per_byte = ((long_ns - short_ns) / (LONG - SHORT) as f64).max(1e-3);
    let start_us = round((short_ns - ns_per_byte * SHORT as f64).max(0.0) * 1e-3);
    Speed { start_us, mb_s: round(1e3 / ns_per_byte), cold_us: round(cold[0] * 1e-3).min(start_us) }
}

/// The addition of cold caches to the engine's times for a message of this length: the median over messages of several textures, which share code
/// and tables.
fn cold(codec: Codec, kind: Kind, data: &[Data], len: usize, work: &mut Work) -> Coding {
    let mut sides = Sides::new(codec, kind, len);
    let (mut encode, mut decode) = (Vec::new(), Vec::new());
    for message in data.iter().step_by(COLD_STEP).filter_map(|data| data.bytes.get(..len)) {
        // The first message creates buffers and instances of the codec, and lets the encoder learn.
        let [Ok(_), Ok((_, hot)), Ok((wire_len, cold))] =
            [sides.code(message, || ()), sides.code(message, || ()), sides.code(message, || work.run())]
        else {
            continue;
        };
        encode.push((cold.encode_ns - hot.encode_ns).max(0.0));
        if wire_len.is_some() {
            decode.push((cold.decode_ns - hot.decode_ns).max(0.0));
        }
    }
    let encode_ns = median(encode).unwrap_or(0.0);
    // A codec that made no message shorter is seldom asked to decode.
    Coding { encode_ns, decode_ns: median(decode).unwrap_or(encode_ns) }
}

/// Codes messages of this length from all over `bytes`. The result is the median, because only few messages are interrupted, or are the first one,
/// from which a codec with memory learns.
fn time(codec: Codec, kind: Kind, bytes: &[u8], len: usize) -> Option<Measured> {
    let (mut encoder, mut decoder) = codec.instances(kind)?;
    let mut wire = vec![1; encoder.max_encoded_len(len)?];
    // Written just before, as by a program, so no page is touched for the first time during the measurement.
    let messages: Vec<u8> =
        bytes.chunks(LONG).filter_map(|message| message.get(..len)).flatten().copied().collect();
    let mut raw = vec![1; messages.len()];
    let start = Instant::now();
    let (mut wire_len, mut encode_ns, mut decode_ns) = (0, Vec::new(), Vec::new());
    for (message, raw) in messages.chunks(len).zip(raw.chunks_mut(len)) {
        let (bytes, encode, decode) = code(&mut encoder, &mut decoder, message, &mut wire, raw)?;
        wire_len += bytes.min(len);
        encode_ns.push(encode);
        decode_ns.push(decode);
        if start.elapsed() > PATIENCE && encode_ns.len() >= LEAST {
            break;
        }
    }
    let fraction = wire_len as f64 / (len * encode_ns.len()) as f64;
    Some(Measured { fraction, encode_ns: median(encode_ns)?, decode_ns: median(decode_ns)? })
}

/// Encodes and decodes one message: bytes on the wire, nanoseconds of encoding and of decoding; `None` if that fails.
fn code(
    encoder: &mut Encoder,
    decoder: &mut Decoder,
    message: &[u8],
    wire: &mut [u8],
    raw: &mut [u8],
) -> Option<(usize, f64, f64)> {
    let start = Instant::now();
    let mut out = Out::from_slice(wire);
    encoder.encode(message, &mut out).ok()?;
    let encode = start.elapsed();
    let wire = out.written();
    let start = Instant::now();
    decoder.decode(wire, &mut Out::from_slice(raw)).ok()?;
    let decode = start.elapsed();
    (raw == message).then_some((wire.len(), encode.as_secs_f64() * 1e9, decode.as_secs_f64() * 1e9))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_rests_on_two_textures_or_more() {
        for kind in Kind::ALL {
            let levels = TEXTURES.map(|texture| Data::new(kind, texture).level);
            for wanted in Level::ALL.into_iter().filter(|level| *level != Level::Unknown) {
                let count = levels.iter().filter(|level| **level == wanted).count();
                assert!(count >= 2, "{kind:?} has {count} textures of level {}: {levels:?}", wanted.name());
            }
        }
    }

    #[test]
    fn a_speed_is_what_two_lengths_say() {
        // 2 us plus 0.5 ns per byte.
        let at = |len: usize| 2000.0 + 0.5 * len as f64;
        let hot = [at(SHORT), at(LONG)];
        assert_eq!(speed(hot, [0.0; 2]), Speed { start_us: 2.0, mb_s: 2000.0, cold_us: 0.0 });
        let found = speed(hot, [5000.0; 2]);
        assert_eq!(found, Speed { start_us: 7.0, mb_s: 2000.0, cold_us: 5.0 });
        assert!(
            (found.time_ns(SHORT) - at(SHORT) - 5000.0).abs() < 1.0
                && (found.time_ns(LONG) - at(LONG) - 5000.0).abs() < 1.0
        );
        // Too short to measure; a long message that happened to be faster; and a short one that took longer with cold caches.
        for (hot, cold) in [([10.0; 2], [0.0; 2]), ([20.0, 10.0], [0.0; 2]), ([10.0, 9e5], [8e5, 0.0])] {
            assert!(speed(hot, cold).is_sane(), "{hot:?} {cold:?}");
        }
        assert_eq!(speed([0.0, at(LONG)], [0.0; 2]).start_us, 0.0);
    }
}
