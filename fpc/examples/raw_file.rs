//! Compresses a raw file of doubles as one message and as a stream of FPC 1.1, decodes both, and prints ratio and speed.
//!
//! `cargo run --release --example raw_file -- FILE`; without a file it makes up some data.

use mpress_codec::{Decode, Encode, Out};
use mpress_fpc::stream::{self, TableLevel};
use mpress_fpc::{Decoder64, Encoder64};
use std::error::Error;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let message = match std::env::args_os().nth(1) {
        Some(path) => std::fs::read(path)?,
        None => (0..1 << 20).flat_map(|i| (1.0 + 0.5 * (f64::from(i) * 0.001).sin()).to_le_bytes()).collect(),
    };
    let level = TableLevel::CACHED;
    let memory = || vec![0; level.words()];
    run("message", &message, Encoder64::new(), Decoder64::new())?;
    run("stream", &message, stream::Encoder::new(memory(), level)?, stream::Decoder::new(memory(), level)?)
}

fn run(
    what: &str,
    message: &[u8],
    mut encoder: impl Encode,
    mut decoder: impl Decode,
) -> Result<(), Box<dyn Error>> {
    let mut wire = vec![0; encoder.max_encoded_len(message.len()).ok_or("the file is too large")?];
    let mut raw = vec![0; message.len()];
    let mut wire_len = 0;
    let encode_seconds = best_of_five(|| {
        let mut out = Out::from_slice(&mut wire);
        encoder.encode(message, &mut out)?;
        wire_len = out.len();
        Ok(())
    })?;
    let decode_seconds = best_of_five(|| {
        decoder.decode(&wire[..wire_len], &mut Out::from_slice(&mut raw))?;
        Ok(())
    })?;
    if raw != message {
        return Err("the message did not come back".into());
    }
    let bytes = message.len() as f64;
    println!("{what}: {bytes} bytes became {wire_len}: ratio {:.3}", bytes / wire_len as f64);
    println!("{what}: encoded at {:.2} GB/s", bytes / encode_seconds / 1e9);
    println!("{what}: decoded at {:.2} GB/s", bytes / decode_seconds / 1e9);
    Ok(())
}

/// Seconds of the fastest of five runs: the first one finds the memory cold.
fn best_of_five(mut run: impl FnMut() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        run()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}
