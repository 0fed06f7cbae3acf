//! Bit strings, the most significant bit of each byte first.
#![forbid(unsafe_code)]

use crate::entropy::Codes;
use mpress_codec::DecodeErrorKind::{Corrupt, Truncated};
use mpress_codec::{DecodeError, Full, Out};
use mpress_codec_support::Wire;

/// A buffer for bytes before they are copied to the output.
pub(crate) type Stage = [u8; 512];

/// An empty stage.
pub(crate) const STAGE: Stage = [0; _];

/// Writes bits to an output. The bytes are collected in a buffer that nothing else refers to, so the compiler can keep the other fields in registers.
pub(crate) struct Writer<'a> {
    /// The pending bits, from the top; zeros below.
    bits: u64,
    /// The number of pending bits, below 8 between calls.
    len: u32,
    stage: &'a mut Stage,
    /// The number of bytes in the buffer.
    at: usize,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(stage: &'a mut Stage) -> Self {
        Self::with_bits(0, 0, stage)
    }

    /// Starts with the `len` (below 8) bits at the top of `bits`; the bits below them must be zero.
    pub(crate) fn with_bits(bits: u64, len: u32, stage: &'a mut Stage) -> Self {
        Self { bits, len, stage, at: 0 }
    }

    /// Adds the `len` (at most 56) bits at the top of `bits`; the bits below them must be zero.
    #[inline(always)]
    pub(crate) fn put_top(&mut self, bits: u64, len: u32, out: &mut Out<'_>) -> Result<(), Full> {
        self.bits |= bits >> self.len;
        self.len += len;
        if self.at > self.stage.len() - 8 {
            self.flush(out)?;
        }
        if let Some(word) = self.stage.get_mut(self.at..).and_then(|rest| rest.first_chunk_mut()) {
            *word = self.bits.to_be_bytes();
        }
        self.at += (self.len / 8) as usize;
        self.bits <<= self.len & !7;
        self.len %= 8;
        Ok(())
    }

    /// Adds the lowest `len` (1 to 56) bits of `bits`; the other bits must be zero.
    #[inline(always)]
    pub(crate) fn put(&mut self, bits: u64, len: u32, out: &mut Out<'_>) -> Result<(), Full> {
        self.put_top(bits << (64 - len), len, out)
    }

    /// Adds the codes of these symbols, at most 14 bits each.
    #[inline(always)]
    pub(crate) fn put_codes(&mut self, symbols: &[u8], codes: &Codes, out: &mut Out<'_>) -> Result<(), Full> {
        let (fours, rest) = symbols.as_chunks::<4>();
        for four in fours {
            let [a, b, c, d] = four.map(|symbol| codes.of(symbol));
            let (code, len) = join(join(a, b), join(c, d));
            self.put(code, len, out)?;
        }
        for symbol in rest {
            let (code, len) = codes.of(*symbol);
            self.put(code, len, out)?;
        }
        Ok(())
    }

    /// Fills the last byte with zeros.
    #[inline(always)]
    pub(crate) fn finish(mut self, out: &mut Out<'_>) -> Result<(), Full> {
        self.put_top(0, (8 - self.len) % 8, out)?;
        self.flush(out)
    }

    #[inline(always)]
    fn flush(&mut self, out: &mut Out<'_>) -> Result<(), Full> {
        out.extend_from_slice(&self.stage[..self.at.min(self.stage.len())])?;
        self.at = 0;
        Ok(())
    }
}

/// Concatenates two codes.
#[inline(always)]
pub(crate) fn join((a, a_len): (u64, u32), (b, b_len): (u64, u32)) -> (u64, u32) {
    (a << b_len | b, a_len + b_len)
}

/// The 64 bits of `bytes` from bit `at` on, with zeros past the end. Only the first 57 of them are reliable.
#[inline(always)]
pub(crate) fn window(bytes: &[u8], at: usize) -> u64 {
    let rest = bytes.get(at / 8..).unwrap_or(&[]);
    let word = match rest.first_chunk() {
        Some(word) => u64::from_be_bytes(*word),
        None => {
            let mut word = [0; 8];
            word[..rest.len()].copy_from_slice(rest);
            u64::from_be_bytes(word)
        }
    };
    word << (at % 8)
}

/// The maximum number of bits that are examined at once.
const LOOK: u32 = 17;

/// A bit string at the front of a wire. Past the wire's end there are zeros. Reading them is reported when the string ends, or with the error that
/// the zeros cause.
pub(crate) struct Bits<'a, 'w> {
    wire: &'a mut Wire<'w>,
    at: usize,
    /// The next bits, from the top, and their number.
    bits: u64,
    left: u32,
}

impl<'a, 'w> Bits<'a, 'w> {
    pub(crate) fn new(wire: &'a mut Wire<'w>) -> Self {
        Self { wire, at: 0, bits: 0, left: 0 }
    }

    /// The next bits, at least 17, from the top.
    #[inline(always)]
    pub(crate) fn peek(&mut self) -> u64 {
        if self.left < LOOK {
            (self.bits, self.left) = (window(self.wire.rest(), self.at), 57);
        }
        self.bits
    }

    /// Skips `n` of the bits last peeked at.
    #[inline(always)]
    pub(crate) fn skip(&mut self, n: u32) {
        self.bits <<= n;
        self.left -= n;
        self.at += n as usize;
    }

    /// Reads a number of `n` bits, 1 to 17.
    #[inline(always)]
    pub(crate) fn get(&mut self, n: u32) -> u32 {
        let bits = self.peek() >> (64 - n);
        self.skip(n);
        bits as u32
    }

    /// Ends the string: the rest of its last byte must be zeros.
    pub(crate) fn finish(mut self) -> Result<(), DecodeError> {
        let padding = (self.at.next_multiple_of(8) - self.at) as u32;
        let is_zero = padding == 0 || self.get(padding) == 0;
        if !is_zero || self.is_past_end() {
            return Err(self.corrupt());
        }
        self.wire.take(self.at / 8)?;
        Ok(())
    }

    /// The error for something that no encoder writes, or for reading past the end.
    #[cold]
    pub(crate) fn corrupt(&self) -> DecodeError {
        self.wire.error(if self.is_past_end() { Truncated } else { Corrupt })
    }

    fn is_past_end(&self) -> bool {
        self.at.div_ceil(8) > self.wire.rest().len()
    }
}
