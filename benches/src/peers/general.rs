//! General-purpose codecs.

use crate::Result;
use crate::coder::Coder;
use zstd::bulk::{Compressor, Decompressor};

/// LZ4's C library with its default acceleration. There is no context to keep: `LZ4_compress_default` has it on the stack.
pub(super) struct Lz4;

impl Coder for Lz4 {
    fn bound(&self, raw_len: usize) -> Result<usize> {
        Ok(lz4::block::compress_bound(raw_len)?)
    }
    fn encode(&mut self, raw: &[u8], wire: &mut [u8]) -> Result<usize> {
        Ok(lz4::block::compress_to_buffer(raw, None, false, wire)?)
    }
    fn decode(&mut self, wire: &[u8], raw: &mut [u8]) -> Result<()> {
        let len = i32::try_from(raw.len())?;
        lz4::block::decompress_to_buffer(wire, Some(len), raw)?;
        Ok(())
    }
}

/// Snappy.
pub(super) struct Snappy {
    encoder: snap::raw::Encoder,
    decoder: snap::raw::Decoder,
}

impl Snappy {
    pub(super) fn new() -> Self {
        Self { encoder: snap::raw::Encoder::new(), decoder: snap::raw::Decoder::new() }
    }
}

impl Coder for Snappy {
    fn bound(&self, raw_len: usize) -> Result<usize> {
        Ok(snap::raw::max_compress_len(raw_len))
    }
    fn encode(&mut self, raw: &[u8], wire: &mut [u8]) -> Result<usize> {
        Ok(self.encoder.compress(raw, wire)?)
    }
    fn decode(&mut self, wire: &[u8], raw: &mut [u8]) -> Result<()> {
        self.decoder.decompress(wire, raw)?;
        Ok(())
    }
}

/// Zstandard's C library at some level.
pub(super) struct Zstd {
    encoder: Compressor<'static>,
    decoder: Decompressor<'static>,
}

impl Zstd {
    pub(super) fn new(level: i32) -> Result<Self> {
        Ok(Self { encoder: Compressor::new(level)?, decoder: Decompressor::new()? })
    }
}

impl Coder for Zstd {
    fn bound(&self, raw_len: usize) -> Result<usize> {
        Ok(zstd::zstd_safe::compress_bound(raw_len))
    }
    fn encode(&mut self, raw: &[u8], wire: &mut [u8]) -> Result<usize> {
        Ok(self.encoder.compress_to_buffer(raw, wire)?)
    }
    fn decode(&mut self, wire: &[u8], raw: &mut [u8]) -> Result<()> {
        self.decoder.decompress_to_buffer(wire, raw)?;
        Ok(())
    }
}
