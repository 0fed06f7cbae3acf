//! Cold caches: codecs as programs meet them, after the program's own work has evicted the codec's code and data from the caches.
//!
//! [`Work`] imitates that work before a message is timed. It takes milliseconds, so only a [`sample`] of the messages is timed cold, and the
//! [`Surcharge`] of the others is derived from these. For benchmarks and the command alike: this knows no engine.

use std::collections::BTreeMap;
use std::hint::black_box;

/// The size in bytes of the memory worked on: more than TLBs and a core's caches and share of the last cache cover. With this size, codecs take as
/// long as in a job of two ranks that work on 64 MiB each between two messages (`benches/record/replay.txt`).
const MEMORY: usize = 96 << 20;
/// The distance in bytes from one access to the next: a cache line.
const LINE: usize = 64;

/// The work of a program between two messages.
#[derive(Debug)]
pub struct Work {
    words: Vec<u64>,
}

impl Default for Work {
    fn default() -> Self {
        // Not zeros: pages of zeros that were never written are one page.
        Self { words: vec![1; MEMORY / size_of::<u64>()] }
    }
}

impl Work {
    /// Works on all of the memory, for some milliseconds.
    pub fn run(&mut self) {
        self.words.iter_mut().step_by(LINE / size_of::<u64>()).for_each(|word| *word = word.wrapping_add(1));
        black_box(&mut self.words);
    }
}

/// Up to `most` indices of messages of these lengths, in order: the same number from each half octave, if it has that many, spread over it.
#[must_use]
pub fn sample(lens: &[usize], most: usize) -> Vec<usize> {
    let mut classes: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (at, len) in lens.iter().enumerate() {
        classes.entry(class(*len)).or_default().push(at);
    }
    let mut classes: Vec<_> = classes.into_values().collect();
    // Small classes first: the unused part of their shares goes to the others.
    classes.sort_by_key(Vec::len);
    let (mut left, mut chosen) = (most, Vec::new());
    for (at, members) in classes.iter().enumerate() {
        let share = (left / (classes.len() - at)).min(members.len());
        chosen.extend((0..share).map(|i| members[i * members.len() / share]));
        left -= share;
    }
    chosen.sort_unstable();
    chosen
}

/// The extra time of a codec for a message with cold caches, by the message's length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surcharge {
    /// Lengths in bytes, shortest first, and nanoseconds.
    points: Vec<(f64, f64)>,
}

impl Surcharge {
    /// From the lengths of messages in bytes and the extra nanoseconds of each. Each half octave gives the median, so that messages during which the
    /// process was interrupted do not count.
    #[must_use]
    pub fn fit(messages: &[(usize, f64)]) -> Self {
        let mut messages = messages.to_vec();
        messages.sort_by_key(|(len, _)| *len);
        let same = |one: &(usize, f64), other: &(usize, f64)| class(one.0) == class(other.0);
        let point = |class: &[(usize, f64)]| {
            let len = median(class.iter().map(|(len, _)| *len as f64))?;
            Some((len, median(class.iter().map(|(_, ns)| *ns))?.max(0.0)))
        };
        Self { points: messages.chunk_by(same).filter_map(point).collect() }
    }

    /// Nanoseconds for a message of this number of bytes, interpolated between the medians of the surrounding half octaves.
    #[must_use]
    pub fn ns(&self, len: usize) -> f64 {
        let len = len as f64;
        let after = self.points.partition_point(|(other, _)| *other < len);
        match (self.points.get(after.wrapping_sub(1)), self.points.get(after)) {
            (Some((one_len, one)), Some((other_len, other))) => {
                one + (other - one) * (len - one_len) / (other_len - one_len)
            }
            (Some((_, ns)), None) | (None, Some((_, ns))) => *ns,
            (None, None) => 0.0,
        }
    }
}

/// The half octave of a length.
fn class(len: usize) -> u32 {
    let len = len.max(1);
    let octave = len.ilog2();
    2 * octave + u32::from(octave > 0 && len >> (octave - 1) & 1 == 1)
}

/// The median.
fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<_> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_all_lengths() {
        let lens: Vec<_> =
            (0..1000).map(|at| if at % 100 == 7 { 1 << 20 } else { 4096 + at % 8 * 8 }).collect();
        let chosen = sample(&lens, 48);
        assert_eq!(chosen.iter().filter(|at| lens[**at] == 1 << 20).count(), 10);
        assert_eq!(chosen.len(), 48);
        assert!(chosen.is_sorted_by(|one, other| one < other) && chosen[47] > 900);
        assert_eq!(sample(&[1024, 0, 5000], 48), [0, 1, 2]);
        assert_eq!(sample(&lens, 1).len(), 1);
        assert!(sample(&[], 48).is_empty() && sample(&lens, 0).is_empty());
    }

    #[test]
    fn classes_are_half_octaves() {
        assert_eq!([1024, 1535, 1536, 2047, 2048, 3072].map(class), [20, 20, 21, 21, 22, 23]);
        assert_eq!((class(0), class(1), class(usize::MAX)), (0, 0, 2 * usize::BITS - 1));
    }

    #[test]
    fn a_surcharge_is_found_in_spite_of_interruptions() {
        let truth = |len: usize| 5000.0 + 30.0 * (len as f64).sqrt();
        let lens = (0..240).map(|at| 1000 + at * at * 2);
        let messages = lens.enumerate().map(|(at, len)| (len, if at % 5 == 4 { 4e6 } else { truth(len) }));
        let found = Surcharge::fit(&messages.collect::<Vec<_>>());
        for len in [1000, 5000, 20_000, 70_000, 110_000] {
            let error = (found.ns(len) - truth(len)).abs() / truth(len);
            assert!(error < 0.1, "{len}: {} for {}", found.ns(len), truth(len));
        }
    }

    #[test]
    fn nothing_is_made_up() {
        assert_eq!(Surcharge::fit(&[]).ns(4096), 0.0);
        assert_eq!(Surcharge::fit(&[(4096, -50.0)]).ns(4096), 0.0);
        // Nearly equal lengths give no slope.
        let flat = Surcharge::fit(&[(32_759, 100.0), (32_760, 900.0), (32_760, 700.0)]);
        assert_eq!([1, 32_759, 1 << 30].map(|len| flat.ns(len)), [700.0; 3]);
        let line = Surcharge::fit(&[(1000, 100.0), (3000, 500.0)]);
        assert_eq!(
            [500, 1000, 2000, 3000, 9000].map(|len| line.ns(len)),
            [100.0, 100.0, 300.0, 500.0, 500.0]
        );
    }
}
