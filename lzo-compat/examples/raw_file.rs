//! Compresses a file as one message in each format at each effort, decodes it, and prints ratio and speed.
//!
//! `cargo run --release -p mpress-lzo-compat --example raw_file -- FILE`; without a file it uses its own source, repeated.

use mpress_codec::conformance::{file_or, measure};
use mpress_lzo_compat::{Decoder, Effort, Encoder, Format, Lz77, Lzo1x};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let message = file_or(|| include_bytes!("raw_file.rs").repeat(100))?;
    for effort in Effort::ALL {
        run::<Lz77>(&message, effort)?;
        run::<Lzo1x>(&message, effort)?;
    }
    Ok(())
}

fn run<F: Format>(message: &[u8], effort: Effort) -> Result<(), Box<dyn Error>> {
    let measured = measure(&mut Encoder::<F>::new(effort), &mut Decoder::<F>::new(), message)?;
    println!("{:6} {:7} {measured}", F::NAME, effort.name());
    Ok(())
}
