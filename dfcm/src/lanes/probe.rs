//! The choice of the number of lanes by sampling a message (format, section 10.7).
#![forbid(unsafe_code)]

use super::block::Group;
use super::format::{GROUP, MORE_LANES};
use super::kernel::Kernel;
use crate::word::Word;

/// The maximum number of places in a message that are sampled, one group each.
const PLACES: usize = 8;
/// The number of bytes of a message for each place.
const EACH: usize = 1024;

/// The number of bytes before a place that are used: two steps with the maximum number of lanes, for either word width.
const REACH: usize = 2 * (GROUP + MORE_LANES * 8);

/// A group of a message, and the words before it.
pub(super) type Sample = [u8; REACH + GROUP];

/// The group `steps` elements back in each lane.
#[inline(always)]
pub(super) fn back<W: Word>(sample: &Sample, steps: usize, lanes: usize) -> &Group {
    sample[REACH.saturating_sub(steps * lanes * W::WIDTH)..].first_chunk().unwrap_or(&[0; GROUP])
}

/// The number of lanes that makes the second differences in some samples narrowest; the smallest if there are several; the minimum if the message is
/// too short. `words` are the message's whole words.
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
