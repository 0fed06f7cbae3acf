//! Runs at listed places. The code is shared by all tiers and compiled for each.

use super::blocks::{Any, Block, Exactly};
use super::{Axis, Listed};
use crate::shape::{Form, List, Parts};
use core::ops::Range;

/// Some parts of a list of runs.
#[derive(Clone, Copy)]
pub(super) struct Runs<'a> {
    places: &'a [isize],
    lens: Lens<'a>,
    size: usize,
}

#[derive(Clone, Copy)]
enum Lens<'a> {
    Same(usize),
    /// The start of each run in the packed stream, and the end of the last one.
    Starts(&'a [usize]),
}

impl<'a> Runs<'a> {
    /// These parts, if there are any and they are runs.
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

    /// The total length in bytes.
    pub(super) fn size(&self) -> usize {
        self.size
    }
}

/// Copies runs between their places and a contiguous sequence.
///
/// # Safety
/// For each iteration of `outer`, every run must be readable at its place from `from` on and the sequence writable from `to` on or, if the places
/// refer to `to`, vice versa; the two must not overlap.
#[inline(always)]
pub(super) unsafe fn list(from: *const u8, to: *mut u8, listed: Listed, runs: Runs<'_>, outer: Axis) {
    let (mut from, mut to) = (from, to);
    for _ in 0..outer.count {
        // SAFETY: guaranteed by the caller, for this round.
        unsafe {
            match listed {
                Listed::From => round::<true>(from, to, runs),
                Listed::To => round::<false>(from, to, runs),
            }
        }
        from = from.wrapping_offset(outer.from);
        to = to.wrapping_offset(outer.to);
    }
}

/// One iteration. `FROM`: the places refer to `from`.
///
/// # Safety
/// As for [`list`], for one iteration.
#[inline(always)]
unsafe fn round<const FROM: bool>(from: *const u8, to: *mut u8, runs: Runs<'_>) {
    let places = runs.places.iter();
    macro_rules! of_len {
        ($($len:literal)*) => {
            match runs.lens {
                // SAFETY: guaranteed by the caller, for runs of this length.
                $(Lens::Same($len) => unsafe {
                    each::<FROM>(from, to, places.map(|place| (*place, $len)), Exactly::<$len>)
                },)*
                // SAFETY: guaranteed by the caller.
                Lens::Same(len) => unsafe { each::<FROM>(from, to, places.map(|place| (*place, len)), Any) },
                // SAFETY: guaranteed by the caller. There is one more start than places.
                Lens::Starts(starts) => unsafe {
                    let lens = starts.array_windows().map(|[start, end]| end - start);
                    each::<FROM>(from, to, places.copied().zip(lens), Any)
                },
            }
        };
    }
    of_len!(1 2 4 8 12 16 24 32 48 64)
}

/// # Safety
/// As for [`list`], for one iteration, and what `block` requires at each place.
#[inline(always)]
unsafe fn each<const FROM: bool>(
    mut from: *const u8,
    mut to: *mut u8,
    runs: impl Iterator<Item = (isize, usize)>,
    block: impl Block,
) {
    // Not a `for` loop: internal iteration of chained iterators is faster.
    runs.for_each(|(place, len)| {
        let listed = if FROM { (from.wrapping_offset(place), to) } else { (from, to.wrapping_offset(place)) };
        // SAFETY: guaranteed by the caller, for this run.
        unsafe { block.copy(listed.0, listed.1, len) };
        if FROM {
            to = to.wrapping_add(len);
        } else {
            from = from.wrapping_add(len);
        }
    });
}
