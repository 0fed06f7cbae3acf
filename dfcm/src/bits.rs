//! Reads and writes consecutive residuals without gaps (format, sections 4 and 5).
#![forbid(unsafe_code)]

use crate::format::BODY;
use crate::word::{Word, place};

/// Writes the residuals of one block.
pub(crate) struct Writer<'a> {
    body: &'a mut [u8; BODY],
    /// The number of bits written.
    at: u32,
    /// The bits of the last, partly filled byte.
    carry: u64,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(body: &'a mut [u8; BODY]) -> Self {
        Self { body, at: 0, carry: 0 }
    }

    /// Writes the remaining bits of a residual and returns its leading-zero count.
    ///
    /// Always stores 8 bytes; later residuals overwrite those that are not needed.
    #[inline(always)]
    pub(crate) fn put<W: Word>(&mut self, residual: W) -> u64 {
        let count = residual.zeros() / W::UNIT;
        let bits = W::BITS - count * W::UNIT;
        let (stored, left) = residual.append(bits, self.at, self.carry);
        let (byte, _) = place(self.at);
        if let Some(bytes) = self.body[byte..].first_chunk_mut() {
            *bytes = stored.to_le_bytes();
        }
        self.at += bits;
        self.carry = left;
        count.into()
    }

    /// Returns the block's residuals, including the last, partly filled byte.
    pub(crate) fn finish(self) -> &'a [u8] {
        // If 64 bits followed a half-filled byte, the last half byte has not been stored yet.
        if let Some(byte) = self.body.get_mut((self.at / 8) as usize) {
            *byte = self.carry as u8;
        }
        &self.body[..self.at.div_ceil(8) as usize]
    }
}

/// Reads the residuals of one block.
pub(crate) struct Reader<'a> {
    body: &'a [u8; BODY],
    /// The number of bits read.
    at: u32,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(body: &'a [u8; BODY]) -> Self {
        Self { body, at: 0 }
    }

    /// Reads a residual with this leading-zero count (0 to 15).
    #[inline(always)]
    pub(crate) fn take<W: Word>(&mut self, count: u32) -> W {
        let bits = W::BITS - count * W::UNIT;
        let residual = W::extract(self.body, self.at, bits);
        self.at += bits;
        residual
    }
}

/// The sum of the sixteen leading-zero counts in `counts`.
pub(crate) fn sum(counts: u64) -> u32 {
    const EVEN: u64 = 0x0f0f_0f0f_0f0f_0f0f;
    let pairs = (counts & EVEN) + (counts >> 4 & EVEN);
    // The top byte of the product is the sum of all bytes; it is 240 at most.
    (pairs.wrapping_mul(0x0101_0101_0101_0101) >> 56) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pair of lengths, at every offset within a byte.
    fn round_trip<W: Word + From<u32>>(all_ones: W) {
        let lengths = (1..=16).map(|n| n * W::UNIT);
        for (first, second) in lengths.clone().flat_map(|a| lengths.clone().map(move |b| (a, b))) {
            let mut body = [0xff; BODY];
            let mut writer = Writer::new(&mut body);
            let of = |bits: u32| W::extract(&[0xff; BODY], 0, bits);
            let residuals = [of(first), of(second), of(second), of(W::UNIT), W::ZERO, of(first), all_ones];
            let counts = residuals.map(|residual| writer.put(residual) as u32);
            let bits: u32 = counts.iter().map(|count| W::BITS - count * W::UNIT).sum();
            let written = writer.finish();
            assert_eq!(written.len() as u32, bits.div_ceil(8));
            let unused = written.len() as u32 * 8 - bits;
            assert_eq!(written[written.len() - 1].leading_zeros(), unused, "ones, then unused zeros");
            let mut reader = Reader::new(&body);
            assert_eq!(counts.map(|count| reader.take::<W>(count)), residuals, "{first} and {second} bits");
        }
    }

    #[test]
    fn what_is_written_is_read() {
        round_trip(u64::MAX);
        round_trip(u32::MAX);
    }

    #[test]
    fn sum_adds_all_sixteen() {
        assert_eq!(sum(0), 0);
        assert_eq!(sum(u64::MAX), 240);
        assert_eq!(sum(0x1234_5678_9abc_def0), 120);
    }
}
