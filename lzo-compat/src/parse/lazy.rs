//! Searches every place for the longest of several copies, and takes it only if the next place has no longer one.

use super::{Match, Sequences};
use crate::bytes::{common, word};
use crate::format::Format;
use crate::positions::Positions;
use mpress_codec::Full;

/// A copy of this length is taken without a further search.
const GOOD: usize = 48;
/// The step grows by one for every 2^8 bytes without a copy.
const PATIENCE: u32 = 8;
/// About this number of places in a long copy are entered in the table.
const PLACES: usize = 64;

#[inline(always)]
pub(super) fn parse<F: Format>(
    sequences: &mut Sequences<'_, '_, F>,
    positions: &mut Positions,
) -> Result<(), Full> {
    let raw = sequences.raw;
    let mut at = 0;
    while let Some(here) = word(raw, at) {
        let Some(mut best) = longest::<F>(raw, here, at, positions) else {
            at += 1 + ((at - sequences.done) >> PATIENCE);
            continue;
        };
        while best.len < GOOD
            && let Some(here) = word(raw, best.at + 1)
            && let Some(next) = longest::<F>(raw, here, best.at + 1, positions)
            && next.len > best.len
        {
            best = next;
        }
        if !sequences.offer(best)? {
            at = best.at + 1;
            continue;
        }
        for place in (best.at + 2..sequences.done).step_by(1 + best.len / PLACES) {
            if let Some(here) = word(raw, place) {
                positions.bucket(here, place);
            }
        }
        at = sequences.done;
    }
    Ok(())
}

/// The longest copy at `at`, the nearest if there are several; or the nearest of at least [`GOOD`] bytes.
#[inline(always)]
fn longest<F: Format>(raw: &[u8], here: u64, at: usize, positions: &mut Positions) -> Option<Match> {
    let mut best: Option<Match> = None;
    for distance in positions.bucket(here, at) {
        let from = at.wrapping_sub(distance);
        let near = distance.wrapping_sub(1) < F::WINDOW;
        if !near || word(raw, from).is_none_or(|there| there as u32 != here as u32) {
            continue;
        }
        // A longer copy also matches at the end of the best one.
        if let Some(best) = best
            && raw.get(from + best.len) != raw.get(at + best.len)
        {
            continue;
        }
        let len = common(raw, from, at);
        if best.is_none_or(|best| len > best.len) {
            best = Some(Match { at, distance, len });
        }
        if len >= GOOD {
            break;
        }
    }
    best
}
