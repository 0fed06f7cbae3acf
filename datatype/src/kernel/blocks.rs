//! Blocks at equal distances. The code is shared by all tiers and compiled for each.

use super::{Axis, prefetch};
use core::ptr::copy_nonoverlapping;

/// Copies blocks of `width` bytes in two loops.
///
/// # Safety
/// Every block that the loops reach must be readable from `from` on and writable from `to` on; the two must not overlap.
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
                // SAFETY: guaranteed by the caller, for these widths.
                9..16 if inner.to == width as isize => unsafe { neighbours(from, to, width, outer, inner, ahead) },
                // SAFETY: guaranteed by the caller, for this width.
                $($width => unsafe {
                    if ahead == 0 {
                        each(from, to, width, outer, inner, 0, Exactly::<$width>)
                    } else {
                        each(from, to, width, outer, inner, ahead, Exactly::<$width>)
                    }
                },)*
                // SAFETY: guaranteed by the caller.
                17..=255 => unsafe { each(from, to, width, outer, inner, ahead, Any) },
                // SAFETY: guaranteed by the caller.
                _ => unsafe { each(from, to, width, outer, inner, 0, Any) },
            }
        };
    }
    of_width!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 20 24 32 36 40 48 64 72 96 128)
}

/// A way to copy a block. Large closures would not be inlined, and so would not be compiled for the tier's instructions.
pub(super) trait Block: Copy {
    /// Copies `len` bytes.
    ///
    /// # Safety
    /// They must be readable and writable, respectively, and must not overlap.
    unsafe fn copy(self, from: *const u8, to: *mut u8, len: usize);
}

/// Exactly `N` bytes.
#[derive(Clone, Copy)]
pub(super) struct Exactly<const N: usize>;

/// Any number of bytes.
#[derive(Clone, Copy)]
pub(super) struct Any;

/// 9 to 15 bytes, padded to 16, which must be writable.
#[derive(Clone, Copy)]
struct Padded;

impl<const N: usize> Block for Exactly<N> {
    #[inline(always)]
    unsafe fn copy(self, from: *const u8, to: *mut u8, _len: usize) {
        // SAFETY: guaranteed by the caller.
        unsafe { copy::<N>(from, to) }
    }
}

impl Block for Any {
    #[inline(always)]
    unsafe fn copy(self, from: *const u8, to: *mut u8, len: usize) {
        // SAFETY: guaranteed by the caller.
        unsafe { copy_some(from, to, len) }
    }
}

impl Block for Padded {
    #[inline(always)]
    unsafe fn copy(self, from: *const u8, to: *mut u8, len: usize) {
        // SAFETY: guaranteed by the caller.
        unsafe { padded(from, to, len) }
    }
}

/// Runs both loops.
///
/// # Safety
/// As for [`blocks`], and what `block` requires at each place.
#[inline(always)]
unsafe fn each(
    mut from: *const u8,
    mut to: *mut u8,
    width: usize,
    outer: Axis,
    inner: Axis,
    ahead: isize,
    block: impl Block,
) {
    for _ in 0..outer.count {
        let (mut from_block, mut to_block) = (from, to);
        for _ in 0..inner.count {
            if ahead != 0 {
                prefetch(from_block.wrapping_offset(ahead));
            }
            // SAFETY: guaranteed by the caller, for this block.
            unsafe { block.copy(from_block, to_block, width) };
            from_block = from_block.wrapping_offset(inner.from);
            to_block = to_block.wrapping_offset(inner.to);
        }
        from = from.wrapping_offset(outer.from);
        to = to.wrapping_offset(outer.to);
    }
}

/// The same for blocks of 9 to 15 bytes that become neighbours: each is padded, and the next block of its row overwrites the padding.
///
/// # Safety
/// As for [`blocks`]; `inner.to` is `width`.
#[inline(always)]
unsafe fn neighbours(
    mut from: *const u8,
    mut to: *mut u8,
    width: usize,
    outer: Axis,
    inner: Axis,
    ahead: isize,
) {
    let all_but_last = Axis { count: inner.count.saturating_sub(1), ..inner };
    let last = all_but_last.count as isize;
    for _ in 0..outer.count {
        // SAFETY: guaranteed by the caller. Every block but the last of a row is followed by another one, so 16 bytes may be written.
        unsafe {
            match width {
                // Three floats: with a constant width, the compiler generates a separate loop.
                12 => each(from, to, 12, Axis::ONCE, all_but_last, ahead, Padded),
                _ => each(from, to, width, Axis::ONCE, all_but_last, ahead, Padded),
            }
            copy_some(from.wrapping_offset(last * inner.from), to.wrapping_offset(last * inner.to), width);
        }
        from = from.wrapping_offset(outer.from);
        to = to.wrapping_offset(outer.to);
    }
}

/// Copies `N` bytes.
///
/// # Safety
/// They must be readable and writable, respectively, and must not overlap.
#[inline(always)]
pub(super) unsafe fn copy<const N: usize>(from: *const u8, to: *mut u8) {
    // SAFETY: guaranteed by the caller.
    unsafe { copy_nonoverlapping(from.cast::<[u8; N]>(), to.cast::<[u8; N]>(), 1) }
}

/// Copies 9 to 15 bytes and pads them to 16: one store is faster than two.
///
/// # Safety
/// `len` bytes must be readable and 16 writable, and must not overlap.
#[inline(always)]
unsafe fn padded(from: *const u8, to: *mut u8, len: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: both loads are of bytes that the caller guarantees, the store is of 16; every x86-64 has the instructions.
    unsafe {
        use core::arch::x86_64::*;
        let first = _mm_loadl_epi64(from.cast());
        // The last eight bytes, which overlap the first eight.
        let last = _mm_loadl_epi64(from.add(len - 8).cast());
        let last = _mm_srl_epi64(last, _mm_cvtsi64_si128(8 * (16 - len as i64)));
        _mm_storeu_si128(to.cast(), _mm_unpacklo_epi64(first, last));
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: guaranteed by the caller.
    unsafe {
        copy_some(from, to, len)
    }
}

/// Copies any number of bytes, up to [`LONG`] of them without a call.
///
/// # Safety
/// They must be readable and writable, respectively, and must not overlap.
#[inline(always)]
unsafe fn copy_some(from: *const u8, to: *mut u8, len: usize) {
    /// Copies the first and the last `N` bytes: for lengths from `N` to `2 * N`.
    #[inline(always)]
    unsafe fn both_ends<const N: usize>(from: *const u8, to: *mut u8, len: usize) {
        // SAFETY: `len` is at least `N`, so both lie within the bytes that the caller guarantees.
        unsafe {
            copy::<N>(from, to);
            copy::<N>(from.add(len - N), to.add(len - N));
        }
    }
    // SAFETY: guaranteed by the caller; the cases split the lengths.
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
            256..LONG => {
                // Stores at multiples of 64, and unaligned ones at both ends. With loads of half a line, fewer loads span two lines.
                copy::<64>(from, to);
                let mut at = 64 - to.addr() % 64;
                while at + 256 <= len {
                    (0..256).step_by(32).for_each(|i| copy::<32>(from.add(at + i), to.add(at + i)));
                    at += 256;
                }
                while at + 64 <= len {
                    copy::<64>(from.add(at), to.add(at));
                    at += 64;
                }
                copy::<64>(from.add(len - 64), to.add(len - 64));
            }
            _ => copy_nonoverlapping(from, to, len),
        }
    }
}

/// From this length on, C libraries copy past the caches and know when to do so. Below it, some use a string instruction, which takes long to start,
/// and much longer if target and source have nearly the same offset in their pages.
const LONG: usize = 1 << 20;
