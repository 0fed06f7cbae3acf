//! liblzo2: its LZO1X compressors, and its decompressor that checks its input.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_long, c_uint, c_void};
use std::ptr::{null, null_mut};

/// A compressor of liblzo2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compressor {
    /// `lzo1x_1_compress`
    X1,
    /// `lzo1x_1_11_compress`
    X1_11,
    /// `lzo1x_1_12_compress`
    X1_12,
    /// `lzo1x_1_15_compress`
    X1_15,
    /// `lzo1x_999_compress_level` with a level from 1 to 9; other levels are clamped to this range.
    X999(u8),
}

impl Compressor {
    /// Every compressor, the slow ones last.
    pub const ALL: [Self; 13] = [
        Self::X1,
        Self::X1_11,
        Self::X1_12,
        Self::X1_15,
        Self::X999(1),
        Self::X999(2),
        Self::X999(3),
        Self::X999(4),
        Self::X999(5),
        Self::X999(6),
        Self::X999(7),
        Self::X999(8),
        Self::X999(9),
    ];
}

/// `LZO_VERSION` of the header from which these declarations were written, 2.10.
const VERSION: c_uint = 0x20a0;
/// `LZO_E_OUTPUT_OVERRUN`
const OUTPUT_OVERRUN: c_int = -5;
/// Words of memory: 448 KiB, as `lzo1x_999` needs; the others need at most 2^15 pointers.
const MEMORY: usize = 14 * 16384 * 2 / 8;

type Compress = unsafe extern "C" fn(*const u8, usize, *mut u8, *mut usize, *mut c_void) -> c_int;

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
    fn lzo1x_1_compress(from: *const u8, n: usize, to: *mut u8, m: *mut usize, memory: *mut c_void) -> c_int;
    fn lzo1x_1_11_compress(
        from: *const u8,
        n: usize,
        to: *mut u8,
        m: *mut usize,
        memory: *mut c_void,
    ) -> c_int;
    fn lzo1x_1_12_compress(
        from: *const u8,
        n: usize,
        to: *mut u8,
        m: *mut usize,
        memory: *mut c_void,
    ) -> c_int;
    fn lzo1x_1_15_compress(
        from: *const u8,
        n: usize,
        to: *mut u8,
        m: *mut usize,
        memory: *mut c_void,
    ) -> c_int;
    fn lzo1x_999_compress_level(
        from: *const u8,
        n: usize,
        to: *mut u8,
        m: *mut usize,
        memory: *mut c_void,
        dictionary: *const u8,
        dictionary_len: usize,
        callback: *mut c_void,
        level: c_int,
    ) -> c_int;
    fn lzo1x_decompress_safe(
        from: *const u8,
        n: usize,
        to: *mut u8,
        m: *mut usize,
        memory: *mut c_void,
    ) -> c_int;
}

/// The initialised library, with memory for its compressors.
#[derive(Debug)]
pub struct Lzo {
    memory: Vec<u64>,
}

impl Lzo {
    /// Initialises the library.
    ///
    /// # Errors
    /// The library's status, if it was built with types other than these.
    pub fn new() -> Result<Self, c_int> {
        let pointer = size_of::<*mut c_void>() as c_int;
        let long = size_of::<c_long>() as c_int;
        // SAFETY: it takes only numbers: the sizes of C's types, which the library compares with its own. -1 skips the last one, the size of
        // callbacks, which are not used here.
        let status = unsafe { __lzo_init_v2(VERSION, 2, 4, long, 4, pointer, pointer, pointer, pointer, -1) };
        if status == 0 { Ok(Self { memory: vec![0; MEMORY] }) } else { Err(status) }
    }

    /// The maximum output of any of the compressors, according to `LZO.FAQ`.
    #[must_use]
    pub fn bound(raw_len: usize) -> usize {
        raw_len + raw_len / 16 + 64 + 3
    }

    /// Writes the stream of `raw` with this compressor to the front of `wire`; returns its length.
    ///
    /// # Errors
    /// The library's status, or its status for an output overrun if `wire` is shorter than the [`bound`](Self::bound).
    pub fn compress_into(
        &mut self,
        compressor: Compressor,
        raw: &[u8],
        wire: &mut [u8],
    ) -> Result<usize, c_int> {
        // These functions do not know the size of the output buffer.
        if wire.len() < Self::bound(raw.len()) {
            return Err(OUTPUT_OVERRUN);
        }
        let mut len = wire.len();
        let (from, n, to, m) = (raw.as_ptr(), raw.len(), wire.as_mut_ptr(), &raw mut len);
        let memory = self.memory.as_mut_ptr().cast();
        let simple = |compress: Compress| {
            // SAFETY: `from` is readable over `n` bytes; `to` is writable over the maximum that LZO writes for that number, as just checked; the
            // memory is as large as the largest that any compressor needs; no two of the three overlap; `m` outlives the call.
            unsafe { compress(from, n, to, m, memory) }
        };
        let status = match compressor {
            Compressor::X1 => simple(lzo1x_1_compress),
            Compressor::X1_11 => simple(lzo1x_1_11_compress),
            Compressor::X1_12 => simple(lzo1x_1_12_compress),
            Compressor::X1_15 => simple(lzo1x_1_15_compress),
            Compressor::X999(level) => {
                let level = c_int::from(level.clamp(1, 9));
                // SAFETY: as above; there is no dictionary and no callback.
                unsafe { lzo1x_999_compress_level(from, n, to, m, memory, null(), 0, null_mut(), level) }
            }
        };
        if status == 0 { Ok(len) } else { Err(status) }
    }

    /// Decompresses `wire` to the front of `raw`; returns the length.
    ///
    /// # Errors
    /// The library's status.
    pub fn decompress_into(&self, wire: &[u8], raw: &mut [u8]) -> Result<usize, c_int> {
        let mut len = raw.len();
        // SAFETY: `wire` is readable over its length, and `raw` writable over `len` bytes, which this function respects. They do not overlap; the
        // function uses no other memory; `len` outlives the call.
        let status = unsafe {
            lzo1x_decompress_safe(wire.as_ptr(), wire.len(), raw.as_mut_ptr(), &raw mut len, null_mut())
        };
        if status == 0 { Ok(len) } else { Err(status) }
    }

    /// The stream of `raw` with this compressor.
    ///
    /// # Errors
    /// The library's status.
    pub fn compress(&mut self, compressor: Compressor, raw: &[u8]) -> Result<Vec<u8>, c_int> {
        let mut wire = vec![0; Self::bound(raw.len())];
        let len = self.compress_into(compressor, raw, &mut wire)?;
        wire.truncate(len);
        Ok(wire)
    }

    /// The `len` bytes in `wire`.
    ///
    /// # Errors
    /// The library's status; 0 if the stream contains fewer bytes.
    pub fn decompress(&self, wire: &[u8], len: usize) -> Result<Vec<u8>, c_int> {
        let mut raw = vec![0; len];
        if self.decompress_into(wire, &mut raw)? == len { Ok(raw) } else { Err(0) }
    }
}
