//! Cold caches: codecs as programs meet them, after work of their own has taken the caches from code and data of the codec.
//!
//! That work is imitated before a message is timed ([`Work`]). It takes milliseconds, so only a [`sample`] of the messages is timed cold, and a
//! [`Surcharge`] for the others is fitted to these times.

use std::hint::black_box;

/// The memory that a program works on between two messages, in bytes: more than caches of a core and TLBs reach.
const MEMORY: usize = 64 << 20;
/// The bytes from one access to the next: a line of the caches.
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
    /// Works on all of the memory, some milliseconds.
    pub fn run(&mut self) {
        self.words.iter_mut().step_by(LINE / size_of::<u64>()).for_each(|word| *word = word.wrapping_add(1));
        black_box(&mut self.words);
    }
}

/// Up to `most` indices of messages of these lengths, all lengths alike: by half octaves in turn, and from all over each. They are in order.
#[must_use]
pub fn sample(lens: &[usize], most: usize) -> Vec<usize> {
    let mut classes: Vec<(usize, Vec<usize>)> = Vec::new();
    for (at, len) in lens.iter().enumerate() {
        let class = (len * len).max(1).ilog2() as usize;
        match classes.iter_mut().find(|(other, _)| *other == class) {
            Some((_, members)) => members.push(at),
            None => classes.push((class, vec![at])),
        }
    }
    // Small classes first: what they leave of their shares is for the others.
    classes.sort_by_key(|(_, members)| members.len());
    let (mut left, mut chosen) = (most, Vec::new());
    for (at, (_, members)) in classes.iter().enumerate() {
        let share = (left / (classes.len() - at)).min(members.len());
        chosen.extend((0..share).map(|i| members[i * members.len() / share]));
        left -= share;
    }
    chosen.sort_unstable();
    chosen
}

/// What a codec takes longer for a message if caches are cold.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Surcharge {
    /// Nanoseconds for any message.
    pub start_ns: f64,
    /// Nanoseconds for each byte of the message.
    pub ns_per_byte: f64,
}

impl Surcharge {
    /// The line through these lengths in bytes and extra nanoseconds: the median of the slopes between any two, then the median of what is left
    /// (the estimator of Theil and Sen), so that messages during which the process was interrupted do not count. Neither part is negative.
    #[must_use]
    pub fn fit(points: &[(usize, f64)]) -> Self {
        let mut slopes = Vec::new();
        for (at, &(len, ns)) in points.iter().enumerate() {
            for &(other_len, other_ns) in points.iter().skip(at + 1).filter(|(other, _)| *other != len) {
                slopes.push((other_ns - ns) / (other_len as f64 - len as f64));
            }
        }
        let ns_per_byte = median(slopes).unwrap_or(0.0).max(0.0);
        let left = points.iter().map(|&(len, ns)| ns - ns_per_byte * len as f64);
        Self { start_ns: median(left.collect()).unwrap_or(0.0).max(0.0), ns_per_byte }
    }

    /// Nanoseconds for a message of this number of bytes.
    #[must_use]
    pub fn ns(&self, len: usize) -> f64 {
        self.start_ns + self.ns_per_byte * len as f64
    }
}

/// The middle value.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_all_lengths() {
        let lens: Vec<_> = (0..1000).map(|at| if at % 100 == 7 { 1 << 20 } else { 4096 + at % 8 * 8 }).collect();
        let chosen = sample(&lens, 48);
        assert_eq!(chosen.iter().filter(|at| lens[**at] == 1 << 20).count(), 10);
        assert_eq!(chosen.len(), 48);
        assert!(chosen.is_sorted_by(|one, other| one < other) && chosen[47] > 900);
        assert_eq!(sample(&[1024, 0, 5000], 48), [0, 1, 2]);
        assert_eq!(sample(&lens, 1).len(), 1);
        assert!(sample(&[], 48).is_empty() && sample(&lens, 0).is_empty());
    }

    #[test]
    fn a_surcharge_is_found_in_spite_of_interruptions() {
        let points: Vec<_> = (1..40)
            .map(|at| (at * 1000, if at % 5 == 0 { 4e6 } else { 20_000.0 + at as f64 * 1000.0 * 0.25 }))
            .collect();
        let found = Surcharge::fit(&points);
        assert!((found.ns_per_byte - 0.25).abs() < 0.01 && (found.start_ns - 20_000.0).abs() < 300.0, "{found:?}");
        assert!((found.ns(4000) - 21_000.0).abs() < 300.0);
    }

    #[test]
    fn a_surcharge_is_never_negative() {
        assert_eq!(Surcharge::fit(&[]), Surcharge::default());
        let one = Surcharge::fit(&[(4096, 700.0); 3]);
        assert_eq!((one.start_ns, one.ns_per_byte), (700.0, 0.0));
        assert_eq!(Surcharge::fit(&[(1000, -50.0), (2000, -90.0)]), Surcharge::default());
    }
}
