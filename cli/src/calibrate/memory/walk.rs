//! Walks through memory in which each access waits for the previous one, so that their times add up: *Micro Benchmark Analysis of the KSR1*
//! (Saavedra, Gaines, Carlton, 1993). There a walk has a fixed stride; here it visits the same places in random order, which no prefetcher follows.

use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use std::hint::black_box;
use std::time::Instant;

/// The bytes of a link.
const LINK: usize = size_of::<u32>();
/// The maximum number of consecutive places in random order. At 64 bytes per place, they span 16 pages of 4 KiB: only one access in 64 of a
/// contiguous walk is the first to its page, so the TLB hardly matters.
const WINDOW: usize = 1024;
/// The number of accesses that are timed together, about 10 us or more, and the number of repeats; the fastest time counts.
const ACCESSES: usize = 1 << 13;
const PASSES: usize = 5;

/// Places in memory, linked into a chain. Each walk goes round the places from the first to some other one.
pub(super) struct Walk {
    /// Links, as indices into this memory, at the places; the rest is never touched.
    memory: Vec<u32>,
    /// The places in the order of the walk.
    order: Vec<u32>,
}

impl Walk {
    /// A walk through `place(0)`, `place(1)`, ..., in bytes from a page's start; the last of the ascending `counts` gives their number. For each n in
    /// `counts`, the walk round the first n places is in random order, but has the same places as an ordered one.
    ///
    /// The memory is new, and so on different physical pages each time: caches indexed by physical addresses hold more of some pages than of others.
    pub(super) fn new(
        counts: &[usize],
        page: usize,
        place: impl Fn(usize) -> usize,
        random: &mut SmallRng,
    ) -> Self {
        let order = order(counts, random);
        let end = order.iter().map(|i| place(*i)).max().map_or(0, |last| last + page);
        // The system provides zeros without touching memory, so places far apart take no more memory than their pages.
        let mut memory = vec![0_u32; (end + page) / LINK];
        let start = memory.as_ptr().align_offset(page.max(LINK)).min(page / LINK);
        let order: Vec<u32> = order.iter().map(|i| (start + place(*i) / LINK) as u32).collect();
        for pair in order.windows(2) {
            memory[pair[0] as usize] = pair[1];
        }
        Self { memory, order }
    }

    /// The addresses of the places in the order of the longest walk.
    #[cfg(test)]
    pub(super) fn addresses(&self) -> impl Iterator<Item = usize> {
        self.order.iter().map(|place| self.memory.as_ptr().addr() + *place as usize * LINK)
    }

    /// Nanoseconds per access on the way round the first `count` places.
    pub(super) fn time(&mut self, count: usize) -> f64 {
        let order = self.order.get(..count).unwrap_or(&self.order);
        let (Some(&first), Some(&last)) = (order.first(), order.last()) else { return f64::NAN };
        let onward = std::mem::replace(&mut self.memory[last as usize], first);
        // Brings the caches into the state that a whole round leaves. These accesses do not wait for each other.
        black_box(order.iter().fold(0, |sum, place| sum ^ self.memory[*place as usize]));
        let mut at = first;
        let mut best = f64::INFINITY;
        for _ in 0..PASSES {
            let start = Instant::now();
            for _ in 0..ACCESSES {
                at = self.memory[at as usize];
            }
            at = black_box(at);
            best = best.min(start.elapsed().as_secs_f64() * 1e9 / ACCESSES as f64);
        }
        self.memory[last as usize] = onward;
        best
    }
}

/// The numbers below the last of `counts`: first those below the first count, in random order, then those below the second, and so on.
fn order(counts: &[usize], random: &mut SmallRng) -> Vec<usize> {
    let mut order = Vec::new();
    for &count in counts {
        let part: Vec<_> = (order.len()..count).collect();
        let mut windows: Vec<_> = part.chunks(WINDOW).map(<[usize]>::to_vec).collect();
        windows.iter_mut().for_each(|window| window.shuffle(random));
        windows.shuffle(random);
        order.extend(windows.into_iter().flatten());
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn each_walk_goes_round_its_places_once() {
        let counts = [1, 2, 10, 11, 100, 5000];
        let mut walk = Walk::new(&counts, 4096, |i| i * 192, &mut SmallRng::seed_from_u64(1));
        let first = walk.order[0];
        for count in counts {
            // Closes and opens the ring again.
            assert!(walk.time(count) > 0.0);
            let onward = std::mem::replace(&mut walk.memory[walk.order[count - 1] as usize], first);
            let (mut at, mut visited) = (first, Vec::new());
            for _ in 0..count {
                visited.push(at);
                at = walk.memory[at as usize];
            }
            assert_eq!(at, first);
            visited.sort_unstable();
            // The same places as in the ordered walk, at the same distance.
            assert!(visited.windows(2).all(|pair| pair[1] - pair[0] == 48), "{count}");
            assert_eq!(visited.len(), count);
            walk.memory[walk.order[count - 1] as usize] = onward;
        }
        let start = *walk.order.iter().min().unwrap() as usize;
        assert!(walk.memory.as_ptr().wrapping_add(start).addr().is_multiple_of(4096));
    }

    #[test]
    fn orders_are_not_in_order() {
        let order = order(&[10_000], &mut SmallRng::seed_from_u64(1));
        let neighbours = order.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) == 1).count();
        assert!(neighbours < 100, "{neighbours}");
    }
}
