//! Runs at listed places. The same code for every level, compiled for each.

use super::blocks::{copy, copy_some};
use super::{Axis, Listed, prefetch};
use crate::shape::{Form, List, Parts};
use core::ops::Range;

/// Parts of a list of runs.
#[derive(Clone, Copy)]
pub(super) struct Runs<'a> {
    places: &'a [isize],
    lens: Lens<'a>,
    size: usize,
}

#[derive(Clone, Copy)]
enum Lens<'a> {
    Same(usize),
    /// Where each begins, and where the last one ends.
    Starts(&'a [usize]),
}

impl<'a> Runs<'a> {
    /// These parts, if they are runs, and there are any.
    pub(super) fn of(list: &'a List, parts: Range<usize>) -> Option<Self> {
        let places = list.places().get(parts.clone()).filter(|places| !places.is_empty())?;
        let (lens, size) = match list.parts() {
            Parts::Same(Form::Run(len)) => (Lens::Same(*len), len * places.len()),
            Parts::Runs(starts) => {
                let starts = starts.get(parts.start..parts.end + 1)?;
                (Lens::Starts(starts), starts.last()? - starts.first()?)
            }
            _ => return None,
        };
        Some(Self { places, lens, size })
    }

    /// Their bytes.
    pub(super) fn size(&self) -> usize {
        self.size
    }
}

/// Places so far ahead are loaded into the cache.
const AHEAD: usize = 24;

/// Copies runs between their places and a row of neighbours.
///
/// # Safety
/// For each round of `outer`, every run must be readable at its place from `from` on and the row writable from `to` on, or, if the places
/// are those of `to`, the other way round; they do not overlap.
#[inline(always)]
pub(super) unsafe fn list(from: *const u8, to: *mut u8, listed: Listed, runs: Runs<'_>, outer: Axis) {
    macro_rules! of_len {
        ($($len:literal)*) => {
            match runs.lens {
                // SAFETY: the caller's promise, for runs of this length.
                $(Lens::Same($len) => unsafe {
                    each(from, to, listed, runs.places, |_| $len, outer, |from, to, _| copy::<$len>(from, to))
                },)*
                // SAFETY: the caller's promise.
                Lens::Same(len) => unsafe {
                    each(from, to, listed, runs.places, |_| len, outer, |from, to, len| copy_some(from, to, len))
                },
                // SAFETY: the caller's promise. There is one start more than places.
                Lens::Starts(starts) => unsafe {
                    let len = |i| match (starts.get(i), starts.get(i + 1)) {
                        (Some(start), Some(end)) => end - start,
                        _ => 0,
                    };
                    each(from, to, listed, runs.places, len, outer, |from, to, len| copy_some(from, to, len))
                },
            }
        };
    }
    of_len!(1 2 4 8 12 16 24 32 48 64)
}

/// # Safety
/// That of what `copy` does at each place.
#[inline(always)]
unsafe fn each(
    mut from: *const u8,
    mut to: *mut u8,
    listed: Listed,
    places: &[isize],
    len: impl Fn(usize) -> usize,
    outer: Axis,
    copy: impl Fn(*const u8, *mut u8, usize),
) {
    for _ in 0..outer.count {
        let mut row = 0;
        for (i, place) in places.iter().enumerate() {
            let len = len(i);
            if let Some(ahead) = places.get(i + AHEAD) {
                let base = if listed == Listed::From { from } else { to.cast_const() };
                prefetch(base.wrapping_offset(*ahead));
            }
            match listed {
                Listed::From => copy(from.wrapping_offset(*place), to.wrapping_add(row), len),
                Listed::To => copy(from.wrapping_add(row), to.wrapping_offset(*place), len),
            }
            row += len;
        }
        from = from.wrapping_offset(outer.from);
        to = to.wrapping_offset(outer.to);
    }
}
