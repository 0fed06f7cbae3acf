//! Steps in curves: from the times of walks to a capacity. Uses no clock.

use std::ops::RangeInclusive;

/// A point of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    /// The size of the walk: bytes, or a number of pages.
    pub(super) size: usize,
    /// Nanoseconds of one access.
    pub(super) ns: f64,
}

/// The minimum rise from before a step to after it, as a ratio.
const RISE: f64 = 1.3;
/// The number of points that a curve must have before and after a step.
const BEFORE: usize = 2;
const AFTER: usize = 3;
/// A capacity ends where an access takes this many times as long as before the step, or at half the step's height if that is less.
const SLOWER: f64 = 2.0;
/// The middle of a step, from half that rise to one and a half times that rise, must lie between sizes of at most this ratio; a slower rise is not a
/// step.
const WIDTH: usize = 3;

/// The greatest size before the step of a curve: the capacity that causes the step, rounded down to a size of the curve. `None` if the curve has no
/// clear step at sizes in `window`. The curve is in ascending order.
///
/// Other work on the machine only adds time. So a size counts as no slower than any greater size, and single slow points do no harm. Heights are
/// ratios. The height after a high step does not tell where the step begins: the next cache may be full of others' data, sometimes or always.
pub(super) fn step(curve: &[Sample], window: &RangeInclusive<usize>) -> Option<usize> {
    let usable = |sample: &&Sample| window.contains(&sample.size) && sample.ns.is_normal() && sample.ns > 0.0;
    let mut curve: Vec<Sample> = curve.iter().filter(usable).copied().collect();
    let mut least = f64::INFINITY;
    for sample in curve.iter_mut().rev() {
        least = least.min(sample.ns);
        sample.ns = least;
    }
    let low = curve.first()?.ns;
    // Few points follow the last ones, so their noise cannot be detected.
    let high = curve.get(curve.len().checked_sub(AFTER)?)?.ns;
    if high < low * RISE {
        return None;
    }
    let slower = (high / low).sqrt().min(SLOWER);
    // The number of points below this fraction of that rise. The curve ascends.
    let below = |part: f64| curve.partition_point(|sample| sample.ns < low * slower.powf(part));
    let (begin, middle, end) = (below(0.5), below(1.0), below(1.5));
    if middle < BEFORE || middle + AFTER > curve.len() {
        return None;
    }
    let size = |at: usize| curve.get(at).map(|sample| sample.size);
    let is_steep = size(end)? <= size(begin.checked_sub(1)?)?.saturating_mul(WIDTH);
    if is_steep { size(middle - 1) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{RngExt, SeedableRng};

    /// Four sizes per octave, 1 KiB to 16 MiB.
    fn sizes() -> impl Iterator<Item = usize> {
        (10..24).flat_map(|octave| (4..8).map(move |part| part << (octave - 2)))
    }

    fn curve(ns: impl Fn(usize) -> f64) -> Vec<Sample> {
        sizes().map(|size| Sample { size, ns: ns(size) }).collect()
    }

    fn found(curve: &[Sample]) -> Option<usize> {
        step(curve, &(0..=usize::MAX))
    }

    /// Approximately the share of accesses that miss a cache whose sets are filled at random.
    fn blurred(capacity: usize) -> impl Fn(usize) -> f64 {
        move |size| 1.0 / (1.0 + (capacity as f64 * 1.05 / size as f64).powi(6))
    }

    #[test]
    fn a_step_is_found_wherever_it_is() {
        let all: Vec<_> = sizes().collect();
        for (at, &capacity) in all.iter().enumerate() {
            for high in [1.8, 3.0, 90.0] {
                let curve = curve(|size| if size > capacity { high } else { 1.3 });
                let well_inside = at + 1 >= BEFORE && all.len() - at > AFTER;
                assert_eq!(found(&curve), well_inside.then_some(capacity), "{high}");
            }
        }
    }

    #[test]
    fn noise_does_not_move_a_step() {
        let mut random = SmallRng::seed_from_u64(3);
        let mut missing = 0;
        for capacity in [32 << 10, 48 << 10, 1 << 20, 5 << 18] {
            for _ in 0..200 {
                let mut noisy = curve(|size| if size > capacity { 4.1 } else { 1.3 });
                let mut calm = 0;
                for sample in &mut noisy {
                    let is_hit = random.random::<f64>() < 0.2;
                    sample.ns *= 1.0 + if is_hit { 10.0 } else { 0.1 } * random.random::<f64>();
                    calm = if is_hit || sample.size > capacity { calm } else { sample.size };
                }
                // Noise may hide the sizes just before the step, but makes no capacity greater.
                match found(&noisy) {
                    Some(size) => {
                        assert!((calm..=capacity).contains(&size), "{size} for {capacity}: {noisy:?}")
                    }
                    None => missing += 1,
                }
            }
        }
        assert!(missing < 40, "{missing} of 800");
    }

    #[test]
    fn single_slow_points_do_not_hide_a_step() {
        let clean = curve(|size| if size > 32 << 10 { 4.1 } else { 1.3 });
        for at in 0..clean.len() {
            let mut noisy = clean.clone();
            noisy[at].ns *= 50.0;
            // No later size is as fast as the last size before the step.
            let expected = if noisy[at].size == 32 << 10 { 28 << 10 } else { 32 << 10 };
            assert_eq!(found(&noisy), Some(expected), "{at}");
        }
    }

    #[test]
    fn where_there_is_no_step_none_is_found() {
        let mut random = SmallRng::seed_from_u64(4);
        for _ in 0..500 {
            let mut flat = curve(|_| 120.0);
            flat.iter_mut().for_each(|sample| sample.ns *= 1.0 + 0.2 * random.random::<f64>());
            let hit = random.random_range(0..flat.len());
            flat[hit].ns *= 20.0;
            assert_eq!(found(&flat), None, "{flat:?}");
        }
        // A rise over the whole window, as in a cache that others use too.
        assert_eq!(found(&curve(|size| (size as f64).sqrt())), None);
        assert_eq!(found(&curve(|size| 1.0 / size as f64)), None, "times fall with size");
    }

    #[test]
    fn a_step_that_is_not_sharp_is_where_half_its_height_is() {
        for capacity in [64 << 10, 256 << 10, 1 << 20] {
            let miss = blurred(capacity);
            let size = found(&curve(|size| 4.0 + 10.0 * miss(size))).unwrap();
            assert!(size * 4 >= capacity * 3 && size <= capacity, "{size} for {capacity}");
        }
    }

    #[test]
    fn only_the_window_counts() {
        let two = curve(|size| match size {
            size if size <= 32 << 10 => 1.3,
            size if size <= 1 << 20 => 4.1,
            _ => 120.0,
        });
        assert_eq!(step(&two, &(8 << 10..=180 << 10)), Some(32 << 10));
        assert_eq!(step(&two, &(180 << 10..=8 << 20)), Some(1 << 20));
        assert_eq!(step(&two, &(2 << 20..=16 << 20)), None);
        assert_eq!(step(&two, &(1..=2)), None);
        assert_eq!(step(&[], &(0..=usize::MAX)), None);
    }

    #[test]
    fn what_is_no_time_is_left_out() {
        let mut broken = curve(|size| if size > 32 << 10 { 4.1 } else { 1.3 });
        for (at, ns) in [(3, f64::NAN), (9, 0.0), (30, -1.0), (40, f64::INFINITY)] {
            broken[at].ns = ns;
        }
        assert_eq!(found(&broken), Some(32 << 10));
        assert_eq!(found(&curve(|_| f64::NAN)), None);
    }

    /// Medians of a virtual EPYC whose last cache is full of others' data (2026-11-23): nothing between the second cache and memory.
    #[test]
    fn a_step_over_a_missing_level_is_the_end_of_the_level_before() {
        let kib = [256, 320, 384, 448, 512, 640, 768, 896, 1024, 1280, 1536, 1792, 2048, 2560, 3072];
        let ns = [4.1, 4.3, 4.5, 4.5, 4.8, 5.1, 6.2, 7.5, 8.4, 59.2, 111.3, 85.5, 122.7, 113.5, 122.2];
        let curve: Vec<_> = kib.into_iter().zip(ns).map(|(kib, ns)| Sample { size: kib << 10, ns }).collect();
        assert_eq!(found(&curve), Some(896 << 10));
    }
}
