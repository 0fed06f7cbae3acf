//! A wire decodes only to the length of its message; every other length is refused.

use super::{Family, decode, encode, families};
use crate::{Codec, Decode, Encode};
use std::vec::Vec;

/// The families to try: bytes that take no room on a wire, smooth doubles, noise, repeats, and mixtures.
const TRIED: [&str; 6] = ["zeros", "constant", "smooth f64", "random", "text", "zeros and noise"];

/// In a message of zeros this long, all but a few bytes take no room on the wires of some codecs.
const LONGEST: usize = 1 << 20;

/// Decodes wires into all wrong lengths near the right one. For long messages, also tries lengths that differ by words, groups and
/// blocks.
pub(super) fn wrong_lengths<C: Codec, E: Encode, D: Decode>(make: &impl Fn() -> (E, D)) {
    let all = families();
    let tried = || all.iter().filter(|(name, _)| TRIED.contains(name));
    assert_eq!(tried().count(), TRIED.len(), "a family in TRIED does not exist");
    for family in tried() {
        for len in [0, 1, 3 * C::WIDTH, 64, 41 * C::WIDTH + C::WIDTH / 2, 600] {
            refused::<C, E, D>(make, family, len, 0..=len + 64);
        }
        for len in [3 * 2048, 20 * 2048 + 64, 30_001] {
            refused::<C, E, D>(make, family, len, far_from(len, C::WIDTH));
        }
    }
    let zeros = ("zeros", (|len| std::vec![0; len]) as fn(usize) -> Vec<u8>);
    refused::<C, E, D>(make, &zeros, LONGEST, far_from(LONGEST, C::WIDTH));
}

/// Wrong lengths for a long message.
fn far_from(len: usize, width: usize) -> Vec<usize> {
    // The lengths of a word, a group, a block, and a block of the plane codecs.
    let by = [width, 8, 64, 2048, 65_536].into_iter().flat_map(|step| [step, 3 * step]);
    let near = by.flat_map(|by| [len.saturating_sub(by), len + by]);
    near.chain([0, len / 2, len / 2 / 2048 * 2048, 2 * len]).collect()
}

fn refused<C: Codec, E: Encode, D: Decode>(
    make: &impl Fn() -> (E, D),
    (name, generate): &Family,
    len: usize,
    others: impl IntoIterator<Item = usize>,
) {
    let (mut encoder, mut decoder) = make();
    let wire = encode(&mut encoder, &generate(len));
    for other in others {
        let result = decode(&mut decoder, &wire, other);
        decoder.reset();
        assert!(
            result.is_err() || other == len,
            "{}, {name}: a wire of {len} bytes was decoded into {other}",
            C::NAME
        );
    }
}
