//! Compresses a raw file of 32-bit integers as one message, decodes it, and prints ratio and speed for each mapping.
//!
//! `cargo run --release -p mpress-rice --example raw_file -- FILE`; without a file it generates some data.

use mpress_codec::conformance::{file_or, measure};
use mpress_rice::{Decoder32, Encoder32, Mapping};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let numbers = || {
        let number = |i: u32| (i / 16 + i.wrapping_mul(0x9e37_79b9) % 1000).to_le_bytes();
        (0..1 << 20_u32).flat_map(number).collect()
    };
    let message = file_or(numbers)?;
    let mut decoder = Decoder32::new();
    let fixed = Mapping::ALL.map(|mapping| (mapping.name(), Encoder32::new(mapping)));
    for (name, mut encoder) in fixed.into_iter().chain([("auto", Encoder32::auto())]) {
        println!("{name:8}: {}", measure(&mut encoder, &mut decoder, &message)?);
    }
    Ok(())
}
