//! Compresses a raw file of doubles as one message, decodes it, and prints ratio and speed: with the plain codec and in interleaved lanes.
//!
//! `cargo run --release --example raw_file -- FILE`; without a file it generates some data.

use mpress_codec::conformance::{doubles, file_or, measure};
use mpress_dfcm::{Decoder64, Encoder64, Lines, lanes};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let message = file_or(doubles)?;
    let mut encoder = Encoder64::new(vec![0; Lines::MAX_SIZED.words::<u64>()])?;
    let mut decoder = Decoder64::new(vec![0; Lines::MAX.words::<u64>()])?;
    println!("plain: {}", measure(&mut encoder, &mut decoder, &message)?);
    let (mut encoder, mut decoder) = (lanes::Encoder64::new(), lanes::Decoder64::new());
    println!("lanes: {}", measure(&mut encoder, &mut decoder, &message)?);
    Ok(())
}
