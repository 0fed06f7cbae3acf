//! Deals residuals to two streams and collects them again, without a branch per residual.

use crate::kernel::block::{Block, Groups, Mask};
use crate::word::Word;

pub(super) fn above<W: Word>(residuals: &Block, width: u32) -> Mask {
    let mut mask = [0; _];
    let limit = W::mask(width);
    for (eight, bits) in W::split(&residuals.0).0.chunks_exact(8).zip(&mut mask) {
        for residual in eight.iter().rev() {
            *bits = *bits << 1 | u8::from(W::from_bytes(*residual) > limit);
        }
    }
    mask
}

pub(super) fn deal<W: Word>(
    residuals: &Block,
    mask: &Mask,
    words: usize,
    wide: &mut Block,
    narrow: &mut Block,
) {
    let (wide, narrow) = (W::split_mut(&mut wide.0).0, W::split_mut(&mut narrow.0).0);
    let (mut wides, mut narrows) = (0, 0);
    for (eight, bits) in W::split(&residuals.0).0[..words.min(W::BLOCK)].chunks(8).zip(mask) {
        for (residual, i) in eight.iter().zip(0..) {
            // Written to both: the wrong one is overwritten.
            wide[wides] = *residual;
            narrow[narrows] = *residual;
            let is_wide = usize::from(bits >> i & 1);
            wides += is_wide;
            narrows += 1 - is_wide;
        }
    }
    for (words, used) in [(wide, wides), (narrow, narrows)] {
        words[used..used.next_multiple_of(W::LANES)].fill(W::ZERO.to_bytes());
    }
}

pub(super) fn collect<W: Word>(wide: &Block, narrow: &Block, mask: &Mask, residuals: &mut Groups) {
    let (wide, narrow) = (W::split(&wide.0).0, W::split(&narrow.0).0);
    let (mut wides, mut narrows) = (0, 0);
    for (eight, bits) in W::split_mut(residuals.as_flattened_mut()).0.chunks_exact_mut(8).zip(mask) {
        for (residual, i) in eight.iter_mut().zip(0..) {
            let is_wide = bits >> i & 1;
            let both = [narrow[narrows], wide[wides]];
            *residual = both[usize::from(is_wide)];
            wides += usize::from(is_wide);
            narrows += usize::from(1 - is_wide);
        }
    }
}
