//! Residuals dealt to two streams and collected again, without a branch for each.

use crate::block::{Block, Mask};
use crate::word::Word;

pub(super) fn above<W: Word>(residuals: &Block, width: u32) -> Mask {
    let mut mask = [0; _];
    let limit = W::mask(width);
    for (eight, bits) in W::words(&residuals.0).chunks_exact(8).zip(&mut mask) {
        for (residual, i) in eight.iter().zip(0..) {
            *bits |= u8::from(W::from_bytes(*residual) > limit) << i;
        }
    }
    mask
}

#[inline(always)]
fn is_wide(mask: &Mask, i: usize) -> usize {
    usize::from(mask[i / 8] >> (i % 8) & 1)
}

pub(super) fn deal<W: Word>(
    residuals: &Block,
    mask: &Mask,
    words: usize,
    wide: &mut Block,
    narrow: &mut Block,
) {
    let (wide, narrow) = (W::words_mut(&mut wide.0), W::words_mut(&mut narrow.0));
    let (mut wides, mut narrows) = (0, 0);
    for (i, residual) in W::words(&residuals.0).iter().enumerate().take(words) {
        // To both; what does not belong there is overwritten.
        wide[wides] = *residual;
        narrow[narrows] = *residual;
        wides += is_wide(mask, i);
        narrows = i + 1 - wides;
    }
    for (words, used) in [(wide, wides), (narrow, narrows)] {
        words[used..used.next_multiple_of(W::LANES)].fill(W::ZERO.to_bytes());
    }
}

pub(super) fn collect<W: Word>(wide: &Block, narrow: &Block, mask: &Mask, residuals: &mut Block) {
    let from = [W::words(&narrow.0), W::words(&wide.0)];
    let mut next = [0; 2];
    for (i, residual) in W::words_mut(&mut residuals.0).iter_mut().enumerate() {
        let which = is_wide(mask, i);
        *residual = from[which][next[which]];
        next[which] += 1;
    }
}
