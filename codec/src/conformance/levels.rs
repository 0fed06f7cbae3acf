//! The SIMD levels at which a codec is tested, and the proof that it was.

use super::skipped;
use crate::simd::{Level, Tier};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::format;
use std::vec::Vec;

/// The levels to test at: all levels of this machine. Reports each other level as skipped.
///
/// # Panics
/// If the variable `MPRESS_REQUIRE_LEVEL` is set to a level other than the highest one of this machine.
#[must_use]
pub fn levels() -> Vec<Level> {
    let levels: Vec<_> = Level::available().collect();
    for missing in Tier::ALL.into_iter().filter(|tier| Level::new(*tier).is_none()) {
        skipped(&format!("level {}, which this machine or build does not have", missing.name()));
    }
    if let Ok(required) = std::env::var("MPRESS_REQUIRE_LEVEL") {
        assert_eq!(Level::detect().tier().name(), required, "the highest level is not the required one");
    }
    levels
}

/// Runs a suite at every level of this machine.
///
/// # Panics
/// If the suite's codec selected a kernel of another level in this thread, or none.
pub fn at_each_level(suite: impl Fn(Level)) {
    for level in levels() {
        let tier = level.tier();
        CHOSEN.take();
        suite(level);
        let chosen = CHOSEN.take();
        assert!(chosen.iter().eq(&[tier]), "a suite at {level:?} chose kernels of {chosen:?}");
    }
}

std::thread_local! {
    /// The tiers returned by [`Level::tier`] in this thread.
    static CHOSEN: RefCell<BTreeSet<Tier>> = const { RefCell::new(BTreeSet::new()) };
}

/// Records that a codec selects a kernel of this tier.
pub(crate) fn kernel_chosen(tier: Tier) {
    CHOSEN.with_borrow_mut(|chosen| chosen.insert(tier));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_all_there_are() {
        assert!(levels().into_iter().eq(Level::available()));
    }

    #[test]
    fn a_suite_at_its_level_passes() {
        at_each_level(|level| assert_eq!(Level::new(level.tier()), Some(level)));
    }

    #[test]
    #[should_panic(expected = "chose kernels of {}")]
    fn a_suite_that_chooses_no_kernel_is_found() {
        at_each_level(|_| {});
    }

    #[test]
    #[should_panic(expected = "chose kernels of {Scalar, Avx2}")]
    fn a_suite_that_chooses_other_kernels_is_found() {
        at_each_level(|level| {
            let _ = level.tier();
            [Tier::Scalar, Tier::Avx2].into_iter().for_each(kernel_chosen);
        });
    }
}
