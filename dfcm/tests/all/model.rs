//! The kernels write exactly the bytes that the paper's text specifies: they are compared with a second implementation at every tier.

use crate::support_model as model;
use crate::support_real as real;

use model::Model;
use mpress_codec::conformance::{self, encode, families};
use mpress_dfcm::{Encoder, Lines, Word};

/// Lengths around groups of 16 elements and blocks of 2048 bytes, with and without a tail.
const LENGTHS: [usize; 13] = [0, 3, 8, 9, 63, 64, 127, 136, 2047, 2048, 2049, 2056, 5003];

fn memory() -> Vec<u64> {
    vec![7; Lines::MAX.words::<u64>()]
}

fn self_contained<W: Word>(raw: &[u8], what: &str) {
    for simd in conformance::tiers() {
        let log2 = Lines::for_elements(raw.len() / size_of::<W>()).log2();
        let mut encoder = Encoder::<W, _>::new(memory()).unwrap().with_simd(simd);
        let expected = Model::new(8 * size_of::<W>(), log2.into()).message(raw, false);
        assert!(encode(&mut encoder, raw) == expected, "{what}, {} bytes, {simd:?}", raw.len());

        for log2 in [0, 1, 9, 14, 15] {
            let lines = Lines::new(log2).unwrap();
            let mut encoder = Encoder::<W, _>::with_lines(memory(), lines).unwrap().with_simd(simd);
            let expected = Model::new(8 * size_of::<W>(), log2.into()).message(raw, false);
            assert!(encode(&mut encoder, raw) == expected, "{what}, {} bytes, {lines:?}", raw.len());
        }
    }
}

fn continuing<W: Word>(messages: impl Iterator<Item = Vec<u8>>, log2: u8) {
    let messages: Vec<_> = messages.collect();
    for simd in conformance::tiers() {
        let lines = Lines::new(log2).unwrap();
        let mut encoder = Encoder::<W, _>::continuing(memory(), lines).unwrap().with_simd(simd);
        let mut model = Model::new(8 * size_of::<W>(), log2.into());
        for (i, raw) in messages.iter().enumerate() {
            assert!(encode(&mut encoder, raw) == model.message(raw, true), "message {i}, {simd:?}");
        }
    }
}

#[test]
fn families_are_written_as_the_paper_says() {
    for (name, generate) in families() {
        for len in LENGTHS {
            self_contained::<u64>(&generate(len), name);
            self_contained::<u32>(&generate(len), name);
        }
    }
}

#[test]
fn real_messages_are_written_as_the_paper_says() {
    for (name, raw) in real::samples() {
        self_contained::<u64>(raw, name);
        self_contained::<u32>(raw, name);
    }
}

#[test]
fn sequences_are_written_as_the_paper_says() {
    let generated = || families().into_iter().flat_map(|(_, f)| LENGTHS.map(f));
    continuing::<u64>(generated(), 15);
    continuing::<u64>(generated(), 6);
    continuing::<u32>(generated(), 11);
    continuing::<u64>((0..300).map(|i| vec![i as u8; 24]), 10);
    continuing::<u64>(real::samples().iter().map(|(_, raw)| raw.to_vec()), 10);
}
