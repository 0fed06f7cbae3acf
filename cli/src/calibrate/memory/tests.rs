use super::*;
use std::cell::Cell;
use std::collections::VecDeque;

/// A machine other than this one.
fn own() -> Machine {
    let mut own = Machine::DEFAULT;
    (own.l1.bytes, own.l2.bytes, own.l3.bytes, own.tlb) = (48 << 10, 2 << 20, 32 << 20, 96);
    own
}

/// The curve of a hierarchy: the capacities, each with the time after it.
fn curve(sizes: Vec<usize>, first: f64, after: &[(usize, f64)]) -> Vec<Sample> {
    let ns = |size| after.iter().rfind(|(capacity, _)| size > *capacity).map_or(first, |(_, ns)| *ns);
    sizes.into_iter().map(|size| Sample { size, ns: ns(size) }).collect()
}

fn by_bytes(after: &[(usize, f64)]) -> Vec<Sample> {
    let [first, _, last] = windows(&own());
    curve(sizes(&(*first.start()..=*last.end()), 4), 1.3, after)
}

#[test]
fn figures_are_those_of_the_curves() {
    let pages = curve(sizes(&PAGES, 8), 1.3, &[(64, 3.2)]);
    let caches = by_bytes(&[(32 << 10, 4.1), (1 << 20, 12.0), (24 << 20, 120.0)]);
    let found = Memory {
        page_bytes: None,
        tlb_entries: Some(64),
        l1_bytes: Some(32 << 10),
        l2_bytes: Some(1 << 20),
        l3_bytes: Some(24 << 20),
    };
    assert_eq!(figures(&pages, &caches, &own()), found);
}

#[test]
fn a_figure_without_a_step_is_left_out_alone() {
    let pages = curve(sizes(&PAGES, 8), 1.3, &[]);
    let caches = by_bytes(&[(32 << 10, 4.1), (1 << 20, 120.0)]);
    let found = Memory { l1_bytes: Some(32 << 10), l2_bytes: Some(1 << 20), ..Memory::default() };
    assert_eq!(figures(&pages, &caches, &own()), found);
    // As on a system that does not allow small pages, or when there was no time.
    assert_eq!(figures(&[], &[], &own()), Memory::default());
    let text = line(&found, &own());
    assert_eq!(
        text,
        "memory: L1 32 KiB, L2 1 MiB; no clear step, so as the processor says: page 4 KiB, T_p 96, L3 32 MiB"
    );
    let nothing = line(&Memory::default(), &own());
    assert!(nothing.starts_with("memory: nothing clear; ") && nothing.ends_with("L3 32 MiB"), "{nothing}");
    let all = Memory { page_bytes: Some(16 << 10), tlb_entries: Some(48), l3_bytes: Some(40_000), ..found };
    assert_eq!(line(&all, &own()), "memory: page 16 KiB, T_p 48, L1 32 KiB, L2 1 MiB, L3 40000 bytes");
}

#[test]
fn caches_have_windows_that_do_not_overlap_and_end() {
    let mut huge = own();
    huge.l3.bytes = usize::MAX;
    for machine in [own(), Machine::DEFAULT, Machine::detect(), huge] {
        let [l1, l2, l3] = windows(&machine);
        assert!(l1.contains(&machine.l1.bytes) && l2.contains(&machine.l2.bytes), "{machine:?}");
        assert!(l1.end() <= l2.start() && l2.end() <= l3.start() && *l3.end() <= MOST, "{machine:?}");
    }
}

#[test]
fn sizes_are_some_to_each_doubling() {
    assert_eq!(sizes(&(8..=32), 4), [8, 10, 12, 14, 16, 20, 24, 28, 32]);
    assert_eq!(sizes(&(9..=17), 8), [9, 10, 11, 12, 13, 14, 15, 16]);
    assert!(sizes(&(100..=100), 4).is_empty());
    assert_eq!(sizes(&(0..=6), 4), [4, 5, 6]);
    assert!(sizes(&RangeInclusive::new(7, 6), 4).is_empty());
}

/// Misses of a round of the walk after the first, in a set-associative TLB with LRU replacement.
fn misses(places: &[usize], page: usize, sets: usize, ways: usize) -> usize {
    let mut tlb = vec![VecDeque::new(); sets];
    let mut round = || {
        let mut misses = 0;
        for page in places.iter().map(|place| place / page) {
            let set = &mut tlb[page % sets];
            match set.iter().position(|held| *held == page) {
                Some(at) => drop(set.remove(at)),
                None => misses += 1,
            }
            set.push_back(page);
            if set.len() > ways {
                set.pop_front();
            }
        }
        misses
    };
    round();
    round()
}

/// The cause of the step: as many pages as the TLB holds never miss, in any sets; a quarter more miss almost always.
#[test]
fn a_walk_over_pages_misses_from_the_capacity_of_the_tlb_on() {
    let random = &mut SmallRng::seed_from_u64(5);
    for (page, sets, ways) in
        [(4096_usize, 1_usize, 64_usize), (4096, 16, 4), (4096, 1, 72), (65536, 1, 48), (4096, 8, 12)]
    {
        let entries = sets * ways;
        for (count, missed) in [(entries / 2, 0), (entries, 0), (entries + sets * ways.div_ceil(4), 1)] {
            let walk = Walk::new(&[count], page, |i| spread(i, page, 64), random);
            let places: Vec<_> = walk.addresses().collect();
            assert_eq!(
                misses(&places, page, sets, ways),
                missed * count,
                "{count} pages, {sets} sets of {ways}"
            );
            // A separate line, in a different set of a small cache than its neighbours.
            let lines = (page / 64).min(count);
            let mut first: Vec<_> = places.iter().map(|place| place / 64 % (page / 64)).collect();
            first.sort_unstable();
            first.dedup();
            assert_eq!(first.len(), lines);
        }
    }
}

#[test]
fn rounds_end_in_time_and_keep_the_least() {
    let calls = Cell::new(0);
    let round = || {
        calls.set(calls.get() + 1);
        vec![f64::from(calls.get()), 9.0 - f64::from(calls.get()), f64::NAN]
    };
    let least = rounds(Duration::ZERO, round);
    assert_eq!((calls.get(), &least[..2]), (1, &[1.0, 8.0][..]));
    calls.set(0);
    let least = rounds(Duration::MAX / 2, round);
    assert_eq!((calls.get(), &least[..2]), (7, &[1.0, 2.0][..]));
    assert!(least[2].is_nan());
}

/// The times of this machine may be anything, but the results must be usable. One test, because the page setting is per process.
#[test]
fn what_is_measured_here_is_plausible_and_pages_are_as_before() {
    let before = prctl::get_thp_disable();
    if let Some(small) = SmallPages::only() {
        assert_eq!(prctl::get_thp_disable(), Ok(true));
        drop(small);
    }
    assert_eq!(prctl::get_thp_disable(), before);
    let own = Machine::detect();
    let steps = Cell::new(0);
    let found = measure(&own, || steps.set(steps.get() + 1));
    assert!((2..=2 * ROUNDS).contains(&steps.get()), "{}", steps.get());
    assert!(found.page_bytes.is_some_and(|page| page.is_power_of_two() && page >= 4096), "{found:?}");
    assert!(found.tlb_entries.is_none_or(|entries| PAGES.contains(&entries)), "{found:?}");
    let [l1, l2, l3] = windows(&own);
    for (found, window) in [(found.l1_bytes, l1), (found.l2_bytes, l2), (found.l3_bytes, l3)] {
        assert!(found.is_none_or(|bytes| window.contains(&bytes)), "{found:?} in {window:?}");
    }
    assert_eq!(prctl::get_thp_disable(), before);
}
