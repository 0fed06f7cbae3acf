//! Where a call is on its thread's stack, compared with an earlier one: is it made inside that one, or is that one over, left by a jump? Only places
//! on the stack that the system gave the thread are compared (`README.md`, "User-level threads").

use std::{cell::Cell, ops::Range};

/// A place on a stack, as an address.
pub(crate) type Place = usize;

/// What is known of an earlier call of this thread.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Earlier {
    /// It was made higher on the stack: the present call is inside it, or the stack has grown again since it was left.
    Around,
    /// It is over, although it did not return.
    Over,
    /// One of the two is on another stack.
    Unknown,
}

/// The place of the present call.
#[inline(always)]
pub(crate) fn here() -> Place {
    let here = 0_u8;
    (&raw const here).addr()
}

/// What is known of a call of this thread that was at this place, when the present one is `here`.
#[cold]
pub(crate) fn earlier(place: Place, here: Place) -> Earlier {
    let own = own();
    match (own.contains(&place) && own.contains(&here), place > here) {
        (false, _) => Earlier::Unknown,
        (true, true) => Earlier::Around,
        (true, false) => Earlier::Over,
    }
}

/// The stack that the system gave this thread; empty if it is not known.
fn own() -> Range<Place> {
    thread_local! {
        static OWN: Cell<Option<(Place, Place)>> = const { Cell::new(None) };
    }
    let (start, end) = OWN.get().unwrap_or_else(|| {
        let found = ask().unwrap_or((0, 0));
        OWN.set(Some(found));
        found
    });
    start..end
}

fn ask() -> Option<(Place, Place)> {
    // SAFETY: a C struct of integers and pointers, filled by the first call and freed by the last; valid output pointers.
    unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes) != 0 {
            return None;
        }
        let (mut start, mut len) = (std::ptr::null_mut(), 0);
        let code = libc::pthread_attr_getstack(&raw const attributes, &raw mut start, &raw mut len);
        libc::pthread_attr_destroy(&raw mut attributes);
        (code == 0).then(|| (start.addr(), start.addr().saturating_add(len)))
    }
}
