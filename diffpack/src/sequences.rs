//! The sequences of a block of copies, and how an encoder writes them (format, section 9).
#![forbid(unsafe_code)]

use crate::block::EACH;
use crate::copies::{Count, FIELDS, Form, LAST, LONG, NEAR, SHORT, Units};
use crate::format::BLOCK;
use crate::kernel::{Chore, compiled};
use core::mem::MaybeUninit;
use mpress_codec::simd::Simd;
use mpress_codec::{Full, Out};

/// Bytes that are hashed together, and the length of the shortest copy and of the shortest unit.
pub(crate) const KEY: usize = 8;
/// The maximum number of units of a block: of [`KEY`] bytes, and parts of units at both ends. A block has no more sequences.
pub(crate) const UNITS: usize = BLOCK / KEY + 2;
/// The number of sequences that are examined together.
const STEP: usize = 32;
/// Room for the sequences of a block, and a step past the last one.
const ROOM: usize = (UNITS + STEP).next_multiple_of(STEP);
/// The number of sequences by which the bits of fields are chosen, about.
const SAMPLE: usize = 32;

/// Literals and copies, in units; the distance of the copies, also in units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sequence {
    pub(crate) literals: u16,
    pub(crate) copies: u16,
    pub(crate) distance: u16,
    /// The residual of a near copy of one word, as on the wire, and 1; 0 if the copies are exact.
    pub(crate) residual: u16,
}

/// Sequences, each of their numbers in an array of its own, so that vectors hold those of several sequences.
#[derive(Clone, Debug)]
pub(crate) struct Sequences {
    literals: [u16; ROOM],
    /// The first one is unused.
    copies: [u16; ROOM + 1],
    /// The first one is the distance before the first sequence.
    distances: [u16; ROOM + 1],
    residuals: [u16; ROOM],
    len: usize,
}

impl Sequences {
    pub(crate) fn new() -> Self {
        Self {
            literals: [0; ROOM],
            copies: [0; ROOM + 1],
            distances: [1; ROOM + 1],
            residuals: [0; ROOM],
            len: 0,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn get(&self, i: usize) -> Sequence {
        Sequence {
            literals: self.literals[i],
            copies: self.copies[i + 1],
            distance: self.distances[i + 1],
            residual: self.residuals[i],
        }
    }

    /// Adds a sequence of at least one copy. There are never more than [`UNITS`], since each has at least [`KEY`] bytes.
    #[inline(always)]
    pub(crate) fn push(&mut self, sequence: Sequence) {
        debug_assert!(self.len < UNITS);
        let i = self.len.min(UNITS);
        self.literals[i] = sequence.literals;
        self.copies[i + 1] = sequence.copies;
        self.distances[i + 1] = sequence.distance;
        self.residuals[i] = sequence.residual;
        self.len = i + 1;
    }

    /// Becomes the sequences of at most [`UNITS`] units with these distances, 0 for literals. Without branches, because all is uncertain.
    #[inline(always)]
    pub(crate) fn merge(&mut self, distances: &[u16]) {
        let (mut len, mut waiting, mut copies, mut before) = (0, 0, 0, 0);
        self.residuals = [0; ROOM];
        for distance in distances.iter().take(UNITS) {
            let is_copy = *distance != 0;
            let begins = is_copy & (*distance != before);
            before = *distance;
            // Overwritten unless a sequence begins.
            self.literals[len] = waiting;
            self.distances[len + 1] = *distance;
            len += usize::from(begins);
            copies = u16::from(is_copy) + if begins { 0 } else { copies };
            self.copies[len] = copies;
            waiting = if is_copy { 0 } else { waiting + 1 };
        }
        self.len = len;
    }
}

/// How many numbers there are with more than 0, 1, 2... 7 bits, in a byte each.
type Above = u64;

/// What a number of `bits` bits adds.
#[inline(always)]
fn above(bits: u32) -> Above {
    const OF: [Above; 9] = {
        let mut of = [EACH; 9];
        let mut bits = 0;
        while bits < 8 {
            of[bits] = EACH & !(u64::MAX << (8 * bits));
            bits += 1;
        }
        of
    };
    OF[bits.min(8) as usize]
}

impl Sequences {
    /// The greatest of some numbers, of which there is one for each sequence.
    #[inline(always)]
    fn most(&self, numbers: &[u16]) -> u16 {
        let mut most = [0; STEP];
        let (steps, rest) = numbers[..self.len].as_chunks::<STEP>();
        for step in steps {
            for (most, number) in most.iter_mut().zip(step) {
                *most = (*most).max(*number);
            }
        }
        let most = most.into_iter().fold(0, u16::max);
        rest.iter().fold(most, |most, number| most.max(*number))
    }

    /// The form in which the sequences take the fewest bits.
    #[inline(always)]
    fn form(&self, literal_words: usize) -> Form {
        // Some of many are enough to choose by.
        let step = 1 + self.len / SAMPLE;
        let (mut samples, mut known) = (0, 0);
        let (mut literals, mut copies, mut distances) = (0, 0, [0; 2]);
        for i in (0..self.len).step_by(step) {
            let sequence = self.get(i);
            literals += above(bit_len(sequence.literals + 1));
            copies += above(bit_len(sequence.copies));
            let is_known = sequence.residual == 0 && sequence.distance == self.distances[i];
            // Near copies have long distances.
            let bits = if sequence.residual > 0 { 16 } else { bit_len(sequence.distance - 1) };
            let bits = if is_known { 0 } else { bits };
            distances[0] += above(bits);
            distances[1] += above(bits.saturating_sub(8));
            samples += 1;
            known += u32::from(is_known);
        }
        // A long distance has at least a bit.
        let long = bit_len(self.most(&self.distances[1..]) - 1).max(1);
        let (mut short, mut least) = (0, u32::MAX);
        for (bits, longer) in (0..long).zip(distances.map(u64::to_le_bytes).as_flattened()) {
            let longer = u32::from(*longer);
            let cost = (samples - known - longer) * bits + longer * long;
            if cost < least {
                (short, least) = (bits, cost);
            }
        }
        Form {
            sequences: self.len,
            literal_words,
            literals: count(literals, samples, self.most(&self.literals)),
            copies: count(copies, samples, self.most(&self.copies[1..]) - 1),
            distances: [short, long],
            residual: bit_len(self.most(&self.residuals).saturating_sub(1)),
        }
    }

    /// Writes the head and the fields of a block of at least one sequence; then, by `write_literals`, its literals; then the sequences.
    pub(crate) fn write(
        &self,
        simd: Simd,
        units: Units,
        literal_words: usize,
        out: &mut Out<'_>,
        write_literals: impl FnOnce(&mut Out<'_>) -> Result<(), Full>,
    ) -> Result<(), Full> {
        let form = compiled(simd, Measure(self, literal_words));
        out.extend_from_slice(&units.head().0.to_le_bytes())?;
        out.store(&form.to_wire(), FIELDS)?;
        if literal_words > 0 {
            write_literals(out)?;
        }
        compiled(simd, Write { form, sequences: self, out })
    }

    /// The bits of eight sequences from `from` on, and how many they are.
    #[inline(always)]
    fn bits(&self, form: &Form, from: usize) -> ([u64; EIGHT], [u64; EIGHT]) {
        let Form { literals, copies, distances: [short, long], residual, .. } = *form;
        let (some, copied) = (eight(&self.literals, from), eight(&self.copies, from + 1));
        let (last, distances) = (eight(&self.distances, from), eight(&self.distances, from + 1));
        let residuals = eight(&self.residuals, from);
        let (mut all, mut lens) = ([0; EIGHT], [0; EIGHT]);
        for i in 0..EIGHT {
            let (some, copied) = (some[i], copied[i].wrapping_sub(1));
            let back = distances[i].wrapping_sub(1);
            let is_near = residuals[i] > 0;
            let kind = if back >> short == 0 { SHORT } else { LONG };
            let kind = if distances[i] == last[i] { LAST } else { kind };
            let kind = if is_near { NEAR } else { kind };
            let distance_bits = if kind == SHORT { short } else { long };
            // Fields that are not there have no bits: which are is uncertain, and so would be a branch.
            let fields = [
                (some.min(literals.escape()), literals.bits),
                (copied.min(copies.escape()), copies.bits),
                (kind.into(), 2),
                (
                    some.saturating_sub(literals.escape()),
                    if some >= literals.escape() { literals.more } else { 0 },
                ),
                (
                    copied.saturating_sub(copies.escape()),
                    if copied >= copies.escape() { copies.more } else { 0 },
                ),
                (if kind == LAST { 0 } else { back }, if kind == LAST { 0 } else { distance_bits }),
                (residuals[i].saturating_sub(1), if is_near { residual } else { 0 }),
            ];
            for (number, bits) in fields {
                all[i] |= number << (lens[i] & 63);
                lens[i] += u64::from(bits);
            }
        }
        (all, lens)
    }

    #[inline(always)]
    fn write_packed(&self, form: &Form, out: &mut Out<'_>) -> Result<(), Full> {
        let mut packed = [MaybeUninit::uninit(); ROOM * 8];
        let mut packed = Out::new(&mut packed);
        // Fewer than 8 bits wait to be written. A sequence adds at most 56: exact ones at most 52. Near ones are of words of 64 bits, so that there are
        // at most 256 units, and copy one word: 15 bits of literals, 8 of copies, 2 of kind, 16 of distance and 9 of residual.
        let (mut waiting, mut bits) = (0_u64, 0);
        for from in (0..self.len).step_by(EIGHT) {
            let (all, lens) = self.bits(form, from);
            for (some, len) in all.iter().zip(lens).take(self.len - from) {
                debug_assert!(len <= 56);
                waiting |= some << bits;
                bits += len;
                packed.store(&waiting.to_le_bytes(), bits as usize / 8)?;
                waiting >>= bits & 56;
                bits &= 7;
            }
        }
        packed.store(&waiting.to_le_bytes(), usize::from(bits > 0))?;
        out.extend_from_slice(packed.written())
    }
}

/// The number of sequences whose bits are found together: as many as fit in a vector.
const EIGHT: usize = 8;

/// Eight numbers from index `from` on.
#[inline(always)]
fn eight(numbers: &[u16], from: usize) -> [u64; EIGHT] {
    numbers[from..].first_chunk::<EIGHT>().map_or([0; EIGHT], |numbers| numbers.map(u64::from))
}

/// The form in which some counts, the greatest of which is `greatest`, take the fewest bits. `above` is that of samples of the counts plus 1.
#[inline(always)]
fn count(above: Above, samples: u32, greatest: u16) -> Count {
    let (mut best, mut least) = (Count::default(), u32::MAX);
    for (bits, longer) in (0..).zip(above.to_le_bytes()) {
        let more = bit_len(greatest.saturating_sub((1 << bits) - 1));
        let cost = samples * bits + u32::from(longer) * more;
        if cost < least && more <= Count::MORE_BITS {
            (best, least) = (Count { bits, more }, cost);
        }
    }
    best
}

const fn bit_len(number: u16) -> u32 {
    u16::BITS - number.leading_zeros()
}

/// Finds the form in which some sequences take the fewest bits.
struct Measure<'a>(&'a Sequences, usize);

impl Chore for Measure<'_> {
    type Output = Form;

    #[inline(always)]
    fn run(self) -> Form {
        self.0.form(self.1)
    }
}

/// Writes some sequences.
struct Write<'a, 'o> {
    form: Form,
    sequences: &'a Sequences,
    out: &'a mut Out<'o>,
}

impl Chore for Write<'_, '_> {
    type Output = Result<(), Full>;

    #[inline(always)]
    fn run(self) -> Result<(), Full> {
        self.sequences.write_packed(&self.form, self.out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_with_one_distance_are_one_sequence() {
        let mut sequences = Sequences::new();
        sequences.push(Sequence { literals: 3, copies: 1, distance: 9, residual: 4 });
        sequences.merge(&[0, 5, 5, 6, 0, 0, 6, 0]);
        let all: [_; 3] = core::array::from_fn(|i| sequences.get(i));
        let sequence = |literals, copies, distance| Sequence { literals, copies, distance, residual: 0 };
        assert_eq!((sequences.len(), all), (3, [sequence(1, 2, 5), sequence(0, 1, 6), sequence(2, 1, 6)]));
    }

    #[test]
    fn a_block_may_have_as_many_sequences_as_units() {
        let mut sequences = Sequences::new();
        let distances: [u16; UNITS] = core::array::from_fn(|i| 1 + i as u16);
        sequences.merge(&distances);
        assert_eq!(sequences.len(), UNITS);
        let mut wire = [0; 8 * ROOM];
        let units = Units { words: 1, first: 0 };
        let mut out = Out::from_slice(&mut wire);
        let written = sequences.write(Simd::SCALAR, units, 0, &mut out, |_| Ok(()));
        assert_eq!(written, Ok(()));
    }
}
