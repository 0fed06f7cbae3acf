//! libaec: CCSDS 121.0-B.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;

/// The parameters of a stream, in libaec's terms. Values other than those listed are refused.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// 1 to 32.
    pub bits_per_sample: u32,
    /// 8, 16, 32 or 64 samples.
    pub block_size: u32,
    /// 1 to 4096 blocks.
    pub rsi: u32,
    /// The sum of `AEC_*`.
    pub flags: u32,
}

/// `AEC_DATA_SIGNED`
pub const SIGNED: u32 = 1;
/// `AEC_DATA_3BYTE`
pub const THREE_BYTES: u32 = 2;
/// `AEC_DATA_MSB`
pub const MSB: u32 = 4;
/// `AEC_DATA_PREPROCESS`
pub const PREPROCESS: u32 = 8;
/// `AEC_RESTRICTED`
pub const RESTRICTED: u32 = 16;

/// `AEC_CONF_ERROR`
pub const CONF_ERROR: i32 = -1;

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

impl Settings {
    /// libaec checks these only partially: with no samples in a block, or no blocks in an interval, it writes beyond its buffers (1.0.6).
    fn are_valid(&self) -> bool {
        const FLAGS: u32 = SIGNED | THREE_BYTES | MSB | PREPROCESS | RESTRICTED;
        (1..=32).contains(&self.bits_per_sample)
            && [8, 16, 32, 64].contains(&self.block_size)
            && (1..=4096).contains(&self.rsi)
            && self.flags & !FLAGS == 0
    }

    /// The library's view of two buffers, if these settings are valid.
    fn stream(&self, from: &[u8], to: &mut [u8]) -> Result<Stream, i32> {
        if !self.are_valid() {
            return Err(CONF_ERROR);
        }
        Ok(Stream {
            next_in: from.as_ptr(),
            avail_in: from.len(),
            total_in: 0,
            next_out: to.as_mut_ptr(),
            avail_out: to.len(),
            total_out: 0,
            bits_per_sample: self.bits_per_sample,
            block_size: self.block_size,
            rsi: self.rsi,
            flags: self.flags,
            state: null_mut(),
        })
    }

    /// Writes the stream of some samples to the front of `wire`; returns its length.
    ///
    /// # Errors
    /// libaec's error number; [`CONF_ERROR`] also for settings that it would not refuse itself.
    pub fn encode_into(&self, raw: &[u8], wire: &mut [u8]) -> Result<usize, i32> {
        let mut stream = self.stream(raw, wire)?;
        // SAFETY: the settings are among those that libaec supports (`are_valid`). The stream's pointers and lengths are those of `raw`, which is
        // readable, and `wire`, which is borrowed exclusively. Both outlive the call, and the library keeps nothing afterwards.
        let status = unsafe { aec_buffer_encode(&raw mut stream) };
        if status == 0 { Ok(stream.total_out) } else { Err(status) }
    }

    /// Writes the samples of a stream to `raw`; returns the number of bytes that libaec wrote.
    ///
    /// # Errors
    /// libaec's error number; [`CONF_ERROR`] also for settings that it would not refuse itself.
    pub fn decode_into(&self, wire: &[u8], raw: &mut [u8]) -> Result<usize, i32> {
        let mut stream = self.stream(wire, raw)?;
        // SAFETY: the settings are among those that libaec supports (`are_valid`). The stream's pointers and lengths are those of `wire`, which is
        // readable, and `raw`, which is borrowed exclusively. Both outlive the call, and the library keeps nothing afterwards.
        let status = unsafe { aec_buffer_decode(&raw mut stream) };
        if status == 0 { Ok(stream.total_out) } else { Err(status) }
    }

    /// The stream of some samples.
    ///
    /// # Errors
    /// libaec's error number; [`CONF_ERROR`] also for settings that it would not refuse itself.
    pub fn encode(&self, raw: &[u8]) -> Result<Vec<u8>, i32> {
        // The last block is padded to at most 64 samples of 4 bytes.
        let mut wire = vec![0; raw.len() * 5 / 4 + 1024];
        let len = self.encode_into(raw, &mut wire)?;
        wire.truncate(len);
        Ok(wire)
    }

    /// The samples of a stream, `len` bytes; fewer if libaec wrote fewer.
    ///
    /// # Errors
    /// libaec's error number; [`CONF_ERROR`] also for settings that it would not refuse itself.
    pub fn decode(&self, wire: &[u8], len: usize) -> Result<Vec<u8>, i32> {
        let mut raw = vec![0; len];
        let len = self.decode_into(wire, &mut raw)?;
        raw.truncate(len);
        Ok(raw)
    }
}
