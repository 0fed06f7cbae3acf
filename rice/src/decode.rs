//! The decoder.
#![forbid(unsafe_code)]

use crate::block::{Aligned, Block, remainders_len, rows};
use crate::entries;
use crate::format::{BLOCK, Head, QUOTIENT_BITS, VERSION, max_unary_len};
use crate::kernel::{self, Kernel, Work};
use crate::mapping::{Mapped, Mapping};
use crate::parameter::Quotients;
use crate::rows::Packed;
use crate::unary::{self, Places, Unary};
use crate::word::Word;
use core::marker::PhantomData;
use mpress_codec::DecodeErrorKind::{Length, Unsupported};
use mpress_codec::simd::Simd;
use mpress_codec::{Decode, DecodeError, Full, Out, Reset};
use mpress_codec_support::Wire;

/// Decodes messages of words `W`, encoded with any mapping. Keeps no state between messages.
#[derive(Clone, Debug)]
pub struct Decoder<W> {
    simd: Simd,
    word: PhantomData<W>,
}

impl<W: entries::Word> Decoder<W> {
    /// A decoder.
    #[must_use]
    pub fn new() -> Self {
        Self { simd: Simd::detect(), word: PhantomData }
    }

    /// Uses a kernel of this tier. The result is the same at every tier.
    #[must_use]
    pub fn with_simd(mut self, simd: Simd) -> Self {
        self.simd = simd;
        self
    }
}

impl<W: entries::Word> Default for Decoder<W> {
    fn default() -> Self {
        Self::new()
    }
}

impl<W: entries::Word> Reset for Decoder<W> {}

impl<W: entries::Word> Decode for Decoder<W> {
    fn decode(&mut self, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
        out.all_or_nothing(|out| W::decode(self.simd, wire, out))
    }
}

/// Decodes a message.
pub(crate) fn message<W: Word>(simd: Simd, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
    kernel::run(simd, Message::<W> { wire, out, word: PhantomData })
}

struct Message<'a, 'b, W> {
    wire: &'a [u8],
    out: &'a mut Out<'b>,
    word: PhantomData<W>,
}

impl<W: Word> Work for Message<'_, '_, W> {
    type Output = Result<(), DecodeError>;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> Result<(), DecodeError> {
        let raw_len = self.out.remaining();
        let mut wire = Wire::new(self.wire);
        if wire.take_array()? != [VERSION] {
            return Err(DecodeError::new(Unsupported, 0));
        }
        wire.message_len(raw_len)?;
        let mut block = BlockDecoder::<W>::new();
        let mut left = raw_len / W::WIDTH;
        while left > 0 {
            let count = left.min(BLOCK);
            block.decode(kernel, &mut wire, count, self.out)?;
            left -= count;
        }
        let tail = wire.take(raw_len % W::WIDTH)?;
        self.out.extend_from_slice(tail).map_err(|Full| wire.error(Length))?;
        wire.finish()
    }
}

/// Decodes consecutive blocks.
struct BlockDecoder<W> {
    /// The last word of the previous block.
    before: W,
    packed: Packed<W>,
    words: Block<W>,
    bytes: [u8; BLOCK * 8],
    unary: Unary,
    places: Places,
    quotients: Quotients,
}

impl<W: Word> BlockDecoder<W> {
    #[inline(always)]
    fn new() -> Self {
        Self {
            before: W::ZERO,
            packed: Aligned([W::ZERO; BLOCK + 32]),
            words: Block::zeroed(),
            bytes: [0; BLOCK * 8],
            unary: unary::ZERO,
            places: unary::NO_PLACES,
            quotients: Aligned([0; BLOCK]),
        }
    }

    #[inline(always)]
    fn decode<K: Kernel>(
        &mut self,
        kernel: K,
        wire: &mut Wire<'_>,
        count: usize,
        out: &mut Out<'_>,
    ) -> Result<(), DecodeError> {
        let at_head = *wire;
        let Head { parameter, mapping, unary_len } = Head::from_bytes(wire.take_array()?);
        if parameter == W::BITS {
            if mapping != 0 || unary_len != 0 {
                return Err(at_head.corrupt());
            }
            let words = wire.take(count * W::WIDTH)?;
            let last = &words[words.len() - W::WIDTH..];
            W::read(last, core::slice::from_mut(&mut self.before));
            return out.extend_from_slice(words).map_err(|Full| wire.error(Length));
        }
        let mapping = Mapping::from_code(mapping);
        if parameter > W::BITS || unary_len > max_unary_len(count) {
            return Err(at_head.corrupt());
        }
        let mut reference = self.before;
        let reference_len = mapping.reference_len::<W>();
        W::read(wire.take(reference_len)?, core::slice::from_mut(&mut reference));
        let at_unary = *wire;
        let unary = wire.take(unary_len)?;
        let remainders = wire.take(remainders_len::<W>(count, parameter))?;

        W::read(remainders, &mut self.packed.0);
        W::unpack(&self.packed, rows::<W>(count), parameter, &mut self.words);
        if unary_len > 0 {
            self.unary = unary::ZERO;
            self.unary[..unary_len].copy_from_slice(unary);
            let ones = kernel.places(&self.unary, unary_len, &mut self.places);
            if ones != count || unary.last() == Some(&0) {
                return Err(at_unary.corrupt());
            }
            let (unary, places, quotients) = (&self.unary, &mut self.places, &mut self.quotients);
            unary::quotients(unary, unary_len, places, count, quotients).ok_or_else(|| at_unary.corrupt())?;
            // A greater quotient, shifted left, would not fit in a word.
            let bits = W::BITS - parameter;
            if bits < QUOTIENT_BITS && !unary::fit(quotients, bits) {
                return Err(at_unary.corrupt());
            }
            for (word, quotient) in self.words.0.iter_mut().zip(&self.quotients.0) {
                *word = *word | W::of((*quotient).into()) << parameter;
            }
        }
        Mapped { mapping, reference }.words(kernel, &mut self.words);
        self.before = self.words.0[(count - 1) % BLOCK];
        W::write(&self.words.0, &mut self.bytes);
        out.extend_from_slice(&self.bytes[..(count * W::WIDTH).min(BLOCK * 8)])
            .map_err(|Full| wire.error(Length))
    }
}
