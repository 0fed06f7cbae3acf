//! Code lengths on the wire: runs of symbols that occur, each length by its difference from the one before
//! (`docs/format/huffman.md`, section 3).
#![forbid(unsafe_code)]

use super::Lengths;
use crate::bits::{Bits, STAGE, Writer};
use crate::format::MAX_BITS;
use crate::reader::Reader;
use mpress_codec::{DecodeError, Full, Out};

/// Room for any code's lengths, in bytes: a symbol's step takes at most 12 bits, and what is said of runs takes fewer bits than
/// the steps of the symbols that are not there would.
pub(crate) const ROOM: usize = 576;

/// The symbols of a code with their lengths. That of a plane of one value has this one, of length 0.
#[derive(Clone, Debug)]
pub(crate) struct Alphabet {
    /// By value, each with its length in the low byte.
    entries: [u16; 256],
    len: usize,
    /// How many there are of each length.
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

    /// The value of a plane that has no other.
    pub(crate) fn single(&self) -> Option<u8> {
        (self.len == 1).then_some((self.entries[0] >> 8) as u8)
    }

    /// Length in the low byte, symbol in the high one; by symbol.
    pub(crate) fn entries(&self) -> &[u16] {
        &self.entries[..self.len]
    }
}

/// Writes the header of a plane of nothing but `symbol`.
pub(crate) fn write_single(symbol: u8, out: &mut Out<'_>) -> Result<(), Full> {
    let mut stage = STAGE;
    let mut bits = Writer::new(&mut stage);
    bits.put(symbol.into(), 12, out)?;
    bits.finish(out)
}

/// Writes the lengths of a complete code.
#[inline(always)]
pub(crate) fn write(lengths: &Lengths, out: &mut Out<'_>) -> Result<(), Full> {
    let mut stage = STAGE;
    let mut bits = Writer::new(&mut stage);
    let mut before = lengths.iter().copied().find(|length| *length > 0).unwrap_or(0);
    bits.put(before.into(), 4, out)?;
    // The first gap may be none at all.
    let mut rest = &lengths[..];
    let mut least = 0;
    loop {
        let gap = rest.iter().take_while(|length| **length == 0).count();
        rest = &rest[gap..];
        if rest.is_empty() {
            return bits.finish(out);
        }
        put_gamma(&mut bits, gap + 1 - least, out)?;
        least = 1;
        let run = rest.iter().take_while(|length| **length > 0).count();
        put_gamma(&mut bits, run, out)?;
        for length in &rest[..run] {
            put_step(&mut bits, *length, before, out)?;
            before = *length;
        }
        rest = &rest[run..];
    }
}

/// Elias's gamma code of a number from 1 to 256.
#[inline(always)]
fn put_gamma(bits: &mut Writer<'_>, n: usize, out: &mut Out<'_>) -> Result<(), Full> {
    bits.put(n as u64, 2 * n.ilog2() + 1, out)
}

/// As many ones as the difference has units, a zero, and unless there is none its sign.
#[inline(always)]
fn put_step(bits: &mut Writer<'_>, to: u8, from: u8, out: &mut Out<'_>) -> Result<(), Full> {
    let units = u32::from(to.abs_diff(from));
    let ones = (1_u64 << units) - 1;
    match units {
        0 => bits.put(0, 1, out),
        _ => bits.put(ones << 2 | u64::from(to < from), units + 2, out),
    }
}

/// Reads the header of a plane.
#[inline(always)]
pub(crate) fn read(wire: &mut Reader<'_>) -> Result<Alphabet, DecodeError> {
    let mut bits = Bits::new(wire);
    let mut alphabet = Alphabet::EMPTY;
    let mut length = bits.get(4);
    if length == 0 {
        alphabet.push(bits.get(8), 0);
        bits.finish()?;
        return Ok(alphabet);
    }
    if length > MAX_BITS {
        return Err(bits.corrupt());
    }
    let mut symbol = 0;
    let mut least = 0;
    // Codes left, of the greatest length.
    let mut room = 1_u32 << MAX_BITS;
    while room > 0 {
        symbol += get_gamma(&mut bits)? - 1 + least;
        least = 1;
        let run = get_gamma(&mut bits)?;
        if symbol + run > 256 {
            return Err(bits.corrupt());
        }
        for _ in 0..run {
            length = get_step(&mut bits, length)?;
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

/// The length after this one.
#[inline(always)]
fn get_step(bits: &mut Bits<'_, '_>, length: u32) -> Result<u32, DecodeError> {
    let next = bits.peek();
    let units = next.leading_ones();
    if units == 0 {
        bits.skip(1);
        return Ok(length);
    }
    // More cannot be, and are not looked at.
    let units = units.min(MAX_BITS);
    bits.skip(units + 2);
    let down = next << (units + 1) >> 63 == 1;
    let length = if down { length.wrapping_sub(units) } else { length + units };
    if (1..=MAX_BITS).contains(&length) { Ok(length) } else { Err(bits.corrupt()) }
}
