//! Compresses a raw file of doubles as one message, decodes it, and prints ratio and speed for each effort.
//!
//! `cargo run --release -p mpress-diffpack --example raw_file -- FILE`; without a file it generates some data.

use mpress_codec::conformance::{doubles, file_or, measure};
use mpress_diffpack::{Decoder64, Effort, Encoder64};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let message = file_or(doubles)?;
    let mut decoder = Decoder64::new();
    for effort in Effort::ALL {
        println!("{:8}: {}", effort.name(), measure(&mut Encoder64::new(effort), &mut decoder, &message)?);
    }
    Ok(())
}
