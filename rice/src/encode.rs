//! The encoder, and the static description of the codec.
#![forbid(unsafe_code)]

use crate::block::{Block, remainders_len, rows};
use crate::decode::Decoder;
use crate::entries;
use crate::format::{BLOCK, Head, VERSION};
use crate::kernel::{self, Kernel, Work};
use crate::mapping::{Mapped, Mapping, least};
use crate::parameter::Draft;
use crate::unary::{self, Unary};
use crate::word::Word;
use core::marker::PhantomData;
use mpress_codec::simd::Simd;
use mpress_codec::{Codec, CodecId, Encode, EncodeError, Full, Out, Reset, length};
use mpress_codec_support::put_header;

/// The static description of the codec for one word: [`Rice8`](crate::Rice8), [`Rice16`](crate::Rice16), [`Rice32`](crate::Rice32),
/// [`Rice64`](crate::Rice64).
#[derive(Clone, Copy, Debug)]
pub struct Rice<W>(PhantomData<W>);

impl<W: entries::Word> Codec for Rice<W> {
    const ID: CodecId = W::ID;
    const NAME: &'static str = W::NAME;
    const WIDTH: usize = size_of::<W>();
    const STATEFUL: bool = false;

    type Encoder = Encoder<W>;
    type Decoder = Decoder<W>;

    /// [`Encoder::auto`].
    fn encoder() -> Self::Encoder {
        Encoder::auto()
    }

    fn decoder() -> Self::Decoder {
        Decoder::new()
    }
}

/// Encodes messages of words `W`. Keeps no state between messages.
#[derive(Clone, Debug)]
pub struct Encoder<W> {
    /// `None`: the best mapping is chosen for each block.
    mapping: Option<Mapping>,
    simd: Simd,
    word: PhantomData<W>,
}

impl<W: entries::Word> Encoder<W> {
    /// An encoder with this mapping for all words.
    #[must_use]
    pub fn new(mapping: Mapping) -> Self {
        Self { mapping: Some(mapping), simd: Simd::detect(), word: PhantomData }
    }

    /// An encoder that chooses the mapping for each block by an estimate of the length.
    #[must_use]
    pub fn auto() -> Self {
        Self { mapping: None, simd: Simd::detect(), word: PhantomData }
    }

    /// Uses a kernel of this tier. The wire is the same at every tier.
    #[must_use]
    pub fn with_simd(mut self, simd: Simd) -> Self {
        self.simd = simd;
        self
    }
}

impl<W: entries::Word> Reset for Encoder<W> {}

impl<W: entries::Word> Encode for Encoder<W> {
    /// `raw_len`, 2 bytes per block of 256 words, and the header (format, section 8).
    fn max_encoded_len(&self, raw_len: usize) -> Option<usize> {
        let blocks = (raw_len / size_of::<W>()).div_ceil(BLOCK);
        raw_len.checked_add(blocks.checked_mul(Head::BYTES)?)?.checked_add(1 + length::bytes(raw_len))
    }

    fn encode(&mut self, raw: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError> {
        let most = self.max_encoded_len(raw.len());
        out.attempt(most, |out| W::encode(self.simd, self.mapping, raw, out))
    }
}

/// Encodes a message.
pub(crate) fn message<W: Word>(
    simd: Simd,
    mapping: Option<Mapping>,
    raw: &[u8],
    out: &mut Out<'_>,
) -> Result<(), Full> {
    kernel::run(simd, Message::<W> { mapping, raw, out, word: PhantomData })
}

struct Message<'a, 'b, W> {
    mapping: Option<Mapping>,
    raw: &'a [u8],
    out: &'a mut Out<'b>,
    word: PhantomData<W>,
}

impl<W: Word> Work for Message<'_, '_, W> {
    type Output = Result<(), Full>;

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) -> Result<(), Full> {
        let (words, tail) = self.raw.split_at(self.raw.len() / W::WIDTH * W::WIDTH);
        put_header(&[VERSION], self.raw.len(), self.out)?;
        let mut block = BlockEncoder::<W>::new(self.mapping);
        for (raw, at) in words.chunks(BLOCK * W::WIDTH).zip((0..).step_by(BLOCK * W::WIDTH)) {
            block.read(words, at, raw.len() / W::WIDTH);
            block.encode(raw, self.out)?;
        }
        self.out.extend_from_slice(tail)
    }
}

/// Encodes consecutive blocks.
struct BlockEncoder<W> {
    mapping: Option<Mapping>,
    words: Block<W>,
    /// The word before each word in `words`.
    befores: Block<W>,
    plans: [Plan<W>; 2],
    packed: Block<W>,
    packed_bytes: [u8; BLOCK * 8],
    unary: Unary,
}

/// A mapping of a block, and its result.
struct Plan<W> {
    mapped: Mapped<W>,
    residuals: Block<W>,
    draft: Draft,
}

impl<W: Word> Plan<W> {
    #[inline(always)]
    fn new() -> Self {
        let mapped = Mapped { mapping: Mapping::Unsigned, reference: W::ZERO };
        Self { mapped, residuals: Block::zeroed(), draft: Draft::ZERO }
    }

    #[inline(always)]
    fn estimate(&self, count: usize) -> u32 {
        self.draft.estimate(count as u32) + 8 * self.mapped.mapping.reference_len::<W>() as u32
    }
}

impl<W: Word> BlockEncoder<W> {
    #[inline(always)]
    fn new(mapping: Option<Mapping>) -> Self {
        Self {
            mapping,
            words: Block::zeroed(),
            befores: Block::zeroed(),
            plans: [Plan::new(), Plan::new()],
            packed: Block::zeroed(),
            packed_bytes: [0; BLOCK * 8],
            unary: unary::ZERO,
        }
    }

    /// Reads the block of `count` words at byte `at` of the message.
    #[inline(always)]
    fn read(&mut self, message: &[u8], at: usize, count: usize) {
        W::read(&message[at..], &mut self.words.0);
        // Also read from the message: a load at a word's distance from recent stores would wait for them.
        match at.checked_sub(W::WIDTH) {
            Some(at) => W::read(&message[at..], &mut self.befores.0),
            None => W::read(message, &mut self.befores.0[1..]),
        }
        self.words.clear_behind(count);
    }

    /// Writes the current block, whose bytes are `raw`.
    #[inline(always)]
    fn encode(&mut self, raw: &[u8], out: &mut Out<'_>) -> Result<(), Full> {
        let count = raw.len() / W::WIDTH;
        let plan = self.best_plan(count);
        self.write(plan, raw, count, out)
    }

    /// Sets plan number `plan` to this mapping. `least`, the block's least word, is used only for an offset.
    #[inline(always)]
    fn plan(&mut self, mapping: Mapping, least: W, count: usize, plan: usize) {
        let reference = match mapping {
            Mapping::Unsigned | Mapping::Signed => W::ZERO,
            Mapping::Delta => self.befores.0[0],
            Mapping::Offset => least,
        };
        let mapped = Mapped { mapping, reference };
        let plan = &mut self.plans[plan];
        mapped.residuals(&self.words, &self.befores, count, &mut plan.residuals);
        (plan.mapped, plan.draft) = (mapped, Draft::new(&plan.residuals));
    }

    /// The number of the plan with the lowest estimate. There is only one call of `plan`, because much code is inlined into it.
    #[inline(always)]
    fn best_plan(&mut self, count: usize) -> usize {
        let least = match self.mapping {
            None | Some(Mapping::Offset) => least(&self.words, count),
            Some(_) => W::ZERO,
        };
        let (mappings, some) = match self.mapping {
            Some(mapping) => ([mapping; 3], 1),
            None => {
                let union = self.words.union();
                // An offset below a sixteenth of the range saves less than it costs.
                let unordered = if least <= union >> 4 { Mapping::Unsigned } else { Mapping::Offset };
                let has_both_signs = least.sign() != union.sign();
                ([Mapping::Delta, unordered, Mapping::Signed], 2 + usize::from(has_both_signs))
            }
        };
        let mut best = 1;
        for (mapping, is_first) in mappings.into_iter().take(some).zip([true, false, false]) {
            let other = 1 - best;
            self.plan(mapping, least, count, other);
            if is_first || self.plans[other].estimate(count) < self.plans[best].estimate(count) {
                best = other;
            }
        }
        best
    }

    #[inline(always)]
    fn write(&mut self, plan: usize, raw: &[u8], count: usize, out: &mut Out<'_>) -> Result<(), Full> {
        let Plan { mapped: Mapped { mapping, reference }, residuals, draft } = &self.plans[plan];
        let choice = draft.best(count as u32);
        let parameter = draft.least + choice.above;
        let unary_len = (choice.sum as usize + count).div_ceil(8);
        let rice_len = remainders_len::<W>(count, parameter) + unary_len;
        let packed_len = remainders_len::<W>(count, draft.width);
        let reference_len = mapping.reference_len::<W>();
        if reference_len + rice_len.min(packed_len) >= raw.len() {
            let head = Head { parameter: W::BITS, mapping: 0, unary_len: 0 };
            out.extend_from_slice(&head.to_bytes())?;
            return out.extend_from_slice(raw);
        }
        // Without a unary part, all quotients are 0: the residuals are packed.
        let (parameter, unary_len) =
            if packed_len <= rice_len { (draft.width, 0) } else { (parameter, unary_len) };
        let head = Head { parameter, mapping: mapping.code(), unary_len };
        out.extend_from_slice(&head.to_bytes())?;
        let mut reference_bytes = [0; 8];
        W::write(&[*reference], &mut reference_bytes);
        out.store(&reference_bytes, reference_len)?;
        if unary_len > 0 {
            let written = unary::encode(&draft.quotients, choice.above, count, &mut self.unary);
            debug_assert_eq!(written, unary_len);
            out.store(&self.unary, unary_len)?;
        }
        W::pack(residuals, rows::<W>(count), parameter, &mut self.packed);
        W::write(&self.packed.0, &mut self.packed_bytes);
        let len = remainders_len::<W>(count, parameter);
        out.extend_from_slice(&self.packed_bytes[..len.min(BLOCK * 8)])
    }
}
