//! Takes the first copy found, and advances faster the longer it finds none.

use super::{Match, Sequences};
use crate::bytes::{common, word};
use crate::format::Format;
use crate::positions::Positions;
use mpress_codec::Full;

/// The step grows by one for every 2^5 bytes without a copy.
const PATIENCE: u32 = 5;

#[inline(always)]
pub(super) fn parse<F: Format>(
    sequences: &mut Sequences<'_, '_, F>,
    positions: &mut Positions,
) -> Result<(), Full> {
    let raw = sequences.raw;
    let mut at = 0;
    while let Some(found) = search::<F>(raw, at, sequences.done, positions) {
        at = found.at + found.len;
        if !sequences.offer(found)? {
            continue;
        }
        // Another copy often begins where one ends. Then there are no literals, and the copy cannot be extended to the front.
        while let Some(here) = word(raw, at)
            && let Some(found) = copy_at::<F>(raw, here, at, positions)
        {
            sequences.append(found)?;
            at += found.len;
        }
        at += 1;
    }
    Ok(())
}

/// The first copy from `at` on; the step depends on the distance from `done`.
#[inline(always)]
fn search<F: Format>(raw: &[u8], mut at: usize, done: usize, positions: &mut Positions) -> Option<Match> {
    while let Some(here) = word(raw, at) {
        if let Some(found) = copy_at::<F>(raw, here, at, positions) {
            return Some(found);
        }
        at += 1 + ((at - done) >> PATIENCE);
    }
    None
}

/// The copy at `at`, where the bytes are `here`, if there is one.
#[inline(always)]
fn copy_at<F: Format>(raw: &[u8], here: u64, at: usize, positions: &mut Positions) -> Option<Match> {
    let distance = positions.last(here, at);
    // Neither condition is predictable: one branch for both.
    let near = distance.wrapping_sub(1) < F::WINDOW;
    let from = at.saturating_sub(distance);
    let there = word(raw, from)?;
    ((there ^ here) as u32 | u32::from(!near) == 0).then(|| Match {
        at,
        distance,
        len: common(raw, from, at),
    })
}
