//! Compresses a file as one message in each format at each effort, decodes it again, and prints ratio and speed.
//!
//! `cargo run --release -p mpress-lzo-compat --example raw_file -- FILE`; without a file it takes its own source, many times.

use mpress_codec::{Decode, Encode, Out};
use mpress_lzo_compat::{Decoder, Effort, Encoder, Format, Lz77, Lzo1x};
use std::error::Error;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let message = match std::env::args_os().nth(1) {
        Some(path) => std::fs::read(path)?,
        None => include_bytes!("raw_file.rs").repeat(100),
    };
    for effort in Effort::ALL {
        run::<Lz77>(&message, effort)?;
        run::<Lzo1x>(&message, effort)?;
    }
    Ok(())
}

fn run<F: Format>(message: &[u8], effort: Effort) -> Result<(), Box<dyn Error>> {
    let mut encoder = Encoder::<F>::new(effort);
    let mut decoder = Decoder::<F>::new();
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
    println!(
        "{:6} {:7} {bytes} bytes became {wire_len}: ratio {:.3}, encoded at {:.2} GB/s, decoded at {:.2} GB/s",
        F::NAME,
        effort.name(),
        bytes / wire_len as f64,
        bytes / encode_seconds / 1e9,
        bytes / decode_seconds / 1e9
    );
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
