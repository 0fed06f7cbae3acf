//! Rice coding as CCSDS 121.0-B standardises it, by libaec, for integers of up to 32 bits.
#![allow(unsafe_code)]

use crate::Result;
use crate::coder::Coder;
use crate::element::Element;
use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;

/// Samples in a block: the most that SZIP's interface to it allows. On the corpus 16 and 64 make 1 % less and more of
/// ratio.
const BLOCK: c_uint = 32;
/// Blocks between samples that are stored whole.
const REFERENCE: c_uint = 128;
/// `AEC_DATA_SIGNED | AEC_DATA_PREPROCESS`.
const FLAGS: c_uint = 1 | 8;

/// `struct aec_stream`.
#[repr(C)]
struct Stream {
    next_in: *const u8,
    avail_in: usize,
    total_in: usize,
    next_out: *mut u8,
    avail_out: usize,
    total_out: usize,
    bits_per_sample: c_uint,
    block_size: c_uint,
    rsi: c_uint,
    flags: c_uint,
    state: *mut c_void,
}

#[link(name = "aec")]
unsafe extern "C" {
    fn aec_buffer_encode(stream: *mut Stream) -> c_int;
    fn aec_buffer_decode(stream: *mut Stream) -> c_int;
}

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
    fn stream(&self, from: &[u8], to: &mut [u8]) -> Stream {
        Stream {
            next_in: from.as_ptr(),
            avail_in: from.len(),
            total_in: 0,
            next_out: to.as_mut_ptr(),
            avail_out: to.len(),
            total_out: 0,
            bits_per_sample: self.width as c_uint * 8,
            block_size: BLOCK,
            rsi: REFERENCE,
            flags: FLAGS,
            state: null_mut(),
        }
    }
}

impl Coder for Aec {
    /// A stored block is one with an option of five bits before it; the last block is padded.
    fn bound(&self, raw_len: usize) -> Result<usize> {
        Ok(raw_len + raw_len / 32 + 256)
    }

    fn encode(&mut self, raw: &[u8], wire: &mut [u8]) -> Result<usize> {
        let (samples, tail) = raw.split_at(raw.len() / self.width * self.width);
        let mut stream = self.stream(samples, wire);
        // SAFETY: the stream's pointers and lengths are those of `samples`, which is readable, and `wire`, which is
        // borrowed exclusively; both outlive the call, after which the library keeps nothing.
        check(unsafe { aec_buffer_encode(&raw mut stream) })?;
        let len = stream.total_out;
        let end = wire.get_mut(len..len + tail.len()).ok_or("no room for the tail")?;
        end.copy_from_slice(tail);
        Ok(len + tail.len())
    }

    fn decode(&mut self, wire: &[u8], raw: &mut [u8]) -> Result<()> {
        let (samples, tail) = raw.split_at_mut(raw.len() / self.width * self.width);
        let (wire, wire_tail) =
            wire.split_at_checked(wire.len().wrapping_sub(tail.len())).ok_or("shorter than its tail")?;
        let mut stream = self.stream(wire, samples);
        // SAFETY: the stream's pointers and lengths are those of `wire`, which is readable, and `samples`, which is
        // borrowed exclusively; both outlive the call, after which the library keeps nothing.
        check(unsafe { aec_buffer_decode(&raw mut stream) })?;
        tail.copy_from_slice(wire_tail);
        Ok(())
    }
}

fn check(status: c_int) -> Result<()> {
    if status == 0 { Ok(()) } else { Err(format!("libaec gives error {status}").into()) }
}
