//! Rice coding as standardised in CCSDS 121.0-B, with libaec, for integers of up to 32 bits.
#![forbid(unsafe_code)]

use crate::Result;
use crate::coder::Coder;
use crate::element::Element;
use mpress_interop::aec::{PREPROCESS, SIGNED, Settings};

/// Samples per block: the maximum that SZIP's interface to libaec allows. On the corpus, the ratio is 1 % lower with 16 and 1 % higher with 64.
const BLOCK: u32 = 32;
/// Blocks between samples that are stored uncompressed.
const REFERENCE: u32 = 128;

/// The library allocates a context for each message; it cannot be kept.
struct Aec {
    width: usize,
}

/// libaec for these elements; `None` if they are not integers or have too many bits.
pub(super) fn aec(element: Element) -> Option<Box<dyn Coder>> {
    match element {
        Element::I32 | Element::I16 => Some(Box::new(Aec { width: element.width() })),
        _ => None,
    }
}

impl Aec {
    fn settings(&self) -> Settings {
        let bits_per_sample = self.width as u32 * 8;
        Settings { bits_per_sample, block_size: BLOCK, rsi: REFERENCE, flags: SIGNED | PREPROCESS }
    }
}

impl Coder for Aec {
    /// A stored block has an option id of five bits before it; the last block is padded.
    fn bound(&self, raw_len: usize) -> Result<usize> {
        Ok(raw_len + raw_len / 32 + 256)
    }

    fn encode(&mut self, raw: &[u8], wire: &mut [u8]) -> Result<usize> {
        let (samples, tail) = raw.split_at(raw.len() / self.width * self.width);
        let len = self.settings().encode_into(samples, wire).map_err(failed)?;
        let end = wire.get_mut(len..len + tail.len()).ok_or("no room for the tail")?;
        end.copy_from_slice(tail);
        Ok(len + tail.len())
    }

    fn decode(&mut self, wire: &[u8], raw: &mut [u8]) -> Result<()> {
        let (samples, tail) = raw.split_at_mut(raw.len() / self.width * self.width);
        let (wire, wire_tail) =
            wire.split_at_checked(wire.len().wrapping_sub(tail.len())).ok_or("shorter than its tail")?;
        self.settings().decode_into(wire, samples).map_err(failed)?;
        tail.copy_from_slice(wire_tail);
        Ok(())
    }
}

fn failed(status: i32) -> String {
    format!("libaec gives error {status}")
}
