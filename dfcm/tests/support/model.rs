//! A second implementation of the wire format, from the text of the paper (sections 2.2, 2.3 and 3.3) and `docs/format/dfcm.md`, bit by bit and not
//! optimised. It shares no code with the crate.

use std::collections::HashMap;

/// Bits, the most significant first.
type Bits = Vec<bool>;

fn bits_of(value: u128, width: usize) -> Bits {
    (0..width).rev().map(|i| value >> i & 1 == 1).collect()
}

fn number(bits: &[bool]) -> usize {
    bits.iter().fold(0, |number, bit| number * 2 + usize::from(*bit))
}

/// Collects bits into bytes, each filled from its least significant bit.
#[derive(Default)]
struct Bytes(Vec<u8>, usize);

impl Bytes {
    /// Adds a number given by its bits, least significant first.
    fn add(&mut self, bits: &[bool]) {
        for bit in bits.iter().rev() {
            if self.1.is_multiple_of(8) {
                self.0.push(0);
            }
            *self.0.last_mut().unwrap() |= u8::from(*bit) << (self.1 % 8);
            self.1 += 1;
        }
    }
}

/// An encoder for words of `width` bits and tables of `2^log2` lines.
pub(crate) struct Model {
    width: usize,
    log2: usize,
    values: Vec<u128>,
    deltas: Vec<u128>,
    /// The deltas that followed each hash.
    followed: HashMap<usize, Vec<u128>>,
    messages: u8,
    digest: u64,
}

impl Model {
    pub(crate) fn new(width: usize, log2: usize) -> Self {
        let (values, deltas, followed) = Default::default();
        Self { width, log2, values, deltas, followed, messages: 0, digest: 0 }
    }

    fn difference(&self, a: u128, b: u128) -> u128 {
        (a + (1 << self.width) - b) % (1 << self.width)
    }

    /// "The most significant fourteen bits of the difference".
    fn first_fourteen(&self, delta: u128) -> Bits {
        bits_of(delta, self.width)[..14].to_vec()
    }

    /// "hash(d0, d1, d2) = lsb0..14 (d2 xor (d1 << 5) xor (d0 << 10))"; of this the `log2` lowest bits.
    fn hash(&self) -> usize {
        let delta = |back: usize| {
            let delta = self.deltas.len().checked_sub(back).map_or(0, |i| self.deltas[i]);
            number(&self.first_fourteen(delta))
        };
        let (d2, d1, d0) = (delta(1), delta(2), delta(3));
        (d2 ^ (d1 << 5) ^ (d0 << 10)) % (1 << 15) % (1 << self.log2)
    }

    pub(crate) fn predict(&self) -> u128 {
        let followed = self.followed.get(&self.hash()).cloned().unwrap_or_default();
        let most_recent = followed.len().checked_sub(1).map_or(0, |i| followed[i]);
        let second_most_recent = followed.len().checked_sub(2).map_or(0, |i| followed[i]);
        let predicted = if self.first_fourteen(most_recent) == self.first_fourteen(second_most_recent) {
            most_recent + self.difference(most_recent, second_most_recent)
        } else {
            most_recent
        };
        let before = self.values.last().copied().unwrap_or(0);
        (before + predicted) % (1 << self.width)
    }

    pub(crate) fn learn(&mut self, value: u128) {
        let delta = self.difference(value, self.values.last().copied().unwrap_or(0));
        self.followed.entry(self.hash()).or_default().push(delta);
        self.deltas.push(delta);
        self.values.push(value);
    }

    /// The wire of one message. If `continuing`, it follows the previous ones; otherwise this must be a new model.
    pub(crate) fn message(&mut self, raw: &[u8], continuing: bool) -> Vec<u8> {
        let mut wire =
            vec![1, self.log2 as u8 + if continuing { 16 } else { 0 } + 32 * (raw.len() % 8) as u8];
        if continuing {
            wire.push(self.messages);
            wire.extend((0..3).map(|i| (self.digest >> (8 * i)) as u8));
        }
        let width = self.width / 8;
        let whole = raw.len() / width * width;
        for block in raw[..whole].chunks(2048) {
            let (mut counts, mut residuals) = (Bytes::default(), Bytes::default());
            for element in block.chunks(width) {
                let value = element.iter().rev().fold(0, |value, byte| value * 256 + u128::from(*byte));
                let diff = bits_of(value ^ self.predict(), self.width);
                let zeros = diff.iter().take_while(|bit| !**bit).count();
                let lzc = (zeros / (self.width / 16)).min(15);
                counts.add(&bits_of(lzc as u128, 4));
                residuals.add(&diff[lzc * (self.width / 16)..]);
                self.learn(value);
            }
            wire.extend(counts.0);
            wire.extend(residuals.0);
        }
        wire.extend(&raw[whole..]);

        let sum = self.values.iter().fold(0_u64, |sum, x| sum.rotate_left(5).wrapping_add(*x as u64));
        for number in [sum, raw.len() as u64, wire.len() as u64] {
            self.digest = (self.digest ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            self.digest ^= self.digest >> 32;
        }
        self.digest >>= 40;
        self.messages = self.messages.wrapping_add(1);
        wire
    }
}
