//! LZO1X streams of varied structure, length and level, exchanged with liblzo2 in both directions.

use crate::lzo::{Compressor, Lzo};
use mpress_codec::{Decode, Encode, Out};
use mpress_lzo_compat::{Decoder, Effort, Encoder, Lzo1x};

/// The amount of exchanged data.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exchanged {
    /// Messages, each sent once in either direction.
    pub streams: u64,
    /// Bytes of all messages.
    pub raw: u64,
    /// Bytes of liblzo2's streams.
    pub theirs: u64,
    /// Bytes of this project's streams.
    pub ours: u64,
}

/// Compresses `count` messages with liblzo2, each with the next of its compressors, and decodes them here; and decodes with liblzo2 the streams
/// made here, with each effort in turn. The same `seed` gives the same messages.
///
/// # Errors
/// A line about the message that was not restored, and the difference.
pub fn exchange(count: u64, seed: u64) -> Result<Exchanged, String> {
    let mut lzo = Lzo::new().map_err(|status| format!("liblzo2 gives status {status}"))?;
    let mut encoders: Vec<_> = Effort::ALL.iter().copied().map(Encoder::<Lzo1x>::new).collect();
    let mut sum = Exchanged::default();
    for number in 0..count {
        let raw = message(&mut Noise(seed.wrapping_add(number)));
        let compressor = Compressor::ALL[(number % Compressor::ALL.len() as u64) as usize];
        let encoder = &mut encoders[(number % Effort::ALL.len() as u64) as usize];
        let failed =
            |what: String| format!("message {number} of {} bytes, {compressor:?}: {what}", raw.len());

        let theirs = lzo.compress(compressor, &raw).map_err(|status| failed(format!("status {status}")))?;
        let mut back = vec![0; raw.len()];
        Decoder::<Lzo1x>::new()
            .decode(&theirs, &mut Out::from_slice(&mut back))
            .map_err(|error| failed(format!("liblzo2's stream is refused here: {error}")))?;
        if back != raw {
            return Err(failed("liblzo2's stream gives a different message here".into()));
        }

        let bound = encoder.max_encoded_len(raw.len()).ok_or_else(|| failed("no bound".into()))?;
        let mut wire = vec![0; bound];
        let mut out = Out::from_slice(&mut wire);
        encoder.encode(&raw, &mut out).map_err(|error| failed(error.to_string()))?;
        let ours = out.written();
        match lzo.decompress(ours, raw.len()) {
            Ok(back) if back == raw => {}
            Ok(_) => return Err(failed("this stream gives liblzo2 a different message".into())),
            Err(status) => return Err(failed(format!("liblzo2 refuses this stream with status {status}"))),
        }
        sum.streams += 1;
        sum.raw += raw.len() as u64;
        sum.theirs += theirs.len() as u64;
        sum.ours += ours.len() as u64;
    }
    Ok(sum)
}

/// SplitMix64 (Steele, Lea, Flood 2014).
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// A number below a power of two up to `2^log2`: small numbers are as likely as large ones.
    fn scale(&mut self, log2: usize) -> usize {
        let bits = self.below(log2 + 1);
        self.below(1 << bits)
    }
}

/// A message: consecutive pieces of one kind, until it is long enough. One in a hundred is longer than every distance.
fn message(noise: &mut Noise) -> Vec<u8> {
    let log2 = if noise.below(100) == 0 { 17 } else { 14 };
    let len = noise.scale(log2);
    let mut message = Vec::with_capacity(len);
    while message.len() < len {
        let room = len - message.len();
        let piece = (1 + noise.scale(if len > 8192 { 14 } else { 9 })).min(room);
        match noise.below(8) {
            0 => message.extend((0..piece).map(|_| noise.next() as u8)),
            1 => message.resize(message.len() + piece, noise.next() as u8),
            2 => message.extend((0..piece).map(|_| b"aeinrst \n"[noise.below(9)])),
            3 => {
                let start = noise.next() as u32;
                let numbers = (0..).map(|i| start.wrapping_add(i));
                message.extend(numbers.flat_map(u32::to_le_bytes).take(piece));
            }
            4 => {
                let (start, step) = (noise.below(1000) as f64, noise.below(1000) as f64 * 1e-4);
                message.extend((0..).flat_map(|i| (start + step * f64::from(i)).to_le_bytes()).take(piece));
            }
            _ if message.is_empty() => message.push(noise.next() as u8),
            // Copies: near, far, and short ones with a few literals between them; together they produce all instructions.
            5 => copy(&mut message, noise.scale(11), piece),
            6 => copy(&mut message, noise.scale(17), piece),
            _ => {
                for _ in 0..1 + piece / 8 {
                    let len = 2 + noise.below(8);
                    let distance = noise.scale(16);
                    copy(&mut message, distance, len);
                    let literals = noise.below(6);
                    message.extend((0..literals).map(|_| noise.next() as u8));
                }
            }
        }
    }
    message.truncate(len);
    message
}

/// Appends bytes from this distance back, or from as far back as possible.
fn copy(message: &mut Vec<u8>, distance: usize, len: usize) {
    let distance = distance.clamp(1, message.len());
    (0..len).for_each(|_| message.push(message[message.len() - distance]));
}
