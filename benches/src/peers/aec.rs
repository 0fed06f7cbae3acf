//! Rice coding as CCSDS 121.0-B standardises it, by libaec, for integers of up to 32 bits.
#![forbid(unsafe_code)]

use crate::Result;
use crate::coder::Coder;
use crate::element::Element;
use mpress_interop::aec::{PREPROCESS, SIGNED, Settings};

/// Samples in a block: the most that SZIP's interface to it allows. On the corpus 16 and 64 make 1 % less and more of
/// ratio.
const BLOCK: u32 = 32;
/// Blocks between samples that are stored whole.
const REFERENCE: u32 = 128;

/// The library allocates a context for each message and has no way to keep it.
struct Aec {
    width: usize,
}

/// libaec for these elements; `None` where they are no integers, or have too many bits.
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
    /// A stored block is one with an option of five bits before it; the last block is padded.
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
