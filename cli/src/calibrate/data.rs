//! Messages of every kind and redundancy level: smooth fields of which a part of the low bits, from almost none to all, is noise; numbers of a
//! range; and fields that are mostly zero or repeat themselves.

use mpress::Kind;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// The content of a field. Messages of unknown kind instead contain text with noise (`Coarse`), structures of 4-byte floats (`Fine`) and integers
/// (`Range`), and doubles (the others).
#[derive(Clone, Copy, Debug)]
pub(super) enum Texture {
    /// A smooth field on a coarse grid; this fraction of a number's bits is noise.
    Coarse(f64),
    /// The same on a grid that is 100 times as fine.
    Fine(f64),
    /// Unordered numbers that use this fraction of the bits: the low bits of integers, the high bits of fractions.
    Range(f64),
    /// Noise in runs; this fraction of the elements is not zero.
    Sparse(f64),
    /// Records; this fraction of the elements differs from the previous record.
    Repeating(f64),
}

use Texture::{Coarse, Fine, Range, Repeating, Sparse};

/// The measured textures: at least two for every kind and level, as the test checks.
pub(super) const TEXTURES: [Texture; 27] = [
    Coarse(0.0),
    Coarse(0.2),
    Coarse(0.35),
    Coarse(0.5),
    Coarse(0.6),
    Coarse(0.7),
    Coarse(0.78),
    Coarse(0.87),
    Coarse(0.95),
    Coarse(1.0),
    Fine(0.0),
    Fine(0.3),
    Fine(0.5),
    Fine(0.75),
    Fine(0.87),
    Range(0.15),
    Range(0.5),
    Range(0.7),
    Range(0.87),
    Range(1.0),
    Sparse(0.03),
    Sparse(0.3),
    Sparse(0.45),
    Sparse(0.55),
    Sparse(0.7),
    Repeating(0.1),
    Repeating(0.5),
];

/// The size of an element in bytes.
pub(super) fn width(kind: Kind) -> usize {
    match kind {
        Kind::Int8 => 1,
        Kind::Int16 => 2,
        Kind::Int32 | Kind::F32 => 4,
        Kind::Int64 | Kind::F64 | Kind::Other => 8,
    }
}

/// A message of this number of bytes, a multiple of 8; always the same for a kind and texture.
pub(super) fn message(kind: Kind, texture: Texture, len: usize) -> Vec<u8> {
    const RECORD: usize = 24;
    let mut random = SmallRng::seed_from_u64(7);
    let width = width(kind);
    let mut bytes = Vec::with_capacity(len);
    let (mut run, mut zero) = (0_u32, false);
    for at in 0..len / width {
        let word = match texture {
            Coarse(part) if kind == Kind::Other => text(part, &mut random),
            Coarse(part) => smooth(kind, at as f64, part, &mut random),
            Fine(part) if kind == Kind::Other => pair(Kind::F32, at, part, &mut random),
            Fine(part) => smooth(kind, at as f64 * 0.01, part, &mut random),
            Range(part) => ranged(kind, part, &mut random),
            Sparse(part) => {
                if run == 0 {
                    run = random.random_range(1..40);
                    zero = random.random::<f64>() >= part;
                }
                run -= 1;
                if zero { 0 } else { rough(kind, at, &mut random) }
            }
            Repeating(part) => {
                let before =
                    bytes.len().checked_sub(RECORD * width).and_then(|start| bytes.get(start..start + width));
                match before.filter(|_| random.random::<f64>() >= part) {
                    Some(word) => little_endian(word),
                    None => rough(kind, at, &mut random),
                }
            }
        };
        bytes.extend_from_slice(&word.to_le_bytes()[..width]);
    }
    bytes
}

fn little_endian(word: &[u8]) -> u64 {
    word.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// A mask of the lowest `part` of `bits`.
fn low_bits(bits: u32, part: f64) -> u64 {
    let count = (f64::from(bits) * part).round() as u32;
    u64::MAX.checked_shr(u64::BITS - count.min(u64::BITS)).unwrap_or(0)
}

/// An element of a smooth field whose low bits are noise.
fn smooth(kind: Kind, at: f64, part: f64, random: &mut SmallRng) -> u64 {
    let field = 1.7 + (at * 0.0021).sin() + 0.3 * (at * 0.0173).cos();
    // The field is below 3 everywhere: three eighths of an integer's range.
    let integer = |bits: u32| ((field * f64::from(bits - 3).exp2()) as u64, bits);
    let (value, bits) = match kind {
        Kind::F64 | Kind::Other => (field.to_bits(), 64),
        Kind::F32 => (u64::from((field as f32).to_bits()), 32),
        Kind::Int64 => integer(64),
        Kind::Int32 => integer(32),
        Kind::Int16 => integer(16),
        Kind::Int8 => integer(8),
    };
    let mask = low_bits(bits, part);
    value & !mask | random.random::<u64>() & mask
}

/// An element of a field that is mostly noise.
fn rough(kind: Kind, at: usize, random: &mut SmallRng) -> u64 {
    smooth(kind, at as f64, 0.8, random)
}

/// Two elements of 4 bytes, of a field on the fine grid.
fn pair(kind: Kind, at: usize, part: f64, random: &mut SmallRng) -> u64 {
    let at = at as f64 * 0.02;
    smooth(kind, at, part, random) | smooth(kind, at + 0.01, part, random) << 32
}

/// An unordered element.
fn ranged(kind: Kind, part: f64, random: &mut SmallRng) -> u64 {
    let noise = random.random::<u64>();
    match kind {
        // From 0 to 1, with the digits that this part of the bits allows.
        Kind::F64 => random.random::<f64>().to_bits() & !low_bits(64, 1.0 - part),
        Kind::F32 => u64::from(random.random::<f32>().to_bits()) & !low_bits(32, 1.0 - part),
        Kind::Int64 => noise & low_bits(64, part),
        Kind::Int32 => noise & low_bits(32, part),
        Kind::Int16 => noise & low_bits(16, part),
        Kind::Int8 => noise & low_bits(8, part),
        Kind::Other => noise & (low_bits(32, part) << 32 | low_bits(32, part)),
    }
}

/// Eight bytes similar to text; this fraction of the words is noise.
fn text(part: f64, random: &mut SmallRng) -> u64 {
    const WORDS: [&[u8; 8]; 8] = [
        b"pressure",
        b"velocity",
        b" energy ",
        b"\0\0\0\0\0\0\0\x01",
        b"particle",
        b" = 0.0, ",
        b"density ",
        b"boundary",
    ];
    let noise = random.random::<u64>();
    if random.random::<f64>() < part { noise } else { u64::from_le_bytes(*WORDS[(noise % 8) as usize]) }
}
