//! The head of a block: a six-bit code for the width of each group (format, section 10.5).
//!
//! Processes eight codes at a time, each in one byte of a `u64`.
#![forbid(unsafe_code)]

use super::block::Widths;
use super::format::{CODE_BITS, GROUPS};
use crate::word::Word;

/// A one in each byte.
const EACH: u64 = 0x0101_0101_0101_0101;

/// The minimum width of a group that is not all zero: as many bits as a word has bytes. Then only adjacent words share a byte of the wire.
pub(super) const fn least<W: Word>() -> u32 {
    W::WIDTH as u32
}

/// The length in bytes of the codes for this many groups.
pub(super) const fn bytes(groups: usize) -> usize {
    (groups * CODE_BITS).div_ceil(8)
}

/// The head of a block with these widths, each 0 or at least [`least`].
#[inline(always)]
pub(super) fn from_widths<W: Word>(widths: Widths) -> u64 {
    let widths = u64::from_le_bytes(widths);
    together(widths - nonzero(widths) * u64::from(least::<W>() - 1))
}

/// The widths in a head; `None` if it is invalid.
#[inline(always)]
pub(super) fn to_widths<W: Word>(head: u64) -> Option<Widths> {
    let codes = apart(head);
    let most = u64::from(W::BITS - least::<W>() + 1);
    let is_head = head >> (GROUPS * CODE_BITS) == 0 && (codes + EACH * (127 - most)) & (EACH << 7) == 0;
    is_head.then(|| (codes + nonzero(codes) * u64::from(least::<W>() - 1)).to_le_bytes())
}

/// A one in each byte that is neither zero nor above 128.
fn nonzero(bytes: u64) -> u64 {
    (bytes + EACH * 127) >> 7 & EACH
}

/// Compacts the low six bits of each byte.
fn together(bytes: u64) -> u64 {
    let twelves = bytes & 0x003f_003f_003f_003f | (bytes & 0x3f00_3f00_3f00_3f00) >> 2;
    let halves = twelves & 0xfff_0000_0fff | (twelves & 0x0fff_0000_0fff_0000) >> 4;
    halves & 0xff_ffff | halves >> 32 << 24
}

/// The inverse of [`together`].
fn apart(bits: u64) -> u64 {
    let halves = bits & 0xff_ffff | (bits & 0xffff_ff00_0000) << 8;
    let twelves = halves & 0xfff_0000_0fff | (halves & 0xff_f000_00ff_f000) << 4;
    twelves & 0x003f_003f_003f_003f | (twelves & 0x0fc0_0fc0_0fc0_0fc0) << 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_width_comes_back<W: Word>() {
        let widths: [u8; 64] =
            core::array::from_fn(|i| (least::<W>() as usize + i).min(W::BITS as usize) as u8);
        for group in 0..GROUPS {
            for width in widths.into_iter().chain([0]) {
                let mut all = [W::BITS as u8; GROUPS];
                all[group] = width;
                let head = from_widths::<W>(all);
                assert!(head < 1 << 48);
                assert_eq!(head >> (group * 6) & 63, u64::from(width.saturating_sub(W::WIDTH as u8 - 1)));
                assert_eq!(to_widths::<W>(head), Some(all));
            }
        }
    }

    #[test]
    fn widths_come_back() {
        every_width_comes_back::<u64>();
        every_width_comes_back::<u32>();
    }

    #[test]
    fn a_code_too_large_is_no_width() {
        for group in 0..GROUPS {
            assert!(
                to_widths::<u64>(57 << (6 * group)).is_some()
                    && to_widths::<u32>(29 << (6 * group)).is_some()
            );
            assert!((58..64).all(|code| to_widths::<u64>(code << (6 * group)).is_none()));
            assert!((30..64).all(|code| to_widths::<u32>(code << (6 * group)).is_none()));
        }
        assert_eq!(to_widths::<u64>(1 << 48), None);
    }
}
