//! LZO1X-1 of liblzo2, and its decompressor that checks its input.
#![allow(unsafe_code)]

use crate::Result;
use crate::coder::Coder;
use std::ffi::{c_int, c_long, c_uint, c_void};
use std::ptr::null_mut;

/// `LZO1X_1_MEM_COMPRESS`: 16384 pointers.
const MEMORY: usize = 16384;

/// `LZO_VERSION` of the header this was written from, 2.10.
const VERSION: c_uint = 0x20a0;

#[link(name = "lzo2")]
unsafe extern "C" {
    #[rustfmt::skip]
    fn __lzo_init_v2(
        version: c_uint,
        short: c_int,
        int: c_int,
        long: c_int,
        uint32: c_int,
        uint: c_int,
        dictionary: c_int,
        char_pointer: c_int,
        pointer: c_int,
        callback: c_int,
    ) -> c_int;
    fn lzo1x_1_compress(
        source: *const u8,
        source_len: usize,
        target: *mut u8,
        target_len: *mut usize,
        memory: *mut c_void,
    ) -> c_int;
    fn lzo1x_decompress_safe(
        source: *const u8,
        source_len: usize,
        target: *mut u8,
        target_len: *mut usize,
        memory: *mut c_void,
    ) -> c_int;
}

/// The compressor with its memory.
pub(super) struct Lzo {
    memory: Box<[usize]>,
}

impl Lzo {
    pub(super) fn new() -> Result<Self> {
        let pointer = size_of::<*mut c_void>() as c_int;
        let long = size_of::<c_long>() as c_int;
        // SAFETY: takes numbers only: the sizes of C's types, which the library compares with its own; -1 leaves the
        // last out, that of callbacks, of which none is used here.
        let status = unsafe { __lzo_init_v2(VERSION, 2, 4, long, 4, pointer, pointer, pointer, pointer, -1) };
        check(status)?;
        Ok(Self { memory: vec![0; MEMORY].into() })
    }
}

impl Coder for Lzo {
    /// As `LZO.FAQ` has it.
    fn bound(&self, raw_len: usize) -> Result<usize> {
        Ok(raw_len + raw_len / 16 + 64 + 3)
    }

    fn encode(&mut self, raw: &[u8], wire: &mut [u8]) -> Result<usize> {
        // This function is not told how much room there is.
        if wire.len() < self.bound(raw.len())? {
            return Err("no room for the bound".into());
        }
        let mut len = wire.len();
        let memory = self.memory.as_mut_ptr().cast();
        // SAFETY: `raw` is readable over its length; `wire` is writable over the most that LZO writes for that
        // length, as was just checked; the memory is of the size and alignment asked for; no two of the three
        // overlap, as `wire` and `self.memory` are borrowed exclusively; `len` outlives the call.
        check(unsafe { lzo1x_1_compress(raw.as_ptr(), raw.len(), wire.as_mut_ptr(), &raw mut len, memory) })?;
        Ok(len)
    }

    fn decode(&mut self, wire: &[u8], raw: &mut [u8]) -> Result<()> {
        let mut len = raw.len();
        // SAFETY: `wire` is readable over its length and `raw` writable over `len` bytes, which this function
        // respects; they do not overlap, as `raw` is borrowed exclusively; it uses no memory beside them; `len`
        // outlives the call.
        let status = unsafe {
            lzo1x_decompress_safe(wire.as_ptr(), wire.len(), raw.as_mut_ptr(), &raw mut len, null_mut())
        };
        check(status)
    }
}

fn check(status: c_int) -> Result<()> {
    if status == 0 { Ok(()) } else { Err(format!("liblzo2 gives error {status}").into()) }
}
