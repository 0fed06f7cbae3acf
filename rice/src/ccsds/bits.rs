//! Bit strings as in the standard: the most significant bit of a byte comes first.
#![forbid(unsafe_code)]

use mpress_codec::DecodeErrorKind::{self, Corrupt, Truncated};
use mpress_codec::{DecodeError, Full, Out};
use mpress_codec_support::Wire;

/// The maximum number of bits that are written or read at once: 64 minus those that may precede them in a byte.
pub(super) const MOST: u32 = 57;

/// Collects the bits of a block.
#[derive(Debug)]
pub(super) struct Writer<'a, 'b> {
    out: &'a mut Out<'b>,
    /// The maximum length of `out`.
    limit: usize,
    /// Bytes that are not in `out` yet. A block of 64 samples of 32 bits, with everything that may precede it, has fewer than 300
    /// bytes.
    bytes: [u8; 512],
    end: End,
}

/// The write position: after `at` whole bytes there are `filled` bits, below 8, which are the first ones of `word`.
///
/// Loops work on a copy, so that it stays in registers.
#[derive(Clone, Copy, Debug)]
struct End {
    at: usize,
    word: u64,
    filled: u32,
}

impl End {
    #[inline(always)]
    fn put(&mut self, bytes: &mut [u8; 512], value: u64, len: u32) {
        self.filled += len;
        self.word |= value << (64 - self.filled);
        if let Some(to) = bytes.get_mut(self.at..).and_then(<[_]>::first_chunk_mut) {
            *to = self.word.to_be_bytes();
        }
        self.at += self.filled as usize / 8;
        self.word = self.word.unbounded_shl(self.filled & !7);
        self.filled %= 8;
    }

    #[inline(always)]
    fn put_unary(&mut self, bytes: &mut [u8; 512], mut zeros: u32) {
        while zeros >= MOST {
            self.put(bytes, 0, MOST);
            zeros -= MOST;
        }
        self.put(bytes, 1, zeros + 1);
    }
}

impl<'a, 'b> Writer<'a, 'b> {
    pub(super) fn new(out: &'a mut Out<'b>, limit: usize) -> Self {
        Self { out, limit, bytes: [0; 512], end: End { at: 0, word: 0, filled: 0 } }
    }

    /// Writes the lowest `len` bits, 1 to [`MOST`], of `value`; its other bits must be zero.
    #[inline(always)]
    pub(super) fn put(&mut self, value: u64, len: u32) {
        self.end.put(&mut self.bytes, value, len);
    }

    /// Writes a fundamental sequence: `zeros` zeros and a one.
    #[inline(always)]
    pub(super) fn put_unary(&mut self, zeros: u32) {
        self.end.put_unary(&mut self.bytes, zeros);
    }

    /// Writes the fundamental sequences of all numbers without their lowest `parameter` bits.
    #[inline(always)]
    pub(super) fn put_quotients(&mut self, parameter: u32, numbers: &[u32]) {
        let mut end = self.end;
        let (fours, rest) = numbers.as_chunks::<4>();
        for four in fours {
            let [a, b, c, d] = four.map(|number| number >> parameter);
            // Unless all four numbers are small, the sum is not computed, so it cannot overflow.
            if (a | b | c | d) < MOST && a + b + c + d + 4 <= MOST {
                let code = ((1 << (b + 1) | 1) << (c + 1) | 1) << (d + 1) | 1;
                end.put(&mut self.bytes, code, a + b + c + d + 4);
            } else {
                [a, b, c, d].into_iter().for_each(|quotient| end.put_unary(&mut self.bytes, quotient));
            }
        }
        rest.iter().for_each(|number| end.put_unary(&mut self.bytes, number >> parameter));
        self.end = end;
    }

    /// Writes the lowest `bits` bits, at least 1, of all numbers.
    #[inline(always)]
    pub(super) fn put_remainders(&mut self, bits: u32, numbers: &[u32]) {
        match bits {
            1..=14 => self.put_groups::<4>(bits, numbers),
            15..=28 => self.put_groups::<2>(bits, numbers),
            _ => self.put_groups::<1>(bits, numbers),
        }
    }

    /// The same, for `N` numbers at a time, which together have at most [`MOST`] bits.
    #[inline(always)]
    fn put_groups<const N: usize>(&mut self, bits: u32, numbers: &[u32]) {
        let mut end = self.end;
        let mask = u32::MAX >> (32 - bits);
        let (groups, rest) = numbers.as_chunks::<N>();
        for group in groups {
            let value = group.iter().fold(0, |value, number| value << bits | u64::from(number & mask));
            end.put(&mut self.bytes, value, bits * N as u32);
        }
        rest.iter().for_each(|number| end.put(&mut self.bytes, u64::from(number & mask), bits));
        self.end = end;
    }

    /// Moves all whole bytes to `out`.
    #[inline(always)]
    pub(super) fn flush(&mut self) -> Result<(), Full> {
        if self.out.len() + self.end.at > self.limit {
            return Err(Full);
        }
        self.out.extend_from_slice(self.bytes.get(..self.end.at).ok_or(Full)?)?;
        self.end.at = 0;
        Ok(())
    }

    /// Pads the last byte with zeros.
    pub(super) fn finish(mut self) -> Result<(), Full> {
        if self.end.filled > 0 {
            self.put(0, 8 - self.end.filled);
        }
        self.flush()
    }
}

/// Reads bits. Past the end there are zeros; the caller must occasionally check that the end has not been passed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    wire: Wire<'a>,
    /// The number of bits read after `wire.at`.
    bits: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(wire: Wire<'a>) -> Self {
        Self { wire, bits: 0 }
    }

    /// The next bits, from the most significant one on; at least [`MOST`] of them.
    #[inline(always)]
    pub(super) fn window(&self) -> u64 {
        self.window_at(0)
    }

    /// The same, `ahead` bits further on.
    #[inline(always)]
    pub(super) fn window_at(&self, ahead: usize) -> u64 {
        let bit = self.bits + ahead;
        let rest = self.wire.bytes.get(self.wire.at + bit / 8..);
        let bytes = match rest.and_then(<[_]>::first_chunk) {
            Some(bytes) => *bytes,
            None => near_the_end(rest.unwrap_or(&[])),
        };
        u64::from_be_bytes(bytes) << (bit % 8)
    }

    #[inline(always)]
    pub(super) fn skip(&mut self, bits: usize) {
        self.bits += bits;
    }

    /// Reads `len` bits, at most 32.
    #[inline(always)]
    pub(super) fn take(&mut self, len: u32) -> u32 {
        let value = self.window().unbounded_shr(64 - len);
        self.skip(len as usize);
        value as u32
    }

    /// Reads the number of zeros before the next one, and the one; an error if there are more than `most`.
    #[inline(always)]
    pub(super) fn take_unary(&mut self, most: u32) -> Result<u32, DecodeError> {
        let window = self.window();
        let zeros = if window < 1 << (64 - MOST) { self.zeros(most)? } else { window.leading_zeros() };
        if zeros > most {
            return Err(self.error(Corrupt));
        }
        self.skip(zeros as usize + 1);
        Ok(zeros)
    }

    /// Reads a fundamental sequence for each number and shifts it left by `parameter`; an error if a number exceeds `greatest`.
    #[inline(always)]
    pub(super) fn take_quotients(
        &mut self,
        parameter: u32,
        greatest: u32,
        quotients: &mut [u32],
    ) -> Result<(), DecodeError> {
        let most = greatest.unbounded_shr(parameter);
        let (mut window, mut used) = (self.window(), 0);
        for quotient in quotients {
            let zeros = window.leading_zeros();
            if used + zeros < MOST {
                used += zeros + 1;
                window = window.unbounded_shl(zeros + 1);
                if zeros > most {
                    return Err(self.error(Corrupt));
                }
                *quotient = zeros << parameter;
            } else {
                self.skip(used as usize);
                *quotient = self.take_unary(most)? << parameter;
                (window, used) = (self.window(), 0);
            }
        }
        self.skip(used as usize);
        Ok(())
    }

    /// Reads `bits` bits into each number, whose lowest bits are 0.
    #[inline(always)]
    pub(super) fn take_remainders(&mut self, bits: u32, numbers: &mut [u32]) {
        if bits == 0 {
            return;
        }
        let mut ahead = 0;
        for number in numbers {
            *number |= (self.window_at(ahead) >> (64 - bits)) as u32;
            ahead += bits as usize;
        }
        self.skip(ahead);
    }

    /// The number of zeros before the next one, for a window without a one.
    #[cold]
    #[inline(never)]
    fn zeros(&self, most: u32) -> Result<u32, DecodeError> {
        let truncated = DecodeError::new(Truncated, self.wire.bytes.len());
        let bits_left = (self.wire.bytes.len() - self.wire.at).saturating_mul(8).saturating_sub(self.bits);
        let most = most.min(u32::MAX - 1);
        let mut zeros = 0_u32;
        while zeros as usize <= bits_left && zeros <= most {
            let window = self.window_at(zeros as usize) >> (64 - MOST) << (64 - MOST);
            if window != 0 {
                return Ok(zeros + window.leading_zeros());
            }
            zeros = zeros.saturating_add(MOST);
        }
        // In a valid code, the one comes after at most `most` zeros.
        Err(if most as usize >= bits_left { truncated } else { self.error(Corrupt) })
    }

    /// The error for something that no encoder writes; `Truncated` if the end has been passed.
    #[cold]
    pub(super) fn error(&self, kind: DecodeErrorKind) -> DecodeError {
        match self.check() {
            Ok(()) => DecodeError::new(kind, self.wire.at + self.bits / 8),
            Err(error) => error,
        }
    }

    /// Checks that the end has not been passed.
    ///
    /// # Errors
    /// `Truncated`.
    #[inline(always)]
    pub(super) fn check(&self) -> Result<(), DecodeError> {
        let len = self.wire.bytes.len();
        if self.bits.div_ceil(8) <= len - self.wire.at {
            Ok(())
        } else {
            Err(DecodeError::new(Truncated, len))
        }
    }

    /// The wire after the last byte of which any bit has been read. The remaining bits of that byte must be 0.
    ///
    /// # Errors
    /// `Truncated`, `Corrupt`.
    pub(super) fn finish(mut self) -> Result<Wire<'a>, DecodeError> {
        self.check()?;
        let fill = self.bits.wrapping_neg() % 8;
        if self.take(fill as u32) != 0 {
            return Err(self.error(Corrupt));
        }
        self.wire.at += self.bits / 8;
        Ok(self.wire)
    }
}

#[cold]
#[inline(never)]
fn near_the_end(rest: &[u8]) -> [u8; 8] {
    let mut bytes = [0; 8];
    for (to, from) in bytes.iter_mut().zip(rest) {
        *to = *from;
    }
    bytes
}
