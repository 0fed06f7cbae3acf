//! Bit shuffle and LZ4 in blocks of 8 KiB, with C-Blosc.
//!
//! This is the default of the library Bitshuffle. Blosc shuffles only blocks of a multiple of eight elements, so the elements after the last eight
//! are excluded, as in Bitshuffle.
#![allow(unsafe_code)]

use crate::Result;
use crate::coder::Coder;
use crate::element::Element;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Once;

/// The highest level, at which LZ4 runs with its default acceleration of 1.
const LEVEL: c_int = 9;
/// `BLOSC_BITSHUFFLE`.
const BITSHUFFLE: c_int = 2;
/// `BLOSC_NEVER_SPLIT`: a block is one run of LZ4.
const NEVER_SPLIT: c_int = 2;
/// In bytes.
const BLOCK: usize = 8192;
/// `BLOSC_MAX_OVERHEAD`.
const OVERHEAD: usize = 16;
const LZ4: &CStr = c"lz4";

#[link(name = "blosc")]
unsafe extern "C" {
    fn blosc_init();
    fn blosc_set_compressor(name: *const c_char) -> c_int;
    fn blosc_set_nthreads(threads: c_int) -> c_int;
    fn blosc_set_blocksize(bytes: usize);
    fn blosc_set_splitmode(mode: c_int);
    fn blosc_compress(
        level: c_int,
        shuffle: c_int,
        width: usize,
        source_len: usize,
        source: *const c_void,
        target: *mut c_void,
        target_len: usize,
    ) -> c_int;
    fn blosc_decompress(source: *const c_void, target: *mut c_void, target_len: usize) -> c_int;
}

/// The library has one global context, which it locks during each call and whose buffers it keeps.
pub(super) struct Bitshuffle {
    width: usize,
}

impl Bitshuffle {
    pub(super) fn new(element: Element) -> Result<Self> {
        static INIT: Once = Once::new();
        // SAFETY: `Once` ensures that these are the first calls of the library, without concurrent ones, and in the required order; the name is a
        // static C string; the other calls take only numbers.
        INIT.call_once(|| unsafe {
            blosc_init();
            blosc_set_compressor(LZ4.as_ptr());
            blosc_set_nthreads(1);
            blosc_set_blocksize(BLOCK);
            blosc_set_splitmode(NEVER_SPLIT);
        });
        Ok(Self { width: element.width() })
    }

    /// The number of bytes of a message that are shuffled.
    fn shuffled(&self, raw_len: usize) -> usize {
        raw_len / (8 * self.width) * (8 * self.width)
    }
}

impl Coder for Bitshuffle {
    fn bound(&self, raw_len: usize) -> Result<usize> {
        Ok(raw_len + OVERHEAD)
    }

    fn encode(&mut self, raw: &[u8], wire: &mut [u8]) -> Result<usize> {
        let (raw, tail) = raw.split_at(self.shuffled(raw.len()));
        let (source, target) = (raw.as_ptr().cast(), wire.as_mut_ptr().cast());
        // SAFETY: the library has been initialised in `new`; `raw` is readable and `wire` writable for the given lengths, which the library respects;
        // they do not overlap, because `wire` is borrowed exclusively.
        let len =
            unsafe { blosc_compress(LEVEL, BITSHUFFLE, self.width, raw.len(), source, target, wire.len()) };
        let len = usize::try_from(len).map_err(|_| format!("libblosc gives error {len}"))?;
        let end = wire.get_mut(len..len + tail.len()).ok_or("no room for the tail")?;
        end.copy_from_slice(tail);
        Ok(len + tail.len())
    }

    fn decode(&mut self, wire: &[u8], raw: &mut [u8]) -> Result<()> {
        let (raw, tail) = raw.split_at_mut(self.shuffled(raw.len()));
        let (wire, wire_tail) =
            wire.split_at_checked(wire.len().wrapping_sub(tail.len())).ok_or("shorter than its tail")?;
        // Blosc reads as many bytes as the wire's header says: bytes 12 to 15 (`README_CHUNK_FORMAT.rst` of C-Blosc).
        let says = wire.get(12..).and_then(|rest| rest.first_chunk()).map(|len| u32::from_le_bytes(*len));
        if says.map(usize::try_from) != Some(Ok(wire.len())) {
            return Err("the wire does not match its header".into());
        }
        let target = raw.as_mut_ptr().cast();
        // SAFETY: the library has been initialised in `new`; `wire` is readable for the length in its header, as checked above; `raw` is writable for
        // the given length, which the library respects; they do not overlap, because `raw` is borrowed exclusively.
        let len = unsafe { blosc_decompress(wire.as_ptr().cast(), target, raw.len()) };
        if usize::try_from(len) != Ok(raw.len()) {
            return Err(format!("libblosc gives {len}").into());
        }
        tail.copy_from_slice(wire_tail);
        Ok(())
    }
}
