//! Handwritten wires of blocks in all domains with differences, one after the other. They are compared with a decoder written from the
//! format's page, which works word by word and keeps nothing from block to block. A used decoder gives the same as a new one.

use crate::header;
use mpress_codec::conformance::{random_bytes, tiers};
use mpress_diffpack::{Decode, Decoder64, Out};

/// Words of a block.
const BLOCK: usize = 256;

/// Random numbers.
struct Numbers(Vec<u8>, usize);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.1 += 2;
        usize::from(u16::from_le_bytes([self.0[self.1 - 2], self.0[self.1 - 1]])) % end
    }
}

#[derive(Clone, Copy)]
enum Domain {
    Integer,
    /// With its unit.
    Fixed(u16),
    Reference,
}

#[derive(Clone)]
struct Predictor {
    domain: Domain,
    lags: Vec<usize>,
}

impl Predictor {
    fn any(numbers: &mut Numbers) -> Self {
        let domain = match numbers.below(3) {
            0 => Domain::Integer,
            // Of numbers around 1.
            1 => Domain::Fixed(990 + numbers.below(40) as u16),
            _ => Domain::Reference,
        };
        let most = [5, 682][numbers.below(2)];
        Self { domain, lags: (0..numbers.below(4)).map(|_| 1 + numbers.below(most)).collect() }
    }

    fn definition(&self) -> Vec<u8> {
        let (code, unit) = match self.domain {
            Domain::Integer => (0, None),
            Domain::Fixed(unit) => (3, Some(unit)),
            Domain::Reference => (5, None),
        };
        let mut wire = vec![code | (self.lags.len() as u8) << 3 | 1 << 5];
        wire.extend(unit.into_iter().flat_map(u16::to_le_bytes));
        wire.extend(self.lags.iter().flat_map(|lag| (*lag as u16).to_le_bytes()));
        wire
    }

    /// Appends the words of a block with these residuals.
    fn append(&self, residuals: &[u64], reference: &[u64], words: &mut Vec<u64>) {
        // In fixed point, the words of the block are the numbers before they become floats.
        let mut values: Vec<u64> = match self.domain {
            Domain::Integer => words.clone(),
            Domain::Fixed(unit) => words.iter().map(|word| fixed(*word, unit)).collect(),
            Domain::Reference => words.iter().zip(reference).map(|(x, y)| x.wrapping_sub(*y)).collect(),
        };
        for residual in residuals {
            let mut value = residual >> 1 ^ (residual & 1).wrapping_neg();
            for subset in 1..1_u32 << self.lags.len() {
                let lags = (0..).zip(&self.lags).filter(|(bit, _)| subset >> bit & 1 == 1);
                let shift: usize = lags.map(|(_, lag)| *lag).sum();
                let earlier = values.len().checked_sub(shift).map_or(0, |at| values[at]);
                let is_odd = subset.count_ones() % 2 == 1;
                value = if is_odd { value.wrapping_add(earlier) } else { value.wrapping_sub(earlier) };
            }
            values.push(value);
            words.push(match self.domain {
                Domain::Integer => value,
                Domain::Fixed(unit) => float(value, unit),
                Domain::Reference => value.wrapping_add(reference[words.len()]),
            });
        }
    }
}

fn fixed(word: u64, unit: u16) -> u64 {
    let exponent = (word >> 52) % (1 << 11);
    let fraction = word % (1 << 52) + (1 << 52);
    let shift = exponent as i64 - i64::from(unit);
    let size = match shift {
        _ if exponent == 0 => 0,
        0..64 => fraction << shift,
        -63..0 => fraction >> -shift,
        _ => 0,
    };
    if word >> 63 == 1 { size.wrapping_neg() } else { size }
}

fn float(value: u64, unit: u16) -> u64 {
    let sign = value >> 63;
    let size = if sign == 1 { value.wrapping_neg() } else { value };
    if size == 0 {
        return 0;
    }
    let zeros = size.leading_zeros();
    let fraction = ((size << zeros) >> 11) % (1 << 52);
    let exponent = (i64::from(unit) + 11 - i64::from(zeros)).rem_euclid(1 << 11) as u64;
    sign << 63 | exponent << 52 | fraction
}

/// A wire with a reference, and the message.
fn any(seed: u64) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    let mut numbers = Numbers(random_bytes(seed, 1 << 16), 0);
    let count = 1 + numbers.below(8 * BLOCK);
    let around_one = |word: &[u8; 8]| u64::from_le_bytes(*word) >> 12 | 0x3ff << 52;
    let reference: Vec<u64> =
        random_bytes(seed + 1, 8 * count).as_chunks().0.iter().map(around_one).collect();
    let mut wire = header(2, 8 * count);
    let (mut defined, mut words): (Vec<Predictor>, _) = (Vec::new(), Vec::new());
    while words.len() < count {
        let block = (count - words.len()).min(BLOCK);
        let code = match numbers.below(8) {
            0 => 14,
            _ if defined.len() < 3 => 15,
            some => some % 3,
        };
        if code == 14 {
            wire.extend([0, 14 << 4]);
            for word in &reference[words.len()..][..block] {
                wire.extend(word.to_le_bytes());
                words.push(*word);
            }
            continue;
        }
        let width = [0, 1, 7, 30, 64][numbers.below(5)];
        wire.extend((width as u16 | (code as u16) << 12).to_le_bytes());
        if code == 15 {
            defined.push(Predictor::any(&mut numbers));
            wire.extend(defined[defined.len() - 1].definition());
        }
        let predictor = if code == 15 { defined[defined.len() - 1].clone() } else { defined[code].clone() };
        // A bit string of numbers of this width.
        let mut bits = random_bytes(numbers.below(1000) as u64, block * width / 8 + 1);
        bits.truncate((block * width).div_ceil(8));
        wire.extend(&bits);
        bits.extend([0; 16]);
        let residual = |i: usize| {
            let from = u128::from_le_bytes(*bits[i * width / 8..].first_chunk().unwrap());
            (from >> (i * width % 8)) as u64 & u64::MAX.checked_shr(64 - width as u32).unwrap_or(0)
        };
        let residuals: Vec<u64> = (0..block).map(residual).collect();
        predictor.append(&residuals, &reference, &mut words);
    }
    let bytes = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
    (wire, bytes(&reference), bytes(&words))
}

#[test]
fn blocks_of_any_domains_follow_each_other() {
    let mut used: Vec<_> = tiers().into_iter().map(|simd| Decoder64::new().with_simd(simd)).collect();
    for seed in 0..400 {
        let (wire, reference, raw) = any(seed);
        for (decoder, simd) in used.iter_mut().zip(tiers()) {
            for decoder in [&mut Decoder64::new().with_simd(simd), decoder] {
                let mut back = vec![0; raw.len()];
                let result = decoder.decode_with(&reference, &wire, &mut Out::from_slice(&mut back));
                assert!(result == Ok(()) && back == raw, "{seed}, {simd:?}: {result:?}");
            }
        }
    }
}
