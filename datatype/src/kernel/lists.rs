//! Runs at listed places. The same code for every level, compiled for each.

use super::blocks::{Any, Block, Exactly};
use super::{Axis, Listed};
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

/// Copies runs between their places and a row of neighbours.
///
/// # Safety
/// For each round of `outer`, every run must be readable at its place from `from` on and the row writable from `to` on, or, if the places
/// are those of `to`, the other way round; they do not overlap.
#[inline(always)]
pub(super) unsafe fn list(from: *const u8, to: *mut u8, listed: Listed, runs: Runs<'_>, outer: Axis) {
    let (mut from, mut to) = (from, to);
    for _ in 0..outer.count {
        // SAFETY: the caller's promise, for this round.
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

/// One round. `FROM`: the places are those of `from`.
///
/// # Safety
/// That of [`list`], for one round.
#[inline(always)]
unsafe fn round<const FROM: bool>(from: *const u8, to: *mut u8, runs: Runs<'_>) {
    let places = runs.places.iter();
    macro_rules! of_len {
        ($($len:literal)*) => {
            match runs.lens {
                // SAFETY: the caller's promise, for runs of this length.
                $(Lens::Same($len) => unsafe {
                    each::<FROM>(from, to, places.map(|place| (*place, $len)), Exactly::<$len>)
                },)*
                // SAFETY: the caller's promise.
                Lens::Same(len) => unsafe { each::<FROM>(from, to, places.map(|place| (*place, len)), Any) },
                // SAFETY: the caller's promise. There is one start more than places.
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
/// That of [`list`], for one round, and of what `block` does at each place.
#[inline(always)]
unsafe fn each<const FROM: bool>(
    mut from: *const u8,
    mut to: *mut u8,
    runs: impl Iterator<Item = (isize, usize)>,
    block: impl Block,
) {
    // Not a loop: chained iterators are faster from inside.
    runs.for_each(|(place, len)| {
        let listed = if FROM { (from.wrapping_offset(place), to) } else { (from, to.wrapping_offset(place)) };
        // SAFETY: the caller's promise, for this run.
        unsafe { block.copy(listed.0, listed.1, len) };
        if FROM {
            to = to.wrapping_add(len);
        } else {
            from = from.wrapping_add(len);
        }
    });
}
