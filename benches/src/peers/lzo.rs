//! LZO1X-1 of liblzo2, and its safe decompressor, which checks its input.
#![forbid(unsafe_code)]

use crate::Result;
use crate::coder::Coder;
use mpress_interop::lzo::{Compressor, Lzo as Library};

/// The compressor with its memory.
pub(super) struct Lzo(Library);

impl Lzo {
    pub(super) fn new() -> Result<Self> {
        Ok(Self(Library::new().map_err(failed)?))
    }
}

impl Coder for Lzo {
    fn bound(&self, raw_len: usize) -> Result<usize> {
        Ok(Library::bound(raw_len))
    }

    fn encode(&mut self, raw: &[u8], wire: &mut [u8]) -> Result<usize> {
        Ok(self.0.compress_into(Compressor::X1, raw, wire).map_err(failed)?)
    }

    fn decode(&mut self, wire: &[u8], raw: &mut [u8]) -> Result<()> {
        self.0.decompress_into(wire, raw).map_err(failed)?;
        Ok(())
    }
}

fn failed(status: i32) -> String {
    format!("liblzo2 gives error {status}")
}
