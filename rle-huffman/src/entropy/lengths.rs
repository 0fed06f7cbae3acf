//! Code lengths on the wire: runs of symbols that occur, with each length as a difference from a base or from the previous length
//! (`docs/format/huffman.md`, section 3).
#![forbid(unsafe_code)]

use super::{Codes, Lengths};
use crate::bits::{Bits, STAGE, Writer, join};
use crate::format::MAX_BITS;
use mpress_codec::{DecodeError, Full, Out};
use mpress_codec_support::Wire;

/// The maximum size of any code's lengths in bytes: 256 differences of at most 13 bits, and gaps and runs, whose gamma codes take at most 2 bits per
/// symbol.
pub(crate) const ROOM: usize = 512;

/// The symbols of a code with their lengths. In a plane of a single value, its length is 0.
#[derive(Clone, Debug)]
pub(crate) struct Alphabet {
    /// In the order of the symbols, each with its length in the low byte.
    entries: [u16; 256],
    len: usize,
    /// The number of symbols of each length.
    pub(crate) of_length: [u16; MAX_BITS as usize + 1],
}

impl Alphabet {
    const EMPTY: Self = Self { entries: [0; _], len: 0, of_length: [0; _] };

    #[inline(always)]
    fn push(&mut self, symbol: u32, length: u32) {
        self.entries[self.len % 256] = (symbol << 8 | length) as u16;
        self.len += 1;
        self.of_length[length as usize % 12] += 1;
    }

    /// The value of a plane that has only one.
    pub(crate) fn single(&self) -> Option<u8> {
        (self.len == 1).then_some((self.entries[0] >> 8) as u8)
    }

    /// The entries in the order of the symbols: the length in the low byte, the symbol in the high byte.
    pub(crate) fn entries(&self) -> &[u16] {
        &self.entries[..self.len]
    }
}

/// Writes the header of a plane that consists of `symbol` only.
pub(crate) fn write_single(symbol: u8, out: &mut Out<'_>) -> Result<(), Full> {
    let mut stage = STAGE;
    let mut bits = Writer::new(&mut stage);
    bits.put(symbol.into(), 12, out)?;
    bits.finish(out)
}

/// The codes of differences, modulo 256.
const STEPS: Codes = {
    let mut steps = Codes { codes: [0; 256], lengths: [1; 256] };
    let mut by = 1;
    while by < MAX_BITS as usize {
        let down = 256 - by;
        (steps.codes[by], steps.lengths[by]) = match by {
            1 => (0b10, 2),
            _ => (((2 << by) - 1) << 2, by as u8 + 3),
        };
        (steps.codes[down], steps.lengths[down]) = match by {
            1 => (0b110, 3),
            _ => (steps.codes[by] | 1, steps.lengths[by]),
        };
        by += 1;
    }
    steps
};

/// The number of bits of the difference between two lengths, as in [`STEPS`], in a vectorisable form; 0 if `to` is 0.
#[inline(always)]
fn step_len(to: u8, from: u8) -> u16 {
    let by = to.abs_diff(from);
    let bits = by + 1 + if by > 1 { 2 } else { 0 } + if to.wrapping_add(1) == from { 1 } else { 0 };
    u16::from(if to > 0 { bits } else { 0 })
}

/// The base whose differences take the fewest bits; `None` if differences from the previous length take fewer. The lengths are followed by zeros.
#[inline(always)]
fn fixed_base(lengths: &[[u8; 32]]) -> Option<u8> {
    // Loops, because closures of iterators may not be compiled for the kernel's instructions.
    let mut least = 0;
    let flat = lengths.as_flattened();
    for (from, to) in flat.iter().zip(flat.iter().skip(1)) {
        least += step_len(*to, *from);
    }
    let mut best = None;
    for base in 1..=MAX_BITS as u8 {
        let mut bits = 0;
        for lengths in lengths {
            for length in lengths {
                bits += step_len(*length, base);
            }
        }
        if bits <= least {
            (least, best) = (bits, Some(base));
        }
    }
    best
}

/// Writes the lengths of a complete code.
#[inline(always)]
pub(crate) fn write(lengths: &Lengths, out: &mut Out<'_>) -> Result<(), Full> {
    let (mut used, mut places) = ([0; 256], [0_u64; 4]);
    let mut n = 0;
    for (lengths, places) in lengths.as_chunks::<64>().0.iter().zip(&mut places) {
        for (length, place) in lengths.iter().zip(0..) {
            // Entries of symbols that do not occur are overwritten by the next one.
            used[n % 256] = *length;
            n += usize::from(*length > 0);
            *places |= u64::from(*length > 0) << place;
        }
    }
    let base = fixed_base(&used.as_chunks().0[..n.div_ceil(32)]);
    let used = &used[..n];
    let first = base.unwrap_or(used[0]);
    let mut steps = [0; 256];
    for ((step, to), before) in steps.iter_mut().zip(used).zip([first].iter().chain(used)) {
        *step = to.wrapping_sub(base.unwrap_or(*before));
    }

    let mut stage = STAGE;
    let mut bits = Writer::new(&mut stage);
    bits.put(u64::from(first) << 1 | u64::from(base.is_none()), 5, out)?;
    let mut steps = &steps[..n];
    let mut symbol = 0;
    // The first gap may be empty.
    let mut least = 0;
    while !steps.is_empty() {
        let gap = zeros(&places, symbol);
        symbol += gap;
        let run = zeros(&places.map(|word| !word), symbol).min(steps.len());
        symbol += run;
        let (code, len) = join(gamma(gap + 1 - least), gamma(run));
        bits.put(code, len, out)?;
        least = 1;
        let (these, rest) = steps.split_at(run);
        bits.put_codes(these, &STEPS, out)?;
        steps = rest;
    }
    bits.finish(out)
}

/// The number of consecutive zero bits from `from` on.
#[inline(always)]
fn zeros(words: &[u64; 4], from: usize) -> usize {
    let mut at = from;
    while let Some(word) = words.get(at / 64) {
        let rest = word >> (at % 64);
        if rest != 0 {
            return at + rest.trailing_zeros() as usize - from;
        }
        at = (at / 64 + 1) * 64;
    }
    256 - from
}

/// The Elias gamma code of a number from 1 to 256, and its length.
#[inline(always)]
fn gamma(n: usize) -> (u64, u32) {
    (n as u64, 2 * n.ilog2() + 1)
}

/// Reads the header of a plane.
#[inline(always)]
pub(crate) fn read(wire: &mut Wire<'_>) -> Result<Alphabet, DecodeError> {
    let mut bits = Bits::new(wire);
    let mut alphabet = Alphabet::EMPTY;
    let length = bits.get(4);
    if length == 0 {
        alphabet.push(bits.get(8), 0);
        bits.finish()?;
        return Ok(alphabet);
    }
    if length > MAX_BITS {
        return Err(bits.corrupt());
    }
    let mut base = length;
    let moves = bits.get(1) == 1;
    let mut symbol = 0;
    let mut least = 0;
    // The unused codes of the maximum length.
    let mut room = 1_u32 << MAX_BITS;
    while room > 0 {
        symbol += get_gamma(&mut bits)? - 1 + least;
        least = 1;
        let run = get_gamma(&mut bits)?;
        if symbol + run > 256 {
            return Err(bits.corrupt());
        }
        for _ in 0..run {
            let length = get_length(&mut bits, base)?;
            base = if moves { length } else { base };
            let codes = 1 << (MAX_BITS - length);
            if codes > room {
                return Err(bits.corrupt());
            }
            room -= codes;
            alphabet.push(symbol, length);
            symbol += 1;
        }
    }
    bits.finish()?;
    Ok(alphabet)
}

#[inline(always)]
fn get_gamma(bits: &mut Bits<'_, '_>) -> Result<u32, DecodeError> {
    let next = bits.peek();
    let zeros = next.leading_zeros();
    if zeros > 8 {
        bits.skip(9);
        return Err(bits.corrupt());
    }
    bits.skip(2 * zeros + 1);
    Ok((next >> (63 - 2 * zeros)) as u32)
}

/// Reads a length as a difference from `base`.
#[inline(always)]
fn get_length(bits: &mut Bits<'_, '_>, base: u32) -> Result<u32, DecodeError> {
    let next = bits.peek();
    // A valid difference has no more; even this many lead from any length to an invalid one.
    let ones = next.leading_ones().min(MAX_BITS + 1);
    let is_long = ones > 2;
    bits.skip(ones + 1 + u32::from(is_long));
    let down = if is_long { next << (ones + 1) >> 63 == 1 } else { ones == 2 };
    let units = ones - u32::from(ones > 1);
    let length = if down { base.wrapping_sub(units) } else { base + units };
    if (1..=MAX_BITS).contains(&length) { Ok(length) } else { Err(bits.corrupt()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_as_long_as_is_said() {
        for from in 1..=MAX_BITS as u8 {
            for to in 1..=MAX_BITS as u8 {
                assert_eq!(step_len(to, from), STEPS.lengths[usize::from(to.wrapping_sub(from))].into());
            }
        }
        assert_eq!(step_len(0, 5), 0);
    }

    #[test]
    fn the_base_moves_where_that_is_shorter() {
        let mut lengths = [0; 32];
        lengths[..6].copy_from_slice(&[8, 7, 8, 9, 8, 8]);
        assert_eq!(fixed_base(&[lengths]), Some(8));
        lengths[..12].copy_from_slice(&[4, 4, 4, 4, 6, 6, 6, 6, 9, 9, 9, 9]);
        assert_eq!(fixed_base(&[lengths]), None);
    }

    #[test]
    fn lengths_come_back() {
        let mut few = [0; 256];
        (few[0], few[9], few[10], few[255]) = (1, 2, 3, 3);
        let mut pair = [0; 256];
        (pair[254], pair[255]) = (1, 1);
        for lengths in [[8; 256], few, pair] {
            let mut bytes = [0; ROOM];
            let mut out = Out::from_slice(&mut bytes);
            assert_eq!(write(&lengths, &mut out), Ok(()));
            let alphabet = read(&mut Wire::new(out.written())).unwrap_or(Alphabet::EMPTY);
            let mut back = [0; 256];
            for entry in alphabet.entries() {
                back[usize::from(entry >> 8)] = *entry as u8;
            }
            assert_eq!(back, lengths);
        }
    }
}
