//! A plane encoded with an entropy code (`docs/format/huffman.md`, section 1).
#![forbid(unsafe_code)]

use super::canonical::Codes;
use super::histogram::{count, is_noise, least_bits};
use super::lengths::{self, Alphabet, ROOM};
use super::lookup::{Fours, Ones};
use super::ranking::Ranking;
use super::{Lengths, streams};
use crate::format::{MAX_BITS, streams as streams_of};
use crate::kernel::Kernel;
use mpress_codec::DecodeErrorKind::Corrupt;
use mpress_codec::{DecodeError, Full, Out};
use mpress_codec_support::Wire;

/// Length in bytes of a stream's size field.
const SIZE: usize = 2;
/// The minimum length of a plane for which the table of four symbols per entry pays.
const WORTH_FOURS: usize = 12 << 10;

/// Appends the coded plane if that is shorter than the plane.
#[inline(always)]
pub(super) fn encode<K: Kernel>(
    find_lengths: fn(&Ranking) -> Lengths,
    kernel: K,
    plane: &[u8],
    out: &mut Out<'_>,
) -> Result<bool, Full> {
    if is_noise(plane) {
        return Ok(false);
    }
    let counts = count(plane);
    let distinct = counts.iter().filter(|count| **count > 0).count();
    if distinct == 1 && plane.len() > 2 {
        lengths::write_single(plane[0], out)?;
        return Ok(true);
    }
    // The remaining room for lengths and codes. A symbol's length takes about one and a half bits, a run of symbols four more.
    let runs = counts.iter().zip(&counts[1..]).filter(|(one, next)| (**one > 0) != (**next > 0)).count() / 2;
    let least_header = distinct * 3 / 16 + runs / 2;
    let number = streams_of(plane.len());
    let Some(room) = plane.len().checked_sub((number - 1) * SIZE + number) else { return Ok(false) };
    if distinct < 2 || least_bits(&counts, plane.len()) / 8 + least_header as u64 >= room as u64 {
        return Ok(false);
    }
    let ranking = Ranking::new(&counts);
    let ranked = find_lengths(&ranking);
    let bits: u64 = ranking.counts().zip(ranked).map(|(n, length)| u64::from(n) * u64::from(length)).sum();
    let mut of_symbols: Lengths = [0; 256];
    for (symbol, length) in ranking.symbols().zip(ranked) {
        of_symbols[usize::from(symbol)] = length;
    }
    let mut buffer = [0; ROOM];
    let mut header = Out::from_slice(&mut buffer);
    lengths::write(&of_symbols, &mut header)?;
    if header.len() as u64 + bits / 8 >= room as u64 {
        return Ok(false);
    }
    out.extend_from_slice(header.written())?;

    let sizes = out.len();
    out.extend_from_slice(&[0; SIZE * 8][..SIZE * (number - 1)])?;
    let first = out.len();
    let codes = Codes::new(&of_symbols);
    for (stream, at) in plane.chunks(plane.len().div_ceil(number)).zip((sizes..).step_by(SIZE)) {
        let start = out.len();
        kernel.pack(stream, &codes, out)?;
        let size = (out.len() - start) as u16;
        // The last stream has no size field.
        if let Some(place) = out.written_mut()[..first].get_mut(at..at + SIZE) {
            place.copy_from_slice(&size.to_le_bytes());
        }
    }
    Ok(true)
}

/// A decoder's tables.
#[derive(Clone, Debug)]
pub struct Tables {
    ones: Ones,
    fours: Fours,
}

impl Tables {
    pub(super) const EMPTY: Self = Self { ones: Ones::EMPTY, fours: Fours::EMPTY };

    /// Reads a coded plane.
    #[inline(always)]
    pub(super) fn decode(&mut self, wire: &mut Wire<'_>, plane: &mut [u8]) -> Result<(), DecodeError> {
        let alphabet = lengths::read(wire)?;
        if let Some(symbol) = alphabet.single() {
            plane.fill(symbol);
            return Ok(());
        }
        let number = streams_of(plane.len());
        let sizes = wire.take((number - 1) * SIZE)?.as_chunks::<SIZE>().0;
        // Look-ups may read past the streams.
        let streams = *wire;
        let all_but_last = sizes.iter().map(|size| usize::from(u16::from_le_bytes(*size))).sum();
        wire.take(all_but_last)?;
        self.ones.fill(&alphabet);
        let many = plane.len() >= WORTH_FOURS && is_short(&alphabet);
        let (codes, ones, fours) = (streams.rest(), &self.ones, &mut self.fours);
        if many {
            fours.fill(&alphabet);
        }
        let end = match (number, many) {
            (1, _) => streams::decode::<1, _>(ones, ones, codes, sizes, plane),
            (4, _) => streams::decode::<4, _>(ones, ones, codes, sizes, plane),
            (_, false) => streams::decode::<8, _>(ones, ones, codes, sizes, plane),
            (_, true) => streams::decode::<8, _>(ones, &*fours, codes, sizes, plane),
        };
        let end = end.ok_or_else(|| streams.error(Corrupt))?;
        *wire = streams;
        wire.take(end)?;
        Ok(())
    }
}

/// Whether 11 bits of this code usually contain two or more symbols.
fn is_short(alphabet: &Alphabet) -> bool {
    let bits = alphabet.of_length.iter().zip(0_u32..);
    let mean: u32 = bits.map(|(count, length)| (u32::from(*count) * length) << (MAX_BITS - length)).sum();
    mean * 2 <= MAX_BITS << MAX_BITS
}
