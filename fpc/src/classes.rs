//! Length classes: the residual lengths that a block distinguishes (format, section 5).
#![forbid(unsafe_code)]

use crate::format::MAX_CLASSES;
use crate::word::Word;

/// The number of lengths: 0 to 8 bytes.
pub(crate) const LENGTHS: usize = 9;

/// A set of up to eight lengths, shortest first. A value belongs to the first class into which its residual fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Classes {
    /// Bit *i* is set if length *i* is a class.
    set: u16,
}

impl Classes {
    /// The classes in a block's head; `None` if they are invalid.
    pub(crate) fn from_head<W: Word>(set: u16) -> Option<Self> {
        let lengths_of_word = (2 << W::WIDTH) - 1;
        (set & !lengths_of_word == 0 && (1..=MAX_CLASSES as u32).contains(&set.count_ones()))
            .then_some(Self { set })
    }

    pub(crate) fn head(self) -> u16 {
        self.set
    }

    /// The number of bit planes that give the class of a value.
    pub(crate) fn planes(self) -> usize {
        self.set.count_ones().next_power_of_two().ilog2() as usize
    }

    /// The values, of 64, whose class number is invalid. Compares all numbers at once with the greatest valid one, from the lowest bit up.
    pub(crate) fn absent(self, planes: [u64; 3]) -> u64 {
        let highest = self.set.count_ones() - 1;
        (0..).zip(planes).fold(
            0,
            |above, (bit, plane)| {
                if highest >> bit & 1 == 1 { above & plane } else { above | plane }
            },
        )
    }

    /// The length of each class; 0 for missing classes.
    pub(crate) fn lengths(self) -> [u8; MAX_CLASSES] {
        let mut lengths = [0; MAX_CLASSES];
        let mut left = self.set;
        for length in &mut lengths {
            if left == 0 {
                break;
            }
            *length = left.trailing_zeros() as u8;
            left &= left - 1;
        }
        lengths
    }

    /// The class number of each length. Lengths longer than every class get an arbitrary number.
    pub(crate) fn codes(self) -> [u8; 16] {
        core::array::from_fn(|length| (self.set & ((1 << length) - 1)).count_ones() as u8 % MAX_CLASSES as u8)
    }

    /// The classes for a block with this number of residuals of each length, and the size in bytes of its bit planes (including the one for the
    /// predictors) and residuals.
    ///
    /// Starts with one class for each length that occurs, and repeatedly merges the class that is cheapest to remove into the next one, as long as
    /// there are two. On real messages the result is within 0.01 % of the best classes.
    pub(crate) fn choose(mut counts: [u32; LENGTHS]) -> (Self, usize) {
        let values: u32 = counts.iter().sum();
        let plane = values.div_ceil(8);
        let mut set =
            (0..LENGTHS).filter(|length| counts[*length] > 0).fold(0, |set, length| set | 1 << length);
        let mut bytes: u32 = (0..).zip(counts).map(|(length, count)| length * count).sum();
        let mut best = (Self { set: 1 << (LENGTHS - 1) }, u32::MAX);
        loop {
            let classes = Self { set };
            let cost = bytes + (classes.planes() as u32 + 1) * plane;
            if set.count_ones() <= MAX_CLASSES as u32 && cost < best.1 {
                best = (classes, cost);
            }
            let mut cheapest = (u32::MAX, 0, 0);
            let mut left = set;
            while left & left.wrapping_sub(1) != 0 {
                let length = left.trailing_zeros();
                left &= left - 1;
                let next = left.trailing_zeros();
                cheapest = cheapest.min((counts[length as usize] * (next - length), length, next));
            }
            let (more, length, next) = cheapest;
            if next == 0 {
                break;
            }
            set &= !(1 << length);
            bytes += more;
            counts[next as usize] += counts[length as usize];
        }
        (best.0, best.1 as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The best classes, found by trying every set.
    fn best(counts: [u32; LENGTHS]) -> usize {
        let values: u32 = counts.iter().sum();
        let cost = |classes: Classes| {
            let planes = classes.planes() + 1;
            let fits = |length| (length..LENGTHS).find(|class| classes.set >> class & 1 == 1);
            let bytes = (0..LENGTHS).zip(counts).filter(|(_, count)| *count > 0);
            let bytes = bytes.map(|(length, count)| Some(fits(length)? * count as usize));
            Some(bytes.sum::<Option<usize>>()? + planes * values.div_ceil(8) as usize)
        };
        (1..1 << LENGTHS).filter_map(Classes::from_head::<u64>).filter_map(cost).min().unwrap_or_default()
    }

    #[test]
    fn merging_finds_classes_near_the_best() {
        for (counts, more) in [
            ([0, 0, 0, 0, 0, 0, 960, 0, 0], 0),
            ([960, 0, 0, 0, 0, 0, 0, 0, 0], 0),
            ([0, 0, 0, 0, 1, 20, 300, 600, 39], 0),
            ([100, 2, 3, 5, 50, 200, 200, 300, 100], 0),
            ([107, 107, 107, 107, 107, 107, 106, 106, 106], 0),
            ([1, 1, 1, 1, 1, 1, 1, 1, 1], 0),
            ([500, 0, 0, 0, 0, 0, 0, 10, 450], 0),
        ] {
            let (classes, cost) = Classes::choose(counts);
            assert!(cost <= best(counts) + more, "{counts:?}: {cost}, {classes:?}, best {}", best(counts));
            assert_eq!(Classes::from_head::<u64>(classes.head()), Some(classes));
        }
    }

    #[test]
    fn codes_and_lengths_belong_together() {
        let classes = Classes { set: 0b1_1010_0001 };
        assert_eq!((classes.planes(), classes.lengths()), (2, [0, 5, 7, 8, 0, 0, 0, 0]));
        assert_eq!(classes.codes()[..9], [0, 1, 1, 1, 1, 1, 2, 2, 3]);
        assert_eq!([1, 2, 3, 5, 0xff].map(|set| Classes { set }.planes()), [0, 0, 1, 1, 3]);
    }

    #[test]
    fn numbers_above_the_highest_class_are_absent() {
        // Value i has number i.
        let planes = [0xaa, 0xcc, 0xf0];
        for classes in 1..=8 {
            let set = (1 << classes) - 1;
            assert_eq!(Classes { set }.absent(planes), 0xff & !u64::from(set), "{classes} classes");
        }
    }

    #[test]
    fn a_head_names_one_to_eight_lengths_of_the_word() {
        let known =
            |set| (Classes::from_head::<u64>(set).is_some(), Classes::from_head::<u32>(set).is_some());
        assert_eq!(
            [0, 1, 0x10, 0x1f, 0x20].map(known),
            [(false, false), (true, true), (true, true), (true, true), (true, false)]
        );
        assert_eq!(
            [0x100, 0x1fe, 0x1ff, 0x200].map(known),
            [(true, false), (true, false), (false, false), (false, false)]
        );
    }
}
