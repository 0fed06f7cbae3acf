//! Ratio and speed of codecs on files, with every round trip checked.

use super::report::{Figures, Line};
use crate::Result;
use crate::aligned::Aligned;
use crate::codecs::Subject;
use crate::coder::Coder;
use crate::corpus::{File, Piece};
use cpu_time::ThreadTime;
use mpress_codec::simd::Simd;
use mpress_corpus::cold::{Surcharge, Work, sample};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// The settings of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The SIMD tier of this project's codecs.
    pub simd: Simd,
    /// What to compress individually.
    pub piece: Piece,
    /// The minimum length in bytes.
    pub from: usize,
    /// The maximum length in bytes.
    pub to: usize,
    /// The number of timed passes over everything.
    pub passes: usize,
    /// Whether times are those with cold caches, which include the extra time of messages after other work.
    pub cold: bool,
}

/// The maximum number of messages that are timed with cold caches for each codec and file, and the number of repeats.
const COLD: usize = 16;
const COLD_PASSES: usize = 3;

/// A codec on a file.
struct Row<'a> {
    subject: &'static Subject,
    file: &'a File,
    coder: Box<dyn Coder>,
    messages: Vec<&'a [u8]>,
    /// The encoded messages without gaps; those sent raw are not included.
    wires: Vec<u8>,
    /// The lengths of the encoded messages in bytes; `None` for those sent raw.
    lens: Vec<Option<usize>>,
    encode: Vec<Duration>,
    decode: Vec<Duration>,
    /// The total extra time of all messages with cold caches, in seconds: encoding and decoding.
    cold: [f64; 2],
}

/// Runs each of these codecs on each of these files that it supports.
///
/// # Errors
/// If a codec fails, if a message is not restored, or if there is no message.
pub fn measure(files: &[File], subjects: &[&'static Subject], settings: &Settings) -> Result<Vec<Line>> {
    let mut rows = Vec::new();
    let mut room = 0;
    for file in files {
        let wanted = |message: &&[u8]| (settings.from..=settings.to).contains(&message.len());
        let messages: Vec<_> = file.pieces(settings.piece).into_iter().filter(wanted).collect();
        let Some(longest) = messages.iter().map(|message| message.len()).max() else { continue };
        for subject in subjects {
            let name = |error| format!("{} on {}: {error}", subject.name, file.name);
            let Some(coder) = (subject.make)(file.element, settings.simd).map_err(name)? else { continue };
            room = room.max(coder.bound(longest).map_err(name)?).max(longest);
            rows.push(Row::new(subject, file, coder, messages.clone()));
        }
    }
    if rows.is_empty() {
        return Err("no message of the wanted length, or no codec for these files".into());
    }
    let mut buffer = Aligned::zeroed(room);
    let mut back = Aligned::zeroed(room);
    for row in &mut rows {
        let name = |error| format!("{} on {}: {error}", row.subject.name, row.file.name);
        row.check(&mut buffer, &mut back).map_err(name)?;
    }
    // One pass over all rows at a time, so that a temporary disturbance of the machine affects all rows.
    for _ in 0..settings.passes {
        for row in &mut rows {
            row.pass(&mut buffer)?;
        }
    }
    if settings.cold {
        let mut work = Work::default();
        for row in &mut rows {
            row.cool(&mut buffer, &mut back, &mut work)?;
        }
    }
    Ok(rows.iter().map(Row::line).collect())
}

impl<'a> Row<'a> {
    fn new(
        subject: &'static Subject,
        file: &'a File,
        coder: Box<dyn Coder>,
        messages: Vec<&'a [u8]>,
    ) -> Self {
        let (wires, lens, encode, decode, cold) = Default::default();
        Self { subject, file, coder, messages, wires, lens, encode, decode, cold }
    }

    /// Encodes and decodes every message once, checks the result, and keeps the wires for the passes.
    fn check(&mut self, buffer: &mut [u8], back: &mut [u8]) -> Result<()> {
        self.coder.reset();
        for message in &self.messages {
            let len = self.coder.pack(message, buffer)?;
            let back = &mut back[..message.len()];
            back.fill(0xa5);
            self.coder.unpack(len.map(|len| &buffer[..len]), message, back)?;
            if back != *message {
                return Err("a message did not round-trip".into());
            }
            self.wires.extend_from_slice(&buffer[..len.unwrap_or(0)]);
            self.lens.push(len);
        }
        self.wires.shrink_to_fit();
        Ok(())
    }

    /// One timed pass in each direction. Measures the thread's CPU time, so other work on the machine does not count.
    fn pass(&mut self, buffer: &mut [u8]) -> Result<()> {
        self.coder.reset();
        self.messages.iter().for_each(|message| touch(message));
        let start = ThreadTime::now();
        for message in &self.messages {
            self.coder.pack(message, buffer)?;
        }
        self.encode.push(start.elapsed());

        self.coder.reset();
        touch(&self.wires);
        let start = ThreadTime::now();
        let mut wires = &self.wires[..];
        for (message, len) in self.messages.iter().zip(&self.lens) {
            let wire = len.and_then(|len| wires.split_off(..len));
            self.coder.unpack(wire, message, &mut buffer[..message.len()])?;
        }
        self.decode.push(start.elapsed());
        Ok(())
    }

    /// Times a sample of the messages with hot and with cold caches, and adds up the difference for all. Reading the thread's CPU clock takes too
    /// long for one message, so this uses wall-clock time and its median.
    fn cool(&mut self, buffer: &mut [u8], back: &mut [u8], work: &mut Work) -> Result<()> {
        let lens: Vec<_> = self.messages.iter().map(|message| message.len()).collect();
        let mut added = [Vec::new(), Vec::new()];
        for at in sample(&lens, COLD) {
            let message = self.messages[at];
            let mut times = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
            for _ in 0..COLD_PASSES {
                // After a measurement with cold caches, one run makes them hot again.
                for caches in [None, Some(0), Some(1)] {
                    let mut prepare = || if caches == Some(1) { work.run() } else { touch(message) };
                    prepare();
                    let start = Instant::now();
                    let len = self.coder.pack(message, buffer)?;
                    let encode = start.elapsed();
                    prepare();
                    let start = Instant::now();
                    self.coder.unpack(len.map(|len| &buffer[..len]), message, &mut back[..message.len()])?;
                    let decode = start.elapsed();
                    if let Some(caches) = caches {
                        times[caches].push(encode);
                        times[2 + caches].push(decode);
                    }
                }
            }
            for (added, times) in added.iter_mut().zip(times.chunks(2)) {
                added.push((message.len(), (median(&times[1]) - median(&times[0])) * 1e9));
            }
        }
        self.cold = added.map(|added| {
            let surcharge = Surcharge::fit(&added);
            lens.iter().map(|len| surcharge.ns(*len)).sum::<f64>() * 1e-9
        });
        Ok(())
    }

    fn line(&self) -> Line {
        let bytes = self.messages.iter().map(|message| message.len()).sum::<usize>();
        let wire = self.messages.iter().zip(&self.lens).map(|(message, len)| len.unwrap_or(message.len()));
        let speed = |times: &[Duration], cold: f64| bytes as f64 / (median(times) + cold) / 1e9;
        let figures = Figures {
            ratio: bytes as f64 / wire.sum::<usize>() as f64,
            encode: speed(&self.encode, self.cold[0]),
            decode: speed(&self.decode, self.cold[1]),
        };
        let (file, element) = (self.file.name.clone(), self.file.element);
        Line { file, element, subject: self.subject, messages: self.messages.len(), bytes, figures }
    }
}

/// Reads all bytes into the caches: in practice a message has just been computed, a wire just received. Otherwise the first codec would find a file
/// in memory, and the others in a cache.
fn touch(bytes: &[u8]) {
    black_box(bytes.iter().step_by(64).fold(0, |sum: u8, byte| sum.wrapping_add(*byte)));
}

/// In seconds.
fn median(times: &[Duration]) -> f64 {
    let mut times = times.to_vec();
    times.sort();
    times.get(times.len() / 2).map_or(f64::NAN, Duration::as_secs_f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_one_of_the_times() {
        assert_eq!(median(&[3, 1, 200].map(Duration::from_secs)), 3.0);
        assert!(median(&[]).is_nan());
    }
}
