//! Copies: blocks at equal distances, blocks at listed offsets, and transposes. There is a [`Kernel`] for each SIMD tier.
//!
//! The functions of [`Kernel`] are safe: each first computes the ranges that it reads and writes, and copies nothing unless both lie in the given
//! memory. The result is the same at every tier.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod blocks;
mod lists;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod simd;
mod tiles;

use crate::error::PackError;
use crate::memory::{Source, Target};
use crate::shape::List;
use mpress_codec::simd::{Simd, Tier};
pub(crate) use tiles::LINE;

/// A loop: its number of iterations, and its step in bytes on both sides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    pub(crate) count: usize,
    pub(crate) from: isize,
    pub(crate) to: isize,
}

impl Axis {
    /// A loop of one iteration.
    pub(crate) const ONCE: Self = Self { count: 1, from: 0, to: 0 };
}

/// The memory on both sides, and the position on each where a copy begins.
#[derive(Clone, Copy)]
pub(crate) struct Sides<'a> {
    pub(crate) from: &'a Source<'a>,
    pub(crate) to: &'a Target<'a>,
    pub(crate) from_at: isize,
    pub(crate) to_at: isize,
}

/// A transpose: `rows` blocks that are far apart in the source become neighbours; `columns` that are neighbours end up far apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transpose {
    pub(crate) width: usize,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// The distance between rows in the source.
    pub(crate) from: isize,
    /// The distance between columns in the target.
    pub(crate) to: isize,
    /// The number of columns that are copied before the next rows, a multiple of 16.
    pub(crate) block: usize,
    /// Whether the output exceeds the caches and so is written past them (non-temporal stores).
    pub(crate) past_caches: bool,
}

/// The side of a list's copy to which the listed places refer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listed {
    From,
    To,
}

/// The implementations of the copies.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kernel {
    Scalar,
    #[cfg(target_arch = "x86_64")]
    Avx2(avx2::Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(avx512::Avx512),
}

impl Kernel {
    /// The best kernel for a tier.
    pub(crate) fn new(simd: Simd) -> Self {
        match simd.tier() {
            #[cfg(target_arch = "x86_64")]
            Tier::Avx512 => avx512::Avx512::new(simd).map_or(Self::Scalar, Self::Avx512),
            #[cfg(target_arch = "x86_64")]
            Tier::Avx2 => avx2::Avx2::new(simd).map_or(Self::Scalar, Self::Avx2),
            _ => Self::Scalar,
        }
    }

    /// Copies blocks of `width` bytes: `inner.count` of them per iteration of `outer`. Prefetches `ahead` bytes past each block that is read; 0 for
    /// no prefetch.
    pub(crate) fn blocks(
        self,
        sides: Sides<'_>,
        width: usize,
        outer: Axis,
        inner: Axis,
        ahead: isize,
    ) -> Result<(), PackError> {
        if outer.count == 0 || inner.count == 0 || width == 0 {
            return Ok(());
        }
        let Sides { from, to, from_at, to_at } = sides;
        let from = reach(from_at, width, [(outer.count, outer.from), (inner.count, inner.from)])
            .and_then(|(low, high)| from.get(low, high, from_at));
        let to = reach(to_at, width, [(outer.count, outer.to), (inner.count, inner.to)])
            .and_then(|(low, high)| to.get(low, high, to_at));
        let (Some(from), Some(to)) = (from, to) else { return Err(PackError::Memory) };
        // SAFETY: all blocks of these loops lie in readable memory and in writable memory, as `get` has checked. The two borrows, one of them
        // exclusive, do not overlap.
        unsafe {
            match self {
                Self::Scalar => scalar::blocks(from, to, width, outer, inner, ahead),
                #[cfg(target_arch = "x86_64")]
                Self::Avx2(kernel) => kernel.blocks(from, to, width, outer, inner, ahead),
                #[cfg(target_arch = "x86_64")]
                Self::Avx512(kernel) => kernel.blocks(from, to, width, outer, inner, ahead),
            }
        }
        Ok(())
    }

    /// Copies the parts `parts` of a list of runs between their places and a contiguous sequence, for each iteration of `outer`.
    pub(crate) fn list(
        self,
        sides: Sides<'_>,
        listed: Listed,
        list: &List,
        parts: core::ops::Range<usize>,
        outer: Axis,
    ) -> Result<(), PackError> {
        let Some(runs) = lists::Runs::of(list, parts) else { return Ok(()) };
        if outer.count == 0 {
            return Ok(());
        }
        let Sides { from, to, from_at, to_at } = sides;
        let (listed_at, row_at) = if listed == Listed::From { (from_at, to_at) } else { (to_at, from_at) };
        let (listed_step, row_step) =
            if listed == Listed::From { (outer.from, outer.to) } else { (outer.to, outer.from) };
        let (low, high) = list.span();
        let places =
            listed_at.checked_add(low).zip(high.checked_sub(low).and_then(|len| usize::try_from(len).ok()));
        let places = places.and_then(|(low, len)| reach(low, len, [(outer.count, listed_step), (1, 0)]));
        let row = reach(row_at, runs.size(), [(outer.count, row_step), (1, 0)]);
        let (Some(places), Some(row)) = (places, row) else { return Err(PackError::Memory) };
        let (from_reach, to_reach) = if listed == Listed::From { (places, row) } else { (row, places) };
        let from = from.get(from_reach.0, from_reach.1, from_at);
        let to = to.get(to_reach.0, to_reach.1, to_at);
        let (Some(from), Some(to)) = (from, to) else { return Err(PackError::Memory) };
        // SAFETY: no place of a list lies outside its span, which for every iteration of `outer` lies in the memory of the listed side; the
        // consecutive runs lie in that of the other side, as `get` has checked. The two borrows, one of them exclusive, do not overlap.
        unsafe {
            match self {
                Self::Scalar => scalar::list(from, to, listed, runs, outer),
                #[cfg(target_arch = "x86_64")]
                Self::Avx2(kernel) => kernel.list(from, to, listed, runs, outer),
                #[cfg(target_arch = "x86_64")]
                Self::Avx512(kernel) => kernel.list(from, to, listed, runs, outer),
            }
        }
        Ok(())
    }

    /// Transposes elements of 4, 8 or 16 bytes.
    pub(crate) fn transpose(self, sides: Sides<'_>, transpose: &Transpose) -> Result<(), PackError> {
        let Transpose { width, rows, columns, from: from_step, to: to_step, .. } = *transpose;
        if rows == 0 || columns == 0 {
            return Ok(());
        }
        debug_assert!(matches!(width, 4 | 8 | 16), "elements of {width} bytes");
        let Sides { from, to, from_at, to_at } = sides;
        let Ok(step) = isize::try_from(width) else { return Err(PackError::Memory) };
        let from = reach(from_at, width, [(rows, from_step), (columns, step)])
            .and_then(|(low, high)| from.get(low, high, from_at));
        let to = reach(to_at, width, [(rows, step), (columns, to_step)])
            .and_then(|(low, high)| to.get(low, high, to_at));
        let (Some(from), Some(to)) = (from, to) else { return Err(PackError::Memory) };
        // SAFETY: all elements of all rows and columns lie in readable memory and in writable memory, as `get` has checked. The two borrows, one of
        // them exclusive, do not overlap.
        unsafe {
            match self {
                Self::Scalar => scalar::transpose(from, to, transpose),
                #[cfg(target_arch = "x86_64")]
                Self::Avx2(kernel) => kernel.transpose(from, to, transpose),
                #[cfg(target_arch = "x86_64")]
                Self::Avx512(kernel) => kernel.transpose(from, to, transpose),
            }
        }
        Ok(())
    }
}

/// The range of bytes that the loops visit, given as number of iterations and stride, for blocks of `width` bytes from `at` on.
fn reach(at: isize, width: usize, loops: [(usize, isize); 2]) -> Option<(isize, isize)> {
    let (mut low, mut high) = (at, at.checked_add(isize::try_from(width).ok()?)?);
    for (count, stride) in loops {
        let last = isize::try_from(count.checked_sub(1)?).ok()?.checked_mul(stride)?;
        low = low.checked_add(last.min(0))?;
        high = high.checked_add(last.max(0))?;
    }
    Some((low, high))
}

/// Prefetches the cache line at `at`, which may be any address.
#[inline(always)]
fn prefetch(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has the instruction, and it never faults.
    unsafe {
        core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T0 }>(at.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}
