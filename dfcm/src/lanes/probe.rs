//! The choice of lanes: the encoder's look at a few places of a message (format, section 10.7).
#![forbid(unsafe_code)]

use super::block::Group;
use super::format::{GROUP, MORE_LANES};
use super::kernel::Kernel;
use crate::word::Word;

/// The most places of a message that are looked at, a group each.
const PLACES: usize = 8;
/// Bytes of message for each place.
const EACH: usize = 1024;

/// Bytes of words before a place that are looked at there: two steps in the most lanes, of words of either width.
const REACH: usize = 2 * (GROUP + MORE_LANES * 8);

/// A group of a message, and the words before it.
pub(super) type Sample = [u8; REACH + GROUP];

/// The group of a sample, as it was `steps` elements of each lane before.
#[inline(always)]
pub(super) fn back<W: Word>(sample: &Sample, steps: usize, lanes: usize) -> &Group {
    sample[REACH.saturating_sub(steps * lanes * W::WIDTH)..].first_chunk().unwrap_or(&[0; GROUP])
}

/// The number of lanes that makes the second differences at some places of a message narrowest; the fewest, where that
/// leaves several or the message is too short. `words` are its whole words.
#[inline(always)]
pub(super) fn lanes<W: Word, K: Kernel<W>>(kernel: K, words: &[u8]) -> usize {
    let fewest = W::PER_GROUP;
    let Some(first) = words.first_chunk::<{ size_of::<Sample>() }>() else { return fewest };
    let count = (words.len() / EACH).clamp(1, PLACES);
    let spacing = (words.len() - first.len()) / W::WIDTH / (2 * count) * W::WIDTH;
    let mut samples = [first; PLACES];
    for (i, sample) in samples[..count].iter_mut().enumerate() {
        *sample = words[spacing * (2 * i + 1)..].first_chunk().unwrap_or(first);
    }
    let (mut best, mut least) = (fewest, u32::MAX);
    for lanes in fewest..=fewest + MORE_LANES {
        let bits = kernel.bits(&samples[..count], lanes);
        if bits < least {
            (best, least) = (lanes, bits);
        }
    }
    best
}
