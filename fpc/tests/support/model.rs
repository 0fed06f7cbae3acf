//! A second implementation of the message wire, from the text of `docs/format/fpc.md`, value by value and bit by bit and not optimised. It shares no
//! code with the crate.

use crate::header;
use std::collections::HashMap;

/// A pair of predictors (section 3).
#[derive(Default)]
struct Pair {
    last: u128,
    f: u128,
    d: u128,
    fcm: HashMap<u128, u128>,
    dfcm: HashMap<u128, u128>,
}

/// An encoder for values of `width` bits; hashes use the `top` most significant bits.
pub(crate) struct Model {
    pub(crate) width: usize,
    pub(crate) top: usize,
}

impl Model {
    /// The residual of a value, and whether it is dfcm's.
    fn residual(&self, pair: &mut Pair, x: u128) -> (u128, bool) {
        let modulus = 1 << self.width;
        let by_fcm = x ^ pair.fcm.get(&pair.f).unwrap_or(&0);
        let by_dfcm = x ^ ((pair.last + pair.dfcm.get(&pair.d).unwrap_or(&0)) % modulus);
        let s = (modulus + x - pair.last) % modulus;
        pair.fcm.insert(pair.f, x);
        pair.dfcm.insert(pair.d, s);
        let first_bits = |number: u128| number >> (self.width - self.top);
        pair.f = ((pair.f << 4) ^ first_bits(x)) % 256;
        pair.d = ((pair.d << 4) ^ first_bits(s)) % 256;
        pair.last = x;
        (by_fcm.min(by_dfcm), by_dfcm < by_fcm)
    }

    /// The wire of a message.
    pub(crate) fn message(&self, raw: &[u8]) -> Vec<u8> {
        let bytes = self.width / 8;
        let (whole, tail) = raw.split_at(raw.len() - raw.len() % (4 * bytes));
        let values: Vec<u128> = whole.chunks_exact(bytes).map(number).collect();
        let mut wire = header(raw.len());
        let mut pairs: [Pair; 4] = Default::default();
        for (block, raw) in values.chunks(960).zip(whole.chunks(960 * bytes)) {
            let steps = block.len() / 4;
            let places = (0..steps).flat_map(|step| (0..4).map(move |lane| (step, lane)));
            let residuals =
                places.map(|(step, lane)| self.residual(&mut pairs[lane], block[lane * steps + step]));
            let coded = coded(&residuals.collect::<Vec<_>>());
            if coded.len() < raw.len() + 2 {
                wire.extend(coded);
            } else {
                wire.extend([0, 0]);
                wire.extend(raw);
                pairs = Default::default();
            }
        }
        wire.extend(tail);
        wire
    }
}

fn number(bytes: &[u8]) -> u128 {
    bytes.iter().rev().fold(0, |number, byte| number * 256 + u128::from(*byte))
}

/// The number of bytes that a residual needs.
fn length(residual: u128) -> usize {
    (0..).find(|length| residual >> (8 * length) == 0).unwrap()
}

/// A block that is not stored (section 5), with the classes that the encoder chooses (section 6).
fn coded(residuals: &[(u128, bool)]) -> Vec<u8> {
    let mut classes: Vec<usize> = residuals.iter().map(|(residual, _)| length(*residual)).collect();
    classes.sort_unstable();
    classes.dedup();
    let mut best: Option<Vec<u8>> = None;
    loop {
        if classes.len() <= 8 {
            let block = with_classes(residuals, &classes);
            if best.as_ref().is_none_or(|best| block.len() < best.len()) {
                best = Some(block);
            }
        }
        let body =
            |classes: &[usize]| -> usize { residuals.iter().map(|(r, _)| classes[class(*r, classes)]).sum() };
        let without = |at: usize| -> Vec<usize> {
            classes.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, c)| *c).collect()
        };
        // The last class stays, because it holds values that no other class can.
        match (0..classes.len() - 1).min_by_key(|at| body(&without(*at))) {
            Some(at) => classes = without(at),
            None => return best.unwrap(),
        }
    }
}

/// The first class into which a residual fits.
fn class(residual: u128, classes: &[usize]) -> usize {
    classes.iter().position(|class| length(residual) <= *class).unwrap()
}

fn with_classes(residuals: &[(u128, bool)], classes: &[usize]) -> Vec<u8> {
    let head: u16 = classes.iter().map(|class| 1 << class).sum();
    let mut block = head.to_le_bytes().to_vec();
    block.extend(plane(residuals.iter().map(|(_, dfcm)| *dfcm)));
    let planes = (0..).find(|planes| 1 << planes >= classes.len()).unwrap();
    for bit in 0..planes {
        block.extend(plane(residuals.iter().map(|(residual, _)| class(*residual, classes) >> bit & 1 == 1)));
    }
    for (residual, _) in residuals {
        block.extend(&residual.to_le_bytes()[..classes[class(*residual, classes)]]);
    }
    block
}

fn plane(bits: impl Iterator<Item = bool>) -> Vec<u8> {
    let bits: Vec<bool> = bits.collect();
    bits.chunks(8).map(|bits| bits.iter().rev().fold(0, |byte, bit| byte * 2 + u8::from(*bit))).collect()
}
