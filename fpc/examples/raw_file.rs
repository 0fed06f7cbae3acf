//! Compresses a raw file of doubles as one message and as a stream of FPC 1.1, decodes both, and prints ratio and speed.
//!
//! `cargo run --release --example raw_file -- FILE`; without a file it generates some data.

use mpress_codec::conformance::{doubles, file_or, measure};
use mpress_fpc::stream::{self, TableLevel};
use mpress_fpc::{Decoder64, Encoder64};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let message = file_or(doubles)?;
    println!("message: {}", measure(&mut Encoder64::new(), &mut Decoder64::new(), &message)?);
    let level = TableLevel::CACHED;
    let memory = || vec![0; level.words()];
    let mut encoder = stream::Encoder::new(memory(), level)?;
    let mut decoder = stream::Decoder::new(memory(), level)?;
    println!("stream: {}", measure(&mut encoder, &mut decoder, &message)?);
    Ok(())
}
