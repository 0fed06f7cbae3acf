//! A second implementation of interleaved lanes, from `docs/format/dfcm.md`, section 10, bit by bit and not optimised. It shares no code with the
//! crate.

use crate::lanes_header;

/// Words of `width` bits.
#[derive(Clone, Copy)]
pub(crate) struct Model {
    pub(crate) width: usize,
}

/// The bits of a number, least significant first.
fn bits_of(value: u128, width: usize) -> impl Iterator<Item = bool> {
    (0..width).map(move |i| value >> i & 1 == 1)
}

fn number(bits: &[bool]) -> u128 {
    bits.iter().rev().fold(0, |number, bit| number * 2 + u128::from(*bit))
}

fn bytes_of(bits: &[bool]) -> Vec<u8> {
    bits.chunks(8).map(|byte| number(byte) as u8).collect()
}

impl Model {
    fn modulus(self) -> u128 {
        1 << self.width
    }

    /// Elements of a group.
    pub(crate) fn group(self) -> usize {
        512 / self.width
    }

    fn elements(self, raw: &[u8]) -> Vec<u128> {
        raw.chunks_exact(self.width / 8)
            .map(|bytes| bytes.iter().rev().fold(0, |value, byte| value * 256 + u128::from(*byte)))
            .collect()
    }

    /// The prediction for element `i` from the elements before it.
    pub(crate) fn predict(self, elements: &[u128], i: usize, lanes: usize) -> u128 {
        let back = |steps: usize| i.checked_sub(steps * lanes).map_or(0, |at| elements[at]);
        let difference = |a: u128, b: u128| (a + self.modulus() - b) % self.modulus();
        let (newer, older) = (difference(back(1), back(2)), difference(back(2), back(3)));
        let agree = newer >> (self.width - 14) == older >> (self.width - 14);
        (back(1) + if agree { newer + difference(newer, older) } else { 0 }) % self.modulus()
    }

    fn residual(self, elements: &[u128], i: usize, lanes: usize) -> u128 {
        let e = (elements[i] + self.modulus() - self.predict(elements, i, lanes)) % self.modulus();
        if e < self.modulus() / 2 { 2 * e } else { 2 * (self.modulus() - e) - 1 }
    }

    /// The wire of a message with this number of lanes.
    pub(crate) fn message(self, raw: &[u8], lanes: usize) -> Vec<u8> {
        let elements = self.elements(raw);
        let residuals: Vec<_> = (0..elements.len()).map(|i| self.residual(&elements, i, lanes)).collect();
        let mut wire = lanes_header(lanes - self.group(), raw.len());
        for block in residuals.chunks(8 * self.group()) {
            let (mut codes, mut body) = (Vec::new(), Vec::new());
            for group in block.chunks(self.group()) {
                let exact =
                    group.iter().map(|residual| 128 - residual.leading_zeros() as usize).max().unwrap();
                let least = self.width / 8;
                let width = if exact == 0 { 0 } else { exact.max(least) };
                codes.extend(bits_of(if width == 0 { 0 } else { width + 1 - least } as u128, 6));
                let packed: Vec<_> = group.iter().flat_map(|residual| bits_of(*residual, width)).collect();
                body.extend(bytes_of(&packed));
            }
            wire.extend(bytes_of(&codes));
            wire.extend(body);
        }
        wire.extend(&raw[elements.len() * self.width / 8..]);
        wire
    }

    /// The number of lanes that an encoder chooses (section 10.7).
    pub(crate) fn choice(self, raw: &[u8]) -> usize {
        let elements = self.elements(raw);
        let (fewest, bytes) = (self.group(), elements.len() * self.width / 8);
        // Two steps with the maximum number of lanes, for either word width, and the group.
        let Some(room) = bytes.checked_sub(512 + 64) else { return fewest };
        let places = (bytes / 1024).clamp(1, 8);
        let spacing = room / (self.width / 8) / (2 * places);
        let cost = |lanes: usize| -> u32 {
            let groups = (0..places).map(|i| 512 * 8 / self.width + spacing * (2 * i + 1));
            let second = |i: usize| {
                let value =
                    elements[i] + elements[i - 2 * lanes] + 2 * (self.modulus() - elements[i - lanes]);
                value % self.modulus()
            };
            let bits =
                |i: usize| 128 - second(i).min((self.modulus() - second(i)) % self.modulus()).leading_zeros();
            groups.flat_map(|at| at..at + self.group()).map(bits).sum()
        };
        (fewest..=fewest + 24).min_by_key(|lanes| cost(*lanes)).unwrap()
    }
}
