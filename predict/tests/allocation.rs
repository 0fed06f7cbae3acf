//! The tournament predictor takes its memory at once, and none later.

mod programs;

use mpress_predict::{Predictor, Tournament};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Counts what the thread takes.
struct Counting;

thread_local! {
    static TAKEN: Cell<usize> = const { Cell::new(0) };
}

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: everything is left to the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        TAKEN.set(TAKEN.get() + layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
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
