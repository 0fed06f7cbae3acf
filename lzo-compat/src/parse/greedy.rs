//! Takes the first copy there is, and moves on the faster the longer there was none.

use super::{Match, Sequences};
use crate::bytes::{common, word};
use crate::format::Format;
use crate::positions::Positions;
use mpress_codec::Full;

/// The step grows by one for each 2^5 bytes without a copy.
const PATIENCE: u32 = 5;

#[inline(always)]
pub(super) fn parse<F: Format>(
    sequences: &mut Sequences<'_, '_, F>,
    positions: &mut Positions,
) -> Result<(), Full> {
    let mut at = 0;
    while let Some(found) = search::<F>(sequences.raw, at, sequences.done, positions) {
        at = found.at + found.len;
        sequences.offer(found)?;
    }
    Ok(())
}

/// The first copy from `at` on; the step depends on how far that is from `done`.
#[inline(always)]
fn search<F: Format>(raw: &[u8], mut at: usize, done: usize, positions: &mut Positions) -> Option<Match> {
    loop {
        let here = word(raw, at)?;
        let distance = positions.last(here, at);
        // Neither near nor equal is foreseeable: one branch for both.
        let near = distance.wrapping_sub(1) < F::WINDOW;
        let from = at.saturating_sub(distance);
        if let Some(there) = word(raw, from)
            && (there ^ here) as u32 | u32::from(!near) == 0
        {
            return Some(Match { at, distance, len: common(raw, from, at) });
        }
        at += 1 + ((at - done) >> PATIENCE);
    }
}
