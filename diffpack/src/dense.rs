//! Dense copies: the sequences of a block as fields of as many bits as they need (format, section 13).
#![forbid(unsafe_code)]

use crate::block::window;
use crate::format::Head;
use crate::kernel::{Chore, Kernel};
use crate::predictor::Malformed::{self, Corrupt, Truncated};
use crate::word::Word;
use mpress_codec::{Full, Out};

/// The maximum number of sequences that an encoder makes of a block.
pub(crate) const SEQUENCES: usize = 120;
/// Length in bytes of the fields after the head.
pub(crate) const FIELDS: usize = 6;
/// The maximum distance, in units.
pub(crate) const REACH: usize = u16::MAX as usize;
/// The number of sequences by which the bits of fields are chosen, about.
const SAMPLE: usize = 32;
/// The maximum bits of a count, and of its extension.
const COUNT_BITS: u32 = 7;
const MORE_BITS: u32 = 10;
/// The kinds of copies: at the last distance, a short one, or a long one; and near ones.
const LAST: u32 = 0;
const SHORT: u32 = 1;
const LONG: u32 = 2;
const NEAR: u32 = 3;

/// Literals and copies, in units; the distance of the copies, also in units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sequence {
    pub(crate) literals: u16,
    pub(crate) copies: u16,
    pub(crate) distance: u16,
    /// The residual of a near copy of one word, as on the wire, and 1; 0 if the copies are exact.
    pub(crate) residual: u16,
}

/// The units of a block: their words, and those of a first unit that began before the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Units {
    pub(crate) words: usize,
    pub(crate) first: usize,
}

impl Units {
    /// The word at which `units` units from word `at` end, if the block does not end before.
    #[inline(always)]
    pub(crate) fn end(self, at: usize, units: usize) -> usize {
        let missing = if at == 0 && self.first > 0 && units > 0 { self.words - self.first } else { 0 };
        at + units * self.words - missing
    }

    fn head(self) -> Head {
        Head::dense((self.words - 1) as u16, self.first as u16)
    }
}

/// How the sequences of a block are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Form {
    sequences: usize,
    literal_words: usize,
    literals: Count,
    copies: Count,
    /// Bits of a short and of a long distance.
    distances: [u32; 2],
    residual: u32,
}

/// Bits of a count, and of its extension.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    bits: u32,
    more: u32,
}

impl Count {
    /// The form in which some counts take the fewest bits. `lens` says how many numbers there are of each bit length, of counts plus 1.
    #[inline(always)]
    fn of(lens: &[u16; 12], greatest: usize) -> Self {
        let total: u32 = lens.iter().map(|n| u32::from(*n)).sum();
        let (mut best, mut least, mut longer) = (Self::default(), u32::MAX, total);
        for (bits, n) in (0..=COUNT_BITS).zip(lens) {
            longer -= u32::from(*n);
            let more = bit_len(greatest.saturating_sub((1 << bits) - 1));
            let cost = total * bits + longer * more;
            if cost < least && more <= MORE_BITS {
                (best, least) = (Self { bits, more }, cost);
            }
        }
        best
    }

    const fn escape(self) -> u64 {
        !(u64::MAX << self.bits)
    }
}

const fn bit_len(number: usize) -> u32 {
    usize::BITS - number.leading_zeros()
}

impl Form {
    #[inline(always)]
    fn of(sequences: &[Sequence], literal_words: usize) -> Self {
        let mut most = Sequence::default();
        for sequence in sequences {
            most.literals = most.literals.max(sequence.literals);
            most.copies = most.copies.max(sequence.copies);
            most.distance = most.distance.max(sequence.distance);
            most.residual = most.residual.max(sequence.residual);
        }
        let (mut literals, mut copies, mut distances) = ([0; 12], [0; 12], [0; 17]);
        let count = |lens: &mut [u16], number: u16| {
            if let Some(n) = lens.get_mut(16 - number.leading_zeros() as usize) {
                *n += 1;
            }
        };
        // Some of many are enough to choose by.
        let step = 1 + sequences.len() / SAMPLE;
        let mut last = 1;
        for sequence in sequences.iter().step_by(step) {
            count(&mut literals, sequence.literals + 1);
            count(&mut copies, sequence.copies);
            if sequence.distance != last || sequence.residual > 0 {
                count(&mut distances, sequence.distance - 1);
            }
            last = sequence.distance;
        }
        // A long distance has at least a bit.
        let long = bit_len(usize::from(most.distance.saturating_sub(1))).max(1);
        let (mut short, mut least, mut shorter) = (0, u32::MAX, 0);
        let total: u32 = distances.iter().map(|n| u32::from(*n)).sum();
        for (bits, n) in (0..long).zip(&distances) {
            shorter += u32::from(*n);
            let cost = shorter * bits + (total - shorter) * long;
            if cost < least {
                (short, least) = (bits, cost);
            }
        }
        Self {
            sequences: sequences.len(),
            literal_words,
            literals: Count::of(&literals, most.literals.into()),
            copies: Count::of(&copies, usize::from(most.copies).saturating_sub(1)),
            distances: [short, long],
            residual: bit_len(usize::from(most.residual.saturating_sub(1))),
        }
    }

    fn to_wire(self) -> [u8; 8] {
        let Self { literals, copies, distances: [short, long], .. } = self;
        let fields = [
            (0, self.sequences as u64),
            (11, self.literal_words as u64),
            (22, literals.bits.into()),
            (25, copies.bits.into()),
            (28, literals.more.into()),
            (32, copies.more.into()),
            (36, short.into()),
            (40, (long - 1).into()),
            (44, self.residual.into()),
        ];
        fields.iter().fold(0, |all, (at, field)| all | field << at).to_le_bytes()
    }

    /// `None` if a field is out of its range in a block of `words` words.
    fn from_wire(fields: [u8; FIELDS], words: usize) -> Option<Self> {
        let mut all = [0; 8];
        all[..FIELDS].copy_from_slice(&fields);
        let all = u64::from_le_bytes(all);
        let field = |at: u32, bits: u32| (all >> at & !(u64::MAX << bits)) as u32;
        let form = Self {
            sequences: field(0, 11) as usize,
            literal_words: field(11, 11) as usize,
            literals: Count { bits: field(22, 3), more: field(28, 4) },
            copies: Count { bits: field(25, 3), more: field(32, 4) },
            distances: [field(36, 4), field(40, 4) + 1],
            residual: field(44, 4),
        };
        let fits = (1..=words).contains(&form.sequences)
            && form.literal_words <= words
            && form.literals.more.max(form.copies.more) <= MORE_BITS;
        fits.then_some(form)
    }
}

/// Writes the head and the fields of a block; then, by `write_literals`, its literals; then the sequences.
#[inline(always)]
pub(crate) fn write<W: Word, K: Kernel<W>>(
    kernel: K,
    units: Units,
    sequences: &[Sequence],
    literal_words: usize,
    out: &mut Out<'_>,
    write_literals: impl FnOnce(&mut Out<'_>) -> Result<(), Full>,
) -> Result<(), Full> {
    let form = kernel.compiled(Measure(sequences, literal_words));
    out.extend_from_slice(&units.head().0.to_le_bytes())?;
    out.store(&form.to_wire(), FIELDS)?;
    if literal_words > 0 {
        write_literals(out)?;
    }
    kernel.compiled(Write { form, sequences, out })
}

/// Finds the form in which some sequences take the fewest bits.
struct Measure<'a>(&'a [Sequence], usize);

impl Chore for Measure<'_> {
    type Output = Form;

    #[inline(always)]
    fn run(self) -> Form {
        Form::of(self.0, self.1)
    }
}

/// Writes some sequences.
struct Write<'a, 'o> {
    form: Form,
    sequences: &'a [Sequence],
    out: &'a mut Out<'o>,
}

impl Chore for Write<'_, '_> {
    type Output = Result<(), Full>;

    #[inline(always)]
    fn run(self) -> Result<(), Full> {
        write_sequences(self.form, self.sequences, self.out)
    }
}

#[inline(always)]
fn write_sequences(form: Form, sequences: &[Sequence], out: &mut Out<'_>) -> Result<(), Full> {
    let Form { literals, copies, distances: [short, long], residual, .. } = form;
    // Fewer than 8 bits wait to be written; a sequence adds at most 52, a residual 15.
    let (mut waiting, mut bits, mut last) = (0_u64, 0, 1);
    let (mut packed, mut len) = ([0; 9 * SEQUENCES + 8], 0);
    let mut drain = |waiting: &mut u64, bits: &mut u32| {
        if let Some(to) = packed.get_mut(len..).and_then(|rest| rest.first_chunk_mut()) {
            *to = waiting.to_le_bytes();
        }
        len += *bits as usize / 8;
        *waiting >>= *bits & !7;
        *bits &= 7;
    };
    for sequence in sequences {
        let (some, copied) = (u64::from(sequence.literals), u64::from(sequence.copies) - 1);
        let back = u64::from(sequence.distance) - 1;
        let is_near = sequence.residual > 0;
        let kind = if back >> short == 0 { SHORT } else { LONG };
        let kind = if sequence.distance == last { LAST } else { kind };
        let kind = if is_near { NEAR } else { kind };
        last = sequence.distance;
        let (more, more_copied) =
            (some.saturating_sub(literals.escape()), copied.saturating_sub(copies.escape()));
        // Fields that are not there have no bits: which are is uncertain, and so would be a branch.
        let mut put = |number: u64, count: u32| {
            waiting |= (number & !(u64::MAX << count)) << bits;
            bits += count;
        };
        put(some.min(literals.escape()), literals.bits);
        put(copied.min(copies.escape()), copies.bits);
        put(kind.into(), 2);
        put(more, if some >= literals.escape() { literals.more } else { 0 });
        put(more_copied, if copied >= copies.escape() { copies.more } else { 0 });
        put(back, [0, short, long, long][kind as usize]);
        drain(&mut waiting, &mut bits);
        if is_near {
            waiting |= u64::from(sequence.residual - 1) << bits;
            bits += residual;
            drain(&mut waiting, &mut bits);
        }
    }
    bits += 7;
    drain(&mut waiting, &mut bits);
    out.extend_from_slice(packed.get(..len).unwrap_or_default())
}

/// A block of dense copies whose fields have been read.
#[derive(Clone, Copy)]
pub(crate) struct Dense {
    units: Units,
    form: Form,
    words: usize,
}

impl Dense {
    /// `units` are the fields of the head. `None` if a field is out of its range in a block of `words` words.
    pub(crate) fn from_wire(units: (u16, u16), fields: [u8; FIELDS], words: usize) -> Option<Self> {
        let units = Units { words: usize::from(units.0) + 1, first: units.1.into() };
        let form = Form::from_wire(fields, words)?;
        (units.first < units.words).then_some(Self { units, form, words })
    }

    /// The number of literal words.
    pub(crate) fn literal_words(&self) -> usize {
        self.form.literal_words
    }

    /// Reads the sequences from the front of `wire` and appends the words of the block to the message that begins at `start` of `out`. Returns the
    /// bytes of the sequences.
    #[inline(always)]
    pub(crate) fn expand<W: Word>(
        &self,
        wire: &[u8],
        mut literals: &[u8],
        start: usize,
        out: &mut Out<'_>,
    ) -> Result<usize, Malformed> {
        let Self { units, form, words } = *self;
        let mut bits = Bits { wire, at: 0 };
        let (mut place, mut last) = (0, 1);
        for _ in 0..form.sequences {
            let (some, copied, kind, distance) = bits.sequence(&form, last);
            if bits.at.div_ceil(8) > wire.len() {
                return Err(Truncated);
            }
            last = distance;
            let from = units.end(place, some);
            let to = units.end(from, copied);
            if from >= words || to >= words + units.words {
                return Err(Corrupt);
            }
            let to = to.min(words);
            let these;
            (these, literals) = literals.split_at_checked((from - place) * W::WIDTH).ok_or(Corrupt)?;
            out.extend_from_slice(these).map_err(|_| Corrupt)?;
            let back = last * units.words * W::WIDTH;
            if back > out.len() - start {
                return Err(Corrupt);
            }
            if kind == NEAR {
                for _ in from..to {
                    let residual = W::low(bits.residual(form.residual)).unzigzag();
                    let near = W::load(out.written(), out.len() - back);
                    let mut word = [0; 8];
                    near.plus(residual).store(&mut word, 0);
                    out.store(&word, W::WIDTH).map_err(|_| Corrupt)?;
                }
            } else {
                out.extend_from_within(back, (to - from) * W::WIDTH).map_err(|_| Corrupt)?;
            }
            place = to;
        }
        if bits.at.div_ceil(8) > wire.len() {
            return Err(Truncated);
        }
        if literals.len() != (words - place) * W::WIDTH {
            return Err(Corrupt);
        }
        out.extend_from_slice(literals).map_err(|_| Corrupt)?;
        Ok(bits.at.div_ceil(8))
    }
}

/// The sequences on the wire, and the next bit.
struct Bits<'a> {
    wire: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    /// At least 57 bits from the next one on; zeros past the end.
    #[inline(always)]
    fn next(&self) -> u64 {
        let mut spare = [0; 8];
        u64::from_le_bytes(*window(self.wire, self.at / 8, &mut spare)) >> (self.at % 8)
    }

    /// Literals, copies, kind and distance of the next sequence. All its fields fit in the bits that are loaded at once.
    #[inline(always)]
    fn sequence(&mut self, form: &Form, last: usize) -> (usize, usize, u32, usize) {
        let (mut bits, mut used) = (self.next(), 0);
        let mut take = |count: u32| {
            let number = bits & !(u64::MAX << count);
            bits >>= count;
            used += count;
            number
        };
        let (literals, copies, kind) = (take(form.literals.bits), take(form.copies.bits), take(2) as u32);
        let mut extended = |number: u64, count: Count| {
            let more = if number == count.escape() { take(count.more) } else { 0 };
            (number + more) as usize
        };
        let literals = extended(literals, form.literals);
        let copies = extended(copies, form.copies) + 1;
        let [short, long] = form.distances;
        let back = take([0, short, long, long][kind as usize]) as usize;
        self.at += used as usize;
        (literals, copies, kind, if kind == LAST { last } else { back + 1 })
    }

    #[inline(always)]
    fn residual(&mut self, count: u32) -> u64 {
        let residual = self.next() & !(u64::MAX << count);
        self.at += count as usize;
        residual
    }
}
