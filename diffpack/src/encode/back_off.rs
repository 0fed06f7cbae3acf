//! Skips what does not pay off.
#![forbid(unsafe_code)]

/// Skips some of what comes next after what did not pay off: the more, the more often that was so in a row.
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

    /// Records whether the last one paid off. After misses in a row, counted up to `most`, as many are skipped as `rest` says.
    pub(super) fn learn(&mut self, hit: bool, most: u8, rest: impl Fn(u8) -> u8) {
        if hit {
            self.misses = 0;
        } else {
            self.misses = (self.misses + 1).min(most);
            self.rest = rest(self.misses);
        }
    }
}
