//! Compresses a raw file of doubles as one message with each code, decodes it again, and prints ratio and speed.
//!
//! `cargo run --release -p mpress-rle-huffman --example raw_file -- FILE`; without a file it makes up some data.

use mpress_codec::{Decode, Encode, Out};
use mpress_rle_huffman::{
    HuffmanDecoder, HuffmanEncoder, RleDecoder, RleEncoder, ShannonFanoDecoder, ShannonFanoEncoder, Symbol,
    Width,
};
use std::error::Error;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let message = match std::env::args_os().nth(1) {
        Some(path) => std::fs::read(path)?,
        None => (0..1 << 20).flat_map(|i| (1.0 + 0.5 * (f64::from(i) * 0.001).sin()).to_le_bytes()).collect(),
    };
    for planes in [Width::One, Width::Eight] {
        let huffman = (&mut HuffmanEncoder::new(planes) as _, &mut HuffmanDecoder::new() as _);
        measure("huffman", planes, &message, huffman)?;
        let shannon_fano = (&mut ShannonFanoEncoder::new(planes) as _, &mut ShannonFanoDecoder::new() as _);
        measure("shannon-fano", planes, &message, shannon_fano)?;
        let rle = (&mut RleEncoder::new(Symbol::Auto, planes) as _, &mut RleDecoder::new() as _);
        measure("rle", planes, &message, rle)?;
    }
    Ok(())
}

fn measure(
    name: &str,
    planes: Width,
    message: &[u8],
    (encoder, decoder): (&mut dyn Encode, &mut dyn Decode),
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
    println!(
        "{name:12}, elements of {}: {bytes} bytes became {wire_len}, ratio {:.3}; encoded at {:.2} GB/s, decoded at {:.2} GB/s",
        planes.bytes(),
        bytes / wire_len as f64,
        bytes / 1e9 / encode_seconds,
        bytes / 1e9 / decode_seconds
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
