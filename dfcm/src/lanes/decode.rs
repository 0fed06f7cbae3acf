//! The decoder.
#![forbid(unsafe_code)]

use super::block::{Block, Body, packed_len};
use super::format::{BLOCK, GROUP, MORE_LANES, VERSION};
use super::head;
use super::kernel::{self, Kernel, Work};
use super::past::Past;
use crate::entries;
use crate::word::Word;
use core::marker::PhantomData;
use mpress_codec::DecodeErrorKind::{Corrupt, Length, Unsupported};
use mpress_codec::simd::Simd;
use mpress_codec::{Decode, DecodeError, Full, Out, Reset};
use mpress_codec_support::Wire;

/// Decodes messages of words `W`. Keeps no state between messages.
#[derive(Clone, Debug)]
pub struct Decoder<W> {
    simd: Simd,
    word: PhantomData<W>,
}

impl<W: entries::Word> Decoder<W> {
    /// A decoder.
    #[must_use]
    pub fn new() -> Self {
        Self { simd: Simd::detect(), word: PhantomData }
    }

    /// Uses a kernel of this tier. The result is the same at every tier.
    #[must_use]
    pub fn with_simd(mut self, simd: Simd) -> Self {
        self.simd = simd;
        self
    }
}

impl<W: entries::Word> Default for Decoder<W> {
    fn default() -> Self {
        Self::new()
    }
}

impl<W: entries::Word> Reset for Decoder<W> {}

impl<W: entries::Word> Decode for Decoder<W> {
    fn decode(&mut self, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
        out.all_or_nothing(|out| W::decode_lanes(self.simd, wire, out))
    }
}

/// Decodes a message.
pub(crate) fn decode<W: Word>(simd: Simd, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
    kernel::with::<W, _>(simd, Message { wire: Wire::new(wire), out })
}

struct Message<'a, 'b> {
    wire: Wire<'a>,
    out: &'a mut Out<'b>,
}

impl<W: Word> Work<W> for Message<'_, '_> {
    type Output = Result<(), DecodeError>;

    #[inline(always)]
    fn run<K: Kernel<W>>(self, kernel: K) -> Result<(), DecodeError> {
        let Self { mut wire, out } = self;
        let raw_len = out.remaining();
        let full = |Full| DecodeError::new(Length, wire.bytes.len());
        let lanes = header::<W>(&mut wire, raw_len)?;
        let mut past = Past::START;
        let mut residuals = Block::ZERO;
        let mut left = raw_len / W::WIDTH * W::WIDTH;
        while left > 0 {
            let len = left.min(BLOCK);
            block::<W, K>(kernel, &mut wire, len, &mut residuals)?;
            kernel.restore(&residuals, lanes, &mut past);
            if len == BLOCK {
                past.block().iter().try_for_each(|group| out.store(group, GROUP)).map_err(full)?;
                past.advance();
            } else {
                out.extend_from_slice(&past.block().as_flattened()[..len]).map_err(full)?;
            }
            left -= len;
        }
        out.extend_from_slice(wire.take(raw_len % W::WIDTH)?).map_err(full)?;
        wire.finish()
    }
}

/// Reads the header and returns the number of lanes (format, section 10.2).
#[inline(always)]
fn header<W: Word>(wire: &mut Wire<'_>, raw_len: usize) -> Result<usize, DecodeError> {
    if wire.byte()? != VERSION {
        return Err(DecodeError::new(Unsupported, 0));
    }
    let more = usize::from(wire.byte()?);
    if more > MORE_LANES {
        return Err(DecodeError::new(Corrupt, 1));
    }
    wire.message_len(raw_len)?;
    Ok(W::PER_GROUP + more)
}

/// Reads a block of `len` raw bytes. Residuals past it are arbitrary.
#[inline(always)]
fn block<W: Word, K: Kernel<W>>(
    kernel: K,
    wire: &mut Wire<'_>,
    len: usize,
    residuals: &mut Block,
) -> Result<(), DecodeError> {
    let at = wire.at;
    let groups = len.div_ceil(GROUP);
    let corrupt = DecodeError::new(Corrupt, at);
    let head = wire.take_number(head::bytes(groups))?;
    let widths = head::to_widths::<W>(head).ok_or(corrupt)?;
    if widths[groups..].iter().any(|width| *width != 0) {
        return Err(corrupt);
    }
    let last = len - (groups - 1) * GROUP;
    let rest = wire.rest();
    let body = wire.take(packed_len::<W>(&widths, len))?;
    let used = last / W::WIDTH * usize::from(widths[groups - 1]) % 8;
    if used > 0 && body.last().is_some_and(|byte| byte >> used != 0) {
        return Err(DecodeError::new(Corrupt, wire.at - 1));
    }
    // Near the wire's end there may be no room after the body, so use a copy.
    let mut copy;
    let body: &Body = match rest.first_chunk() {
        Some(body) => body,
        None => {
            copy = [0; size_of::<Body>()];
            copy[..body.len()].copy_from_slice(body);
            &copy
        }
    };
    kernel.unpack(body, &widths, residuals);
    Ok(())
}
