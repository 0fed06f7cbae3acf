//! The encoder, and the static description of the codec.
#![forbid(unsafe_code)]

use crate::decode::Decoder;
use crate::entries::Word;
use crate::format::{CONTINUING, HEADER, PLACE, RAW_LEN_SHIFT, VERSION};
use crate::history::History;
use crate::lines::Lines;
use crate::predictor::Context;
use core::marker::PhantomData;
use mpress_codec::simd::Simd;
use mpress_codec::{Codec, CodecId, Encode, EncodeError, MemoryError, Out, Reset};

/// The static description of the codec for one word: [`Dfcm64`](crate::Dfcm64), [`Dfcm32`](crate::Dfcm32).
#[derive(Clone, Copy, Debug)]
pub struct Dfcm<W>(PhantomData<W>);

impl<W: Word> Codec for Dfcm<W> {
    const ID: CodecId = W::ID;
    const NAME: &'static str = W::NAME;
    const WIDTH: usize = size_of::<W>();
    const STATEFUL: bool = true;

    type Encoder = Encoder<W, InlineTable>;
    type Decoder = Decoder<W, InlineTable>;

    /// As made by [`Encoder::new`], with its table in 16 KiB of the encoder itself. The decoder's table has the same size, so it does not read
    /// messages encoded with larger tables; [`Decoder::new`] does.
    fn encoder() -> Self::Encoder {
        Encoder::unchecked([0; SIZED], Mode::SelfContained(None))
    }

    fn decoder() -> Self::Decoder {
        Decoder::unchecked([0; SIZED], Lines::MAX_SIZED)
    }
}

/// Words of memory for a table of [`Lines::MAX_SIZED`].
const SIZED: usize = Lines::MAX_SIZED.words::<u64>();
/// Memory for such a table.
type InlineTable = [u64; SIZED];

/// How an encoder's messages are related.
#[derive(Clone, Copy, Debug)]
enum Mode<W> {
    /// Each message is self-contained, with a table of this size or one sized to the message.
    SelfContained(Option<Lines>),
    /// Predictor state carries over from message to message.
    Continuing(Lines, Context<W>, History),
}

/// Encodes messages of words `W` with the predictor's table in `M`: `Vec<u64>`, `[u64; N]`, `&mut [u64]`...
///
/// The initial contents of the memory do not matter.
#[derive(Clone, Debug)]
pub struct Encoder<W, M> {
    memory: M,
    mode: Mode<W>,
    simd: Simd,
}

impl<W: Word, M: AsMut<[u64]>> Encoder<W, M> {
    /// An encoder of self-contained messages, each with a table sized to the message ([`Lines::for_elements`]).
    ///
    /// # Errors
    /// If `memory` has less than [`Lines::MAX_SIZED`]`.words::<W>()` words.
    pub fn new(memory: M) -> Result<Self, MemoryError> {
        Self::checked(memory, Lines::MAX_SIZED, Mode::SelfContained(None))
    }

    /// An encoder of self-contained messages, all with a table of `lines`.
    ///
    /// # Errors
    /// If `memory` has less than `lines.words::<W>()` words.
    pub fn with_lines(memory: M, lines: Lines) -> Result<Self, MemoryError> {
        Self::checked(memory, lines, Mode::SelfContained(Some(lines)))
    }

    /// An encoder whose predictor state carries over from message to message. The decoder must get every message, once and in order; otherwise it
    /// returns [`State`](mpress_codec::DecodeErrorKind::State).
    ///
    /// # Errors
    /// If `memory` has less than `lines.words::<W>()` words.
    pub fn continuing(memory: M, lines: Lines) -> Result<Self, MemoryError> {
        Self::checked(memory, lines, Mode::Continuing(lines, W::START, History::START))
    }

    fn checked(mut memory: M, most: Lines, mode: Mode<W>) -> Result<Self, MemoryError> {
        most.check::<W>(memory.as_mut())?;
        let mut encoder = Self::unchecked(memory, mode);
        encoder.reset();
        Ok(encoder)
    }

    fn unchecked(memory: M, mode: Mode<W>) -> Self {
        Self { memory, mode, simd: Simd::detect() }
    }

    /// Uses a kernel of this tier. The wire is the same at every tier.
    #[must_use]
    pub fn with_simd(mut self, simd: Simd) -> Self {
        self.simd = simd;
        self
    }
}

impl<W: Word, M: AsMut<[u64]>> Encode for Encoder<W, M> {
    /// `raw_len`, half a byte per element, and 6 (format, section 7).
    fn max_encoded_len(&self, raw_len: usize) -> Option<usize> {
        raw_len.checked_add((raw_len / size_of::<W>()).div_ceil(2))?.checked_add(HEADER + PLACE)
    }

    fn encode(&mut self, raw: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError> {
        let most = self.max_encoded_len(raw.len());
        let start = out.len();
        let (elements, tail) = raw.split_at(raw.len() / size_of::<W>() * size_of::<W>());
        let lines = match self.mode {
            Mode::SelfContained(lines) => {
                lines.unwrap_or_else(|| Lines::for_elements(raw.len() / size_of::<W>()))
            }
            Mode::Continuing(lines, ..) => lines,
        };
        let flags = lines.log2() | ((raw.len() % 8) as u8) << RAW_LEN_SHIFT;
        let continues = matches!(self.mode, Mode::Continuing(..));
        let write = |out: &mut Out<'_>| {
            let table = &mut self.memory.as_mut()[..lines.words::<W>()];
            let context = match self.mode {
                Mode::SelfContained(_) => {
                    out.extend_from_slice(&[VERSION, flags])?;
                    table.fill(0);
                    W::START
                }
                Mode::Continuing(_, context, history) => {
                    out.extend_from_slice(&[VERSION, flags | CONTINUING])?;
                    out.extend_from_slice(&history.to_bytes())?;
                    context
                }
            };
            let left = W::encode(self.simd, table, context, elements, out)?;
            out.extend_from_slice(tail)?;
            if let Mode::Continuing(_, context, history) = &mut self.mode {
                *context = left;
                *history = history.after(raw.len(), out.len() - start, left.sum);
            }
            Ok(())
        };
        if continues { out.within(most, write) } else { out.attempt(most, write) }
    }
}

impl<W: Word, M: AsMut<[u64]>> Reset for Encoder<W, M> {
    fn reset(&mut self) {
        if let Mode::Continuing(lines, context, history) = &mut self.mode {
            self.memory.as_mut()[..lines.words::<W>()].fill(0);
            (*context, *history) = (W::START, History::START);
        }
    }
}
