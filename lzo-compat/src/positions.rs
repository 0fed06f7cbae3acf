//! The table of positions: the places in the message where similar bytes occurred before.

/// The binary logarithm of the number of entries.
const LOG2: u32 = 14;
/// The binary logarithm of the number of entries that [`Positions::last`] uses: its 16 KiB fit in the first-level cache along with the message.
const LOG2_LAST: u32 = 12;
/// The gap in positions between two messages: greater than any window.
const GAP: u32 = 1 << 16;
/// The number of entries in a bucket.
pub(crate) const WAYS: usize = 4;

/// Positions by hash. They are counted from the first message on, not from the current one, so the table need not be cleared for each message:
/// entries of earlier messages are farther away than any window.
#[derive(Clone, Debug)]
pub struct Positions {
    entries: [u32; 1 << LOG2],
    /// The position of the message's first byte.
    base: u32,
    /// The first position that no message has used.
    next: u32,
}

impl Positions {
    pub(crate) const fn new() -> Self {
        Self { entries: [0; 1 << LOG2], base: GAP, next: GAP }
    }

    /// Begins a message of `len` bytes.
    pub(crate) fn begin(&mut self, len: usize) {
        let behind = |base: u32| base.checked_add(u32::try_from(len).ok()?)?.checked_add(GAP);
        (self.base, self.next) = match behind(self.next) {
            Some(next) => (self.next, next),
            None => {
                self.entries.fill(0);
                // Positions in a message of 4 GiB or more wrap. That is harmless, because the bytes themselves are compared.
                (GAP, behind(GAP).unwrap_or(u32::MAX))
            }
        };
    }

    /// The distance from `at` back to the last bytes that equal the five lowest of `word`, by hash; `at` becomes the last. Five bytes, because a copy
    /// of four hardly pays.
    #[inline(always)]
    pub(crate) fn last(&mut self, word: u64, at: usize) -> usize {
        let position = self.base.wrapping_add(at as u32);
        let entry = &mut self.entries[hash(word, 5, LOG2_LAST)];
        let distance = position.wrapping_sub(*entry);
        *entry = position;
        distance as usize
    }

    /// The distances from `at` back to the last bytes that equal the four lowest of `word`, by hash, nearest first; `at` becomes the last.
    #[inline(always)]
    pub(crate) fn bucket(&mut self, word: u64, at: usize) -> [usize; WAYS] {
        let position = self.base.wrapping_add(at as u32);
        let entry = &mut self.entries.as_chunks_mut::<WAYS>().0[hash(word, 4, LOG2 - WAYS.ilog2())];
        let distances = entry.map(|entry| position.wrapping_sub(entry) as usize);
        *entry = [position, entry[0], entry[1], entry[2]];
        distances
    }
}

/// A hash of `bits` bits of the lowest `bytes` bytes of `word`: the highest bits of the product with 2^64 / golden ratio (Knuth, The Art of Computer
/// Programming 3, 6.4).
#[inline(always)]
fn hash(word: u64, bytes: u32, bits: u32) -> usize {
    ((word << (64 - 8 * bytes)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_earlier_message_left_is_out_of_reach() {
        let mut positions = Positions::new();
        for len in [1000, 2000] {
            positions.begin(len);
            assert!(positions.last(7, 400) > GAP as usize);
            assert_eq!(positions.last(7, 500), 100);
            assert!(positions.bucket(9, 600).into_iter().all(|distance| distance > GAP as usize));
            assert_eq!(positions.bucket(9, 601)[0], 1);
        }
    }

    #[test]
    fn positions_begin_again_where_they_would_overflow() {
        let mut positions = Positions::new();
        positions.begin((u32::MAX - 3 * GAP) as usize);
        positions.last(7, 400);
        positions.begin(GAP as usize + 1);
        assert_eq!((positions.base, positions.next), (GAP, 3 * GAP + 1));
        assert_eq!(positions.last(7, 0), GAP as usize);
        // A message that exhausts all positions, and the next one.
        positions.begin(usize::MAX);
        assert_eq!((positions.base, positions.next), (GAP, u32::MAX));
        positions.begin(1);
        assert_eq!((positions.base, positions.next), (GAP, 2 * GAP + 1));
    }
}
