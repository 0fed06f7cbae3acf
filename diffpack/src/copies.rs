//! Copies: the sequences of a block as fields of as many bits as they need (format, section 9).
#![forbid(unsafe_code)]

use crate::block::window;
use crate::format::Head;
use crate::kernel::Chore;
use crate::predictor::Malformed::{self, Corrupt, Truncated};
use crate::word::Word;
use core::hint::select_unpredictable;
use core::marker::PhantomData;
use mpress_codec::{Full, Out};

/// Length in bytes of the fields after the head.
pub(crate) const FIELDS: usize = 6;
/// The maximum distance, in units.
pub(crate) const REACH: usize = u16::MAX as usize;
/// The kinds of copies: at the last distance, a short one, or a long one; and near ones.
pub(crate) const LAST: u32 = 0;
pub(crate) const SHORT: u32 = 1;
pub(crate) const LONG: u32 = 2;
pub(crate) const NEAR: u32 = 3;
/// The bytes that are copied at once where fewer are wanted.
pub(crate) const CHUNK: usize = 32;

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

    pub(crate) fn head(self) -> Head {
        Head::copies((self.words - 1) as u16, self.first as u16)
    }
}

/// How the sequences of a block are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) sequences: usize,
    pub(crate) literal_words: usize,
    pub(crate) literals: Count,
    pub(crate) copies: Count,
    /// Bits of a short and of a long distance.
    pub(crate) distances: [u32; 2],
    pub(crate) residual: u32,
}

/// Bits of a count, and of its extension.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) bits: u32,
    pub(crate) more: u32,
}

impl Count {
    /// The maximum bits of an extension.
    pub(crate) const MORE_BITS: u32 = 10;

    /// The number to which an extension is added.
    pub(crate) const fn escape(self) -> u64 {
        !(u64::MAX << self.bits)
    }
}

impl Form {
    pub(crate) fn to_wire(self) -> [u8; 8] {
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
            && form.literals.more.max(form.copies.more) <= Count::MORE_BITS;
        fits.then_some(form)
    }
}

/// A block of copies whose fields have been read.
#[derive(Clone, Copy)]
pub(crate) struct Copies {
    units: Units,
    form: Form,
    words: usize,
}

impl Copies {
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
}

/// Reads the sequences from the front of `wire` and appends the words of the block to the message that begins at `start` of `out`. The result is the
/// number of bytes of the sequences. `literals` are those of the block and [`CHUNK`] bytes after them.
pub(crate) struct Expand<'a, 'o, W> {
    pub(crate) copies: Copies,
    pub(crate) wire: &'a [u8],
    pub(crate) literals: &'a [u8],
    pub(crate) start: usize,
    pub(crate) out: &'a mut Out<'o>,
    pub(crate) word: PhantomData<W>,
}

impl<W: Word> Chore for Expand<'_, '_, W> {
    type Output = Result<usize, Malformed>;

    #[inline(always)]
    fn run(self) -> Result<usize, Malformed> {
        let Self { copies: Copies { units, form, words }, wire, literals, start, out, .. } = self;
        let mut bits = Bits { wire, at: 0 };
        let (mut place, mut last) = (0, 1);
        let (mut taken, literal_len) = (0, form.literal_words * W::WIDTH);
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
            let (some, copied) = ((from - place) * W::WIDTH, (to - from) * W::WIDTH);
            if some > literal_len - taken {
                return Err(Corrupt);
            }
            // How many there are is uncertain, and so would be a branch: few take a whole piece.
            match literals.get(taken..).and_then(|rest| rest.first_chunk::<CHUNK>()) {
                Some(these) if some <= CHUNK => out.store(these, some),
                _ => out.extend_from_slice(literals.get(taken..taken + some).unwrap_or_default()),
            }
            .map_err(|_| Corrupt)?;
            taken += some;
            let back = last * units.words * W::WIDTH;
            if back > out.len() - start {
                return Err(Corrupt);
            }
            let residual_bits = if kind == NEAR { form.residual } else { 0 };
            if copied == W::WIDTH {
                // The same for exact and near copies, because it is uncertain which they are.
                append_near::<W>(bits.residual(residual_bits), back, out)
            } else if kind == NEAR {
                (from..to).try_for_each(|_| append_near::<W>(bits.residual(residual_bits), back, out))
            } else if copied <= 2 * CHUNK && back >= CHUNK / 2 {
                out.extend_from_within(back, copied.min(CHUNK))
                    .and_then(|()| out.extend_from_within(back, copied.saturating_sub(CHUNK)))
            } else {
                out.extend_from_within(back, copied)
            }
            .map_err(|_| Corrupt)?;
            place = to;
        }
        if bits.at.div_ceil(8) > wire.len() {
            return Err(Truncated);
        }
        if literal_len - taken != (words - place) * W::WIDTH {
            return Err(Corrupt);
        }
        out.extend_from_slice(literals.get(taken..literal_len).unwrap_or_default()).map_err(|_| Corrupt)?;
        Ok(bits.at.div_ceil(8))
    }
}

/// Appends the word `back` bytes before plus the inverse zigzag of `residual`.
#[inline(always)]
fn append_near<W: Word>(residual: u64, back: usize, out: &mut Out<'_>) -> Result<(), Full> {
    let near = W::load(out.written(), out.len() - back);
    let mut word = [0; 8];
    near.plus(W::low(residual).unzigzag()).store(&mut word, 0);
    out.store(&word, W::WIDTH)
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
            // Whether there is one is uncertain, and so would be a branch.
            let more = take(select_unpredictable(number == count.escape(), count.more, 0));
            (number + more) as usize
        };
        let literals = extended(literals, form.literals);
        let copies = extended(copies, form.copies) + 1;
        let [short, long] = form.distances;
        let back = take([0, short, long, long][kind as usize]) as usize;
        self.at += used as usize;
        (literals, copies, kind, select_unpredictable(kind == LAST, last, back + 1))
    }

    #[inline(always)]
    fn residual(&mut self, count: u32) -> u64 {
        let residual = self.next() & !(u64::MAX << count);
        self.at += count as usize;
        residual
    }
}
