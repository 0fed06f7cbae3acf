//! The SIMD tiers at which a codec is tested, and the proof that it was.

use crate::simd::{Simd, Tier};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::Once;
use std::vec::Vec;

/// The tiers to test: all tiers of this machine. Reports on standard error, once per process, that the others are skipped.
///
/// # Panics
/// If the variable `MPRESS_REQUIRE_SIMD` is set to a tier other than the highest one of this machine.
#[must_use]
pub fn tiers() -> Vec<Simd> {
    let tiers: Vec<_> = Simd::available().collect();
    static SAID: Once = Once::new();
    SAID.call_once(|| {
        for missing in Tier::ALL.iter().filter(|tier| Simd::new(**tier).is_none()) {
            let what = format_args!("tier {}, which this machine or build does not have", missing.name());
            // Not with `eprintln!`: the test harness hides the output of passing tests.
            let _shown = writeln!(std::io::stderr(), "SKIPPED: {what}");
        }
    });
    if let Ok(required) = std::env::var("MPRESS_REQUIRE_SIMD") {
        assert_eq!(Simd::detect().tier().name(), required, "the highest tier is not the required one");
    }
    tiers
}

/// Runs a suite at every tier of this machine.
///
/// # Panics
/// If the suite's codec selected a kernel of another tier in this thread, or no kernel.
pub fn at_each_tier(suite: impl Fn(Simd)) {
    for simd in tiers() {
        let tier = simd.tier();
        CHOSEN.take();
        suite(simd);
        let chosen = CHOSEN.take();
        let chosen: BTreeSet<_> = Tier::ALL.iter().copied().filter(|&tier| chosen & bit(tier) != 0).collect();
        assert!(chosen.iter().eq(&[tier]), "a suite at {simd:?} chose kernels of {chosen:?}");
    }
}

std::thread_local! {
    /// A bit for each tier returned by [`Simd::tier`] in this thread. It has no destructor, because a program under test may send messages while it
    /// exits, after its threads' variables are destroyed.
    static CHOSEN: Cell<u8> = const { Cell::new(0) };
}

const fn bit(tier: Tier) -> u8 {
    1 << tier as u8
}

/// Records that a codec selects a kernel of this tier.
pub(crate) fn kernel_chosen(tier: Tier) {
    CHOSEN.set(CHOSEN.get() | bit(tier));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiers_are_all_there_are() {
        assert!(tiers().into_iter().eq(Simd::available()));
    }

    #[test]
    fn a_suite_at_its_tier_passes() {
        at_each_tier(|simd| assert_eq!(Simd::new(simd.tier()), Some(simd)));
    }

    #[test]
    #[should_panic(expected = "chose kernels of {}")]
    fn a_suite_that_chooses_no_kernel_is_found() {
        at_each_tier(|_| {});
    }

    #[test]
    #[should_panic(expected = "chose kernels of {Scalar, Avx2}")]
    fn a_suite_that_chooses_other_kernels_is_found() {
        at_each_tier(|simd| {
            let _ = simd.tier();
            [Tier::Scalar, Tier::Avx2].into_iter().for_each(kernel_chosen);
        });
    }
}
