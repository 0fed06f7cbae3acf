//! Ratio and speed of a codec on one message, as printed by the examples of the codec crates.

use crate::{Decode, Encode, Out};
use core::fmt;
use std::boxed::Box;
use std::error::Error;
use std::time::{Duration, Instant};
use std::vec;
use std::vec::Vec;

/// The result of a codec on a message.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Length of the message in bytes.
    pub raw_len: usize,
    /// Length of its wire in bytes.
    pub wire_len: usize,
    /// Wall-clock time of the fastest of five runs of the encoder.
    pub encode: Duration,
    /// The same for the decoder.
    pub decode: Duration,
}

impl fmt::Display for Measured {
    /// Ratio, and speeds in 10^9 raw bytes per second.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.raw_len as f64;
        let speed = |time: Duration| bytes / time.as_secs_f64() / 1e9;
        write!(
            f,
            "{bytes} bytes became {}, ratio {:.3}; encoded at {:.2} GB/s, decoded at {:.2} GB/s",
            self.wire_len,
            bytes / self.wire_len as f64,
            speed(self.encode),
            speed(self.decode)
        )
    }
}

/// Encodes and decodes a message five times each, and checks that it is restored.
///
/// # Errors
/// Those of the codec; also if the message is too long to have a bound, or is not restored.
pub fn measure(
    encoder: &mut dyn Encode,
    decoder: &mut dyn Decode,
    message: &[u8],
) -> Result<Measured, Box<dyn Error>> {
    let bound = encoder.max_encoded_len(message.len()).ok_or("the message is too long")?;
    let (mut wire, mut raw) = (vec![0; bound], vec![0; message.len()]);
    let mut wire_len = 0;
    let encode = best_of_five(|| {
        let mut out = Out::from_slice(&mut wire);
        encoder.encode(message, &mut out)?;
        wire_len = out.len();
        Ok(())
    })?;
    let decode = best_of_five(|| Ok(decoder.decode(&wire[..wire_len], &mut Out::from_slice(&mut raw))?))?;
    if raw != message {
        return Err("the message did not come back".into());
    }
    Ok(Measured { raw_len: message.len(), wire_len, encode, decode })
}

/// The file named by the program's first argument, or without one the result of `make`.
///
/// # Errors
/// If the file cannot be read.
pub fn file_or(make: impl FnOnce() -> Vec<u8>) -> Result<Vec<u8>, Box<dyn Error>> {
    Ok(match std::env::args_os().nth(1) {
        Some(path) => std::fs::read(path)?,
        None => make(),
    })
}

/// Eight megabytes of smooth doubles.
#[must_use]
pub fn doubles() -> Vec<u8> {
    (0..1 << 20).flat_map(|i| (1.0 + 0.5 * (f64::from(i) * 0.001).sin()).to_le_bytes()).collect()
}

/// Several runs, because memory is cold in the first one.
fn best_of_five(mut run: impl FnMut() -> Result<(), Box<dyn Error>>) -> Result<Duration, Box<dyn Error>> {
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let start = Instant::now();
        run()?;
        best = best.min(start.elapsed());
    }
    Ok(best)
}
