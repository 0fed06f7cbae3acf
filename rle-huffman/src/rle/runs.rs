//! Finds runs from the marks of equal symbols: which runs are long enough, and where they begin and end.
#![forbid(unsafe_code)]

/// The minimum number of repeats in a run, for symbols of this many bytes: four bytes (the maximum cost of a token unless the run is longer) and
/// one symbol.
pub(super) const fn least_run(symbol: usize) -> usize {
    4_usize.div_ceil(symbol)
}

/// The runs of symbols of `S` bytes, in order.
pub(super) struct Runs<'a, const S: usize> {
    /// For each symbol, whether the next one is equal: one bit each, lowest first; 0 for the last symbol.
    marks: &'a [[u8; 8]],
    /// The number of words taken.
    at: usize,
    words: usize,
    /// For the last word taken: the marks that are followed by enough others, and all marks in runs.
    long: u64,
    runs: u64,
    /// The marks of the next word.
    next: u64,
    /// The places in the last word taken where runs begin or end.
    edges: u64,
}

impl<'a, const S: usize> Runs<'a, S> {
    pub(super) fn new(marks: &'a [[u8; 8]], words: usize) -> Self {
        let next = marks.first().map_or(0, |word| u64::from_le_bytes(*word));
        Self { marks, at: 0, words, long: 0, runs: 0, next, edges: 0 }
    }

    /// The first and the last symbol of the next run.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<(usize, usize)> {
        Some((self.edge()?, self.edge()?))
    }

    /// The next symbol at which a run begins or ends: its mark is in a run and the previous one is not, or vice versa.
    #[inline(always)]
    fn edge(&mut self) -> Option<usize> {
        while self.edges == 0 {
            if self.at >= self.words {
                return None;
            }
            self.take_word();
        }
        let bit = self.edges.trailing_zeros() as usize;
        self.edges &= self.edges - 1;
        Some((self.at - 1) * 64 + bit)
    }

    /// Computes the marks in runs: those followed by enough others, and the same number after each of these.
    #[inline(always)]
    fn take_word(&mut self) {
        let marks = self.next;
        self.at += 1;
        self.next = self.marks.get(self.at).map_or(0, |word| u64::from_le_bytes(*word));
        // In the middle of a long run.
        if self.runs >> 63 == 1 && marks == u64::MAX && self.next == u64::MAX {
            (self.long, self.runs) = (u64::MAX, u64::MAX);
            return;
        }
        let mut long = marks;
        for i in 1..const { least_run(S) as u32 } {
            long &= marks >> i | self.next << (64 - i);
        }
        // Far from any run.
        if long | self.long == 0 {
            self.runs = 0;
            return;
        }
        let mut runs = long;
        for i in 1..const { least_run(S) as u32 } {
            runs |= long << i | self.long >> (64 - i);
        }
        self.edges = runs ^ (runs << 1 | self.runs >> 63);
        (self.long, self.runs) = (long, runs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use std::vec::Vec;

    /// All runs, found mark by mark.
    fn model(marks: &[bool], least: usize) -> Vec<(usize, usize)> {
        let mut runs = Vec::new();
        let mut at = 0;
        while at < marks.len() {
            let len = marks[at..].iter().take_while(|mark| **mark).count();
            if len >= least {
                runs.push((at, at + len));
            }
            at += len + 1;
        }
        runs
    }

    fn agree<const S: usize>(marks: &[bool]) {
        let mut bytes = [0; 1024];
        for (i, _) in marks.iter().enumerate().filter(|(_, mark)| **mark) {
            bytes[i / 8] |= 1 << (i % 8);
        }
        let mut runs = Runs::<S>::new(bytes.as_chunks().0, marks.len().div_ceil(64));
        let found: Vec<_> = core::iter::from_fn(|| runs.next()).collect();
        assert_eq!(found, model(marks, least_run(S)), "symbols of {S}: {marks:?}");
    }

    #[test]
    fn runs_are_those_of_the_definition() {
        let mut state = 1_u64;
        let mut random = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % n
        };
        // Runs about as long as the minimum, as a word, and as several words.
        for most in [2, 6, 70, 400] {
            for _ in 0..300 {
                let mut marks = Vec::new();
                while marks.len() < 2000 {
                    let (len, gap) = (random(most), random(most) + 1);
                    marks.extend((0..len).map(|_| true));
                    marks.extend((0..gap).map(|_| false));
                }
                marks.truncate(1 + random(2000) as usize);
                let last = marks.len() - 1;
                marks[last] = false;
                agree::<1>(&marks);
                agree::<2>(&marks);
                agree::<8>(&marks);
            }
        }
        for len in 1..300 {
            let marks: Vec<bool> = (1..=len).map(|i| i < len).collect();
            agree::<1>(&marks);
            agree::<4>(&marks);
        }
    }
}
