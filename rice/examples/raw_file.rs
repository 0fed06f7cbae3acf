//! Compresses a raw file of 32-bit integers as one message, decodes it again, and prints ratio and speed for each mapping.
//!
//! `cargo run --release -p mpress-rice --example raw_file -- FILE`; without a file it makes up some data.

use mpress_codec::{Decode, Encode, Out};
use mpress_rice::{Decoder32, Encoder32, Mapping};
use std::error::Error;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let message = match std::env::args_os().nth(1) {
        Some(path) => std::fs::read(path)?,
        None => (0..1 << 20_u32)
            .flat_map(|i: u32| (i / 16 + i.wrapping_mul(0x9e37_79b9) % 1000).to_le_bytes())
            .collect(),
    };
    let mut decoder = Decoder32::new();
    let fixed = Mapping::ALL.map(|mapping| (mapping.name(), Encoder32::new(mapping)));
    for (name, mut encoder) in fixed.into_iter().chain([("auto", Encoder32::auto())]) {
        let mut wire = vec![0; encoder.max_encoded_len(message.len()).ok_or("the file is too large")?];
        let mut raw = vec![0; message.len()];
        let mut wire_len = 0;
        let encode_seconds = best_of_five(|| {
            let mut out = Out::from_slice(&mut wire);
            encoder.encode(&message, &mut out)?;
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
        let (ratio, gigabytes) = (bytes / wire_len as f64, bytes / 1e9);
        println!(
            "{name:8}: {bytes} bytes became {wire_len}, ratio {ratio:.3}; encoded at {:.2} GB/s, decoded at {:.2} GB/s",
            gigabytes / encode_seconds,
            gigabytes / decode_seconds
        );
    }
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
