//! The portable kernel, which defines what the others do.
#![forbid(unsafe_code)]

use super::{Kernel, Work, least_run};
use crate::bits::{STAGE, Writer};
use crate::entropy::Codes;
use crate::width::Width;
use mpress_codec::simd::Level;
use mpress_codec::{Full, Out};

/// Needs nothing of the machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scalar;

impl Kernel for Scalar {
    fn new(_: Level) -> Option<Self> {
        Some(Self)
    }
    fn enter<T: Work>(self, work: T) -> T::Output {
        work.run(self)
    }
    fn split(self, elements: &[u8], width: Width, planes: &mut [u8]) {
        split(elements, width, planes, 0);
    }
    fn join(self, planes: &[&[u8]; 8], width: Width, elements: &mut [u8]) {
        join(planes, width, elements, 0);
    }
    fn find_run(self, bytes: &[u8], from: usize, symbol: Width) -> Option<usize> {
        find_run(bytes, from, symbol)
    }
    fn end_of_run(self, bytes: &[u8], from: usize, symbol: Width) -> usize {
        end_of_run(bytes, from, symbol)
    }
    fn pack(self, symbols: &[u8], codes: &Codes, out: &mut Out<'_>) -> Result<(), Full> {
        pack(symbols, codes, out)
    }
}

/// [`Kernel::split`] from element `first` on.
#[inline(always)]
pub(super) fn split(elements: &[u8], width: Width, planes: &mut [u8], first: usize) {
    fn of<const W: usize>(elements: &[u8], planes: &mut [u8], first: usize) {
        let elements = elements.as_chunks::<W>().0;
        for (byte, plane) in planes.chunks_exact_mut(elements.len().max(1)).enumerate().take(W) {
            for (to, element) in plane.iter_mut().zip(elements).skip(first) {
                *to = element[byte];
            }
        }
    }
    match width {
        Width::One => planes.copy_from_slice(elements),
        Width::Two => of::<2>(elements, planes, first),
        Width::Four => of::<4>(elements, planes, first),
        Width::Eight => of::<8>(elements, planes, first),
    }
}

/// [`Kernel::join`] from element `first` on.
#[inline(always)]
pub(super) fn join(planes: &[&[u8]; 8], width: Width, elements: &mut [u8], first: usize) {
    fn of<const W: usize>(planes: &[&[u8]; 8], elements: &mut [u8], first: usize) {
        let elements = elements.as_chunks_mut::<W>().0;
        for (byte, plane) in planes.iter().enumerate().take(W) {
            for (element, from) in elements.iter_mut().zip(*plane).skip(first) {
                element[byte] = *from;
            }
        }
    }
    match width {
        Width::One => elements.copy_from_slice(planes[0]),
        Width::Two => of::<2>(planes, elements, first),
        Width::Four => of::<4>(planes, elements, first),
        Width::Eight => of::<8>(planes, elements, first),
    }
}

/// The eight bytes at `at`.
fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|word| u64::from_le_bytes(*word))
}

/// The symbols of eight bytes that are 0: the top bit of each. A symbol's other bits, added to all of them, carry into it
/// unless they are 0.
fn zeros(word: u64, symbol: Width) -> u64 {
    let low = match symbol {
        Width::One => 0x7f7f_7f7f_7f7f_7f7f,
        Width::Two => 0x7fff_7fff_7fff_7fff,
        Width::Four => 0x7fff_ffff_7fff_ffff,
        Width::Eight => 0x7fff_ffff_ffff_ffff,
    };
    !((word & low).wrapping_add(low) | word) & !low
}

#[inline(always)]
pub(super) fn find_run(bytes: &[u8], from: usize, symbol: Width) -> Option<usize> {
    let s = symbol.bytes();
    let least = least_run(s);
    let mut at = from;
    // Symbols of a word that are followed by so many repeats in it; then on to the first that may have others behind.
    while let (Some(these), Some(next)) = (word(bytes, at), word(bytes, at + s)) {
        let equal = zeros(these ^ next, symbol);
        let runs = (1..least).fold(equal, |runs, i| runs & equal >> (8 * s * i));
        if runs != 0 {
            return Some(at + runs.trailing_zeros() as usize / (8 * s) * s);
        }
        at += 8 - (least - 1) * s;
    }
    // The last few.
    let is_run = |at: usize| {
        let end = at + (least + 1) * s;
        end <= bytes.len() && bytes[at..end - s] == bytes[at + s..end]
    };
    (at..bytes.len()).step_by(s).find(|at| is_run(*at))
}

#[inline(always)]
pub(super) fn end_of_run(bytes: &[u8], from: usize, symbol: Width) -> usize {
    let s = symbol.bytes();
    let mut at = from;
    while let (Some(these), Some(next)) = (word(bytes, at), word(bytes, at + s)) {
        if these != next {
            break;
        }
        at += 8;
    }
    while bytes.get(at + s..at + 2 * s).is_some_and(|next| *next == bytes[at..at + s]) {
        at += s;
    }
    (at + s).min(bytes.len())
}

#[inline(always)]
pub(super) fn pack(symbols: &[u8], codes: &Codes, out: &mut Out<'_>) -> Result<(), Full> {
    let mut stage = STAGE;
    pack_behind(Writer::new(&mut stage), symbols, codes, out)
}

/// The same behind other codes.
#[inline(always)]
pub(super) fn pack_behind(
    mut bits: Writer<'_>,
    symbols: &[u8],
    codes: &Codes,
    out: &mut Out<'_>,
) -> Result<(), Full> {
    let (fours, rest) = symbols.as_chunks::<4>();
    for four in fours {
        let [a, b, c, d] = four.map(|symbol| codes.of(symbol));
        let (first, second) = (join_codes(a, b), join_codes(c, d));
        let (code, len) = join_codes(first, second);
        bits.put(code, len, out)?;
    }
    for symbol in rest {
        let (code, len) = codes.of(*symbol);
        bits.put(code, len, out)?;
    }
    bits.finish(out)
}

/// A code behind another.
#[inline(always)]
fn join_codes((a, a_len): (u64, u32), (b, b_len): (u64, u32)) -> (u64, u32) {
    (a << b_len | b, a_len + b_len)
}
