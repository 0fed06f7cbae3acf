//! Skips work that does not pay off.
#![forbid(unsafe_code)]

/// Skips items after some that did not pay off: the longer the run of misses, the more are skipped.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BackOff {
    misses: u8,
    rest: u8,
}

impl BackOff {
    /// Whether to skip the next one.
    pub(super) fn skips(&mut self) -> bool {
        let skips = self.rest > 0;
        self.rest -= u8::from(skips);
        skips
    }

    /// Records whether the last item paid off. `rest` gives the number to skip from the number of misses in a row, which is
    /// counted up to `most`.
    pub(super) fn learn(&mut self, hit: bool, most: u8, rest: impl Fn(u8) -> u8) {
        if hit {
            self.misses = 0;
        } else {
            self.misses = (self.misses + 1).min(most);
            self.rest = rest(self.misses);
        }
    }
}
