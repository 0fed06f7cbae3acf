//! Blocks at equal distances. The same code for every level, compiled for each.

use super::{Axis, prefetch};
use core::ptr::copy_nonoverlapping;

/// Copies blocks of `width` bytes in two loops.
///
/// # Safety
/// Every block that the loops reach from `from` on must be readable, every one from `to` on writable; they do not overlap.
#[inline(always)]
pub(super) unsafe fn blocks(
    from: *const u8,
    to: *mut u8,
    width: usize,
    outer: Axis,
    inner: Axis,
    ahead: isize,
) {
    macro_rules! of_width {
        ($($width:literal)*) => {
            match width {
                // SAFETY: the caller's promise, for this width.
                $($width => unsafe {
                    if ahead == 0 {
                        each(from, to, outer, inner, 0, |from, to| copy::<$width>(from, to))
                    } else {
                        each(from, to, outer, inner, ahead, |from, to| copy::<$width>(from, to))
                    }
                },)*
                // SAFETY: the caller's promise.
                17..=255 => unsafe { each(from, to, outer, inner, ahead, |from, to| copy_some(from, to, width)) },
                // SAFETY: the caller's promise.
                _ => unsafe { each(from, to, outer, inner, 0, |from, to| copy_some(from, to, width)) },
            }
        };
    }
    of_width!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 20 24 32 36 40 48 64 72 96 128)
}

/// Both loops.
///
/// # Safety
/// That of what `copy` does at each place.
#[inline(always)]
unsafe fn each(
    mut from: *const u8,
    mut to: *mut u8,
    outer: Axis,
    inner: Axis,
    ahead: isize,
    copy: impl Fn(*const u8, *mut u8),
) {
    for _ in 0..outer.count {
        let (mut from_block, mut to_block) = (from, to);
        for _ in 0..inner.count {
            if ahead != 0 {
                prefetch(from_block.wrapping_offset(ahead));
            }
            copy(from_block, to_block);
            from_block = from_block.wrapping_offset(inner.from);
            to_block = to_block.wrapping_offset(inner.to);
        }
        from = from.wrapping_offset(outer.from);
        to = to.wrapping_offset(outer.to);
    }
}

/// Copies `N` bytes.
///
/// # Safety
/// They must be readable and writable, and must not overlap.
#[inline(always)]
pub(super) unsafe fn copy<const N: usize>(from: *const u8, to: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe { copy_nonoverlapping(from.cast::<[u8; N]>(), to.cast::<[u8; N]>(), 1) }
}

/// Copies any number of bytes; up to 255 of them without a call.
///
/// # Safety
/// They must be readable and writable, and must not overlap.
#[inline(always)]
pub(super) unsafe fn copy_some(from: *const u8, to: *mut u8, len: usize) {
    /// The first and the last `N` bytes: for `N` to `2 * N` of them.
    #[inline(always)]
    unsafe fn both_ends<const N: usize>(from: *const u8, to: *mut u8, len: usize) {
        // SAFETY: `len` is at least `N`, so both lie within the bytes that the caller vouches for.
        unsafe {
            copy::<N>(from, to);
            copy::<N>(from.add(len - N), to.add(len - N));
        }
    }
    // SAFETY: the caller's promise; each way is for lengths of its own.
    unsafe {
        match len {
            0 => {}
            1 => copy::<1>(from, to),
            2..4 => both_ends::<2>(from, to, len),
            4..8 => both_ends::<4>(from, to, len),
            8..16 => both_ends::<8>(from, to, len),
            16..32 => both_ends::<16>(from, to, len),
            32..64 => both_ends::<32>(from, to, len),
            64..256 => {
                let mut at = 0;
                while at + 128 <= len {
                    copy::<64>(from.add(at), to.add(at));
                    at += 64;
                }
                both_ends::<64>(from.add(at), to.add(at), len - at);
            }
            PIECE..LONG => {
                let mut at = 0;
                while at + PIECE <= len {
                    copy_nonoverlapping(from.add(at), to.add(at), PIECE);
                    at += PIECE;
                }
                copy_nonoverlapping(from.add(at), to.add(at), len - at);
            }
            _ => copy_nonoverlapping(from, to, len),
        }
    }
}

/// C libraries copy more than this by an instruction for strings, which takes long to start; what fits the caches is copied faster in pieces.
const PIECE: usize = 2048;
/// From here on they know better.
const LONG: usize = 256 << 10;
