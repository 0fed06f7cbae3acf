//! The memory of the predictors: the tournament allocates everything at once, the paper's predictors per call.

mod programs;

use mpress_predict::{
    Id, Predictor, SingleCycle, Tag, TagBettercycle, TagCycle, Tagging, Tournament, TwoLevel,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Counts the bytes that the thread has allocated in total, those it holds, and their maximum.
struct Counting;

thread_local! {
    static TAKEN: Cell<usize> = const { Cell::new(0) };
    static HELD: Cell<usize> = const { Cell::new(0) };
    static MOST: Cell<usize> = const { Cell::new(0) };
}

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: all calls are forwarded to the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        TAKEN.set(TAKEN.get() + layout.size());
        HELD.set(HELD.get().wrapping_add(layout.size()));
        MOST.set(MOST.get().max(HELD.get()));
        // SAFETY: the caller's guarantee is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.set(HELD.get().wrapping_sub(layout.size()));
        // SAFETY: the caller's guarantee is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[test]
fn nothing_is_allocated_after_the_start() {
    for (name, program) in programs::PROGRAMS {
        let calls = program();
        let before = TAKEN.get();
        let mut predictor = Tournament::new();
        let taken = TAKEN.get() - before;
        assert_eq!(taken + size_of::<Tournament>(), predictor.bytes(), "{name}");
        for (site, message) in calls {
            predictor.predict(None);
            predictor.predict(Some(site));
            predictor.observe(site, message);
        }
        assert_eq!(TAKEN.get() - before, taken, "{name}");
    }
}

/// Calls for which the predictors of the paper need much memory, with a description.
fn costly(calls: u32) -> [(&'static str, Vec<(Tag, Id)>); 5] {
    let of = |call: fn(u32) -> (Tag, Id)| (0..calls).map(call).collect();
    [
        // A cycle that never closes.
        ("one call after the other", of(|call| (0, call))),
        // A cycle for every second call, at one site and at many sites.
        ("each message twice", of(|call| (0, call / 2))),
        ("each message twice at sites in turn", of(|call| (u64::from(call % 1024), call / 2048))),
        // A cycle of messages, and one of sites, for every second call.
        (
            "each site after each other site twice",
            of(|call| {
                let [from, to] = [call / 2048, call % 2048 / 4].map(u64::from);
                (if call % 2 == 0 { from } else { 1000 + to }, call / 4)
            }),
        ),
        // Cycles whose messages recur soon, so that the phase continues.
        ("each message five times", of(|call| (0, call / 5))),
    ]
}

/// Creates a predictor with or without the initialisation phase.
type New = fn(bool) -> Box<dyn Predictor<Id>>;

/// For any calls, the predictors of the paper take at most this number of bytes per call; `mpress predict` uses this to bound its memory.
#[test]
fn the_predictors_of_the_paper_take_a_bounded_memory_for_each_call() {
    const CALLS: u32 = 1 << 18;
    let predictors: [New; 5] = [
        |phase| Box::new(SingleCycle::new(phase)),
        |_| Box::new(Tagging::default()),
        |phase| Box::new(TagCycle::new(phase)),
        |phase| Box::new(TagBettercycle::new(phase)),
        |phase| Box::new(TwoLevel::new(TagBettercycle::new(phase), TagBettercycle::new(phase))),
    ];
    for (program, calls) in costly(CALLS) {
        for (at, new) in predictors.iter().enumerate() {
            for phase in [true, false] {
                let before = HELD.get();
                MOST.set(before);
                let mut predictor = new(phase);
                calls.iter().for_each(|(tag, message)| predictor.observe(*tag, *message));
                let bytes = (MOST.get() - before) as f64 / f64::from(CALLS);
                println!("{bytes:5.1} bytes a call, predictor {at}, phase {phase}, {program}");
                assert!(
                    bytes <= 50.0,
                    "{bytes} bytes for each call, predictor {at}, phase {phase}, {program}"
                );
            }
        }
    }
}
