//! A wire decodes to the length of its message only: every other one is refused.

use super::{Family, decode, encode, families};
use crate::{Codec, CodecId, Decode, Encode};
use std::vec::Vec;

/// The families that are tried: bytes that take nothing on a wire, smooth doubles, noise, repeats, and some of each.
const TRIED: [&str; 6] = ["zeros", "constant", "smooth f64", "random", "text", "zeros and noise"];

/// Of a message of zeros so long, all but a few bytes take nothing on the wires of some codecs.
const LONGEST: usize = 1 << 20;

/// The number of bytes modulo which a wire of this codec holds the length of its message, where it does not always show all of it. The formats are
/// those of others, or follow them closely; the layer around the wire, a frame or `compress`, holds the length. (Nor does a stream of FPC 1.1 where
/// the bytes after its last double look like one more block. No message here has such bytes.)
fn held_in_part(codec: CodecId) -> Option<usize> {
    match codec {
        CodecId::DFCM_LANES_F64 | CodecId::DFCM_LANES_F32 | CodecId::CCSDS_121 => Some(8),
        CodecId::FPC_F64 | CodecId::FPC_F32 => Some(32),
        _ => None,
    }
}

/// Decodes wires into all wrong lengths near the right one, and for long messages into such as differ by words, groups and blocks.
pub(super) fn wrong_lengths<C: Codec, E: Encode, D: Decode>(make: &impl Fn() -> (E, D)) {
    let all = families();
    let tried = || all.iter().filter(|(name, _)| TRIED.contains(name));
    assert_eq!(tried().count(), TRIED.len(), "families have other names");
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
    // A word, a group, a block, and a block of the codecs with planes.
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
        let may_be = held_in_part(C::ID).is_some_and(|held| other % held == len % held);
        assert!(
            result.is_err() || other == len || may_be,
            "{}, {name}: a wire of {len} bytes was decoded into {other}",
            C::NAME
        );
    }
}
