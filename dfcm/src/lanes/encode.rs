//! The encoder, and the static description of the codec.
#![forbid(unsafe_code)]

use super::block::Block;
use super::decode::Decoder;
use super::format::{BLOCK, CODE_BITS, GROUP, HEADER, VERSION};
use super::kernel::{self, Kernel, Work};
use super::window::Window;
use super::{head, probe};
use crate::entries;
use crate::word::Word;
use core::marker::PhantomData;
use mpress_codec::simd::Simd;
use mpress_codec::{Codec, CodecId, Encode, EncodeError, Full, Out, Reset, length};
use mpress_codec_support::put_header;

/// The static description of the codec for one word: [`Lanes64`](super::Lanes64), [`Lanes32`](super::Lanes32).
#[derive(Clone, Copy, Debug)]
pub struct Lanes<W>(PhantomData<W>);

impl<W: entries::Word> Codec for Lanes<W> {
    const ID: CodecId = W::LANES_ID;
    const NAME: &'static str = W::LANES_NAME;
    const WIDTH: usize = size_of::<W>();
    const STATEFUL: bool = false;

    type Encoder = Encoder<W>;
    type Decoder = Decoder<W>;

    fn encoder() -> Self::Encoder {
        Encoder::new()
    }

    fn decoder() -> Self::Decoder {
        Decoder::new()
    }
}

/// Encodes messages of words `W`. Keeps no state between messages.
#[derive(Clone, Debug)]
pub struct Encoder<W> {
    simd: Simd,
    word: PhantomData<W>,
}

impl<W: entries::Word> Encoder<W> {
    /// An encoder.
    #[must_use]
    pub fn new() -> Self {
        Self { simd: Simd::detect(), word: PhantomData }
    }

    /// Uses a kernel of this tier. The wire is the same at every tier.
    #[must_use]
    pub fn with_simd(mut self, simd: Simd) -> Self {
        self.simd = simd;
        self
    }
}

impl<W: entries::Word> Default for Encoder<W> {
    fn default() -> Self {
        Self::new()
    }
}

impl<W: entries::Word> Reset for Encoder<W> {}

impl<W: entries::Word> Encode for Encoder<W> {
    /// `raw_len`, six bits per group of 64 bytes, and the header (format, section 10.6).
    fn max_encoded_len(&self, raw_len: usize) -> Option<usize> {
        let groups = (raw_len / size_of::<W>()).div_ceil(GROUP / size_of::<W>());
        raw_len
            .checked_add((groups / 4).checked_mul(3)? + (groups % 4 * CODE_BITS).div_ceil(8))?
            .checked_add(HEADER + length::bytes(raw_len))
    }

    fn encode(&mut self, raw: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError> {
        let most = self.max_encoded_len(raw.len());
        out.attempt(most, |out| W::encode_lanes(self.simd, raw, out))
    }
}

/// Encodes a message.
pub(crate) fn encode<W: Word>(simd: Simd, raw: &[u8], out: &mut Out<'_>) -> Result<(), Full> {
    kernel::with::<W, _>(simd, Message { raw, out })
}

struct Message<'a, 'b> {
    raw: &'a [u8],
    out: &'a mut Out<'b>,
}

impl<W: Word> Work<W> for Message<'_, '_> {
    type Output = Result<(), Full>;

    #[inline(always)]
    fn run<K: Kernel<W>>(self, kernel: K) -> Result<(), Full> {
        let Self { raw, out } = self;
        let (words, tail) = raw.split_at(raw.len() / W::WIDTH * W::WIDTH);
        let lanes = probe::lanes(kernel, words);
        put_header(&[VERSION, (lanes - W::PER_GROUP) as u8], raw.len(), out)?;
        let mut edge = Window::ZERO;
        let mut residuals = Block::ZERO;
        for at in (0..words.len()).step_by(BLOCK) {
            let len = (words.len() - at).min(BLOCK);
            kernel.residuals(edge.of(words, at), lanes, &mut residuals);
            if len == BLOCK {
                // The same, with a length known to the compiler.
                block(kernel, &residuals, BLOCK, out)?;
            } else {
                residuals.bytes_mut()[len..].fill(0);
                block(kernel, &residuals, len, out)?;
            }
        }
        out.extend_from_slice(tail)
    }
}

/// Appends a block of `len` raw bytes. Residuals past it must be zero.
#[inline(always)]
fn block<W: Word, K: Kernel<W>>(
    kernel: K,
    residuals: &Block,
    len: usize,
    out: &mut Out<'_>,
) -> Result<(), Full> {
    let widths = kernel.widths(residuals);
    out.store(&head::from_widths::<W>(widths).to_le_bytes(), head::bytes(len.div_ceil(GROUP)))?;
    kernel.pack(residuals, widths, len, out)
}
