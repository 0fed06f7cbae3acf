//! Compresses a raw file of doubles as one message with each code, decodes it, and prints ratio and speed.
//!
//! `cargo run --release -p mpress-rle-huffman --example raw_file -- FILE`; without a file it generates some data.

use mpress_codec::conformance::{doubles, file_or, measure};
use mpress_codec::{Decode, Encode};
use mpress_rle_huffman::{
    HuffmanDecoder, HuffmanEncoder, RleDecoder, RleEncoder, ShannonFanoDecoder, ShannonFanoEncoder, Symbol,
    Width,
};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let message = file_or(doubles)?;
    for planes in [Width::One, Width::Eight] {
        let run = |name: &str, encoder: &mut dyn Encode, decoder: &mut dyn Decode| {
            let measured = measure(encoder, decoder, &message)?;
            println!("{name:12}, elements of {}: {measured}", planes.bytes());
            Ok::<_, Box<dyn Error>>(())
        };
        run("huffman", &mut HuffmanEncoder::new(planes), &mut HuffmanDecoder::new())?;
        run("shannon-fano", &mut ShannonFanoEncoder::new(planes), &mut ShannonFanoDecoder::new())?;
        run("rle", &mut RleEncoder::new(Symbol::Auto, planes), &mut RleDecoder::new())?;
    }
    Ok(())
}
