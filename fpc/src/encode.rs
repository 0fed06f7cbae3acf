//! The encoder of the message mode, and the static description of the codec.
#![forbid(unsafe_code)]

use crate::block::{Aligned, BlockBytes, Words};
use crate::classes::{Classes, LENGTHS};
use crate::decode::Decoder;
use crate::entries;
use crate::format::{BLOCK, HEAD, LANES, PACKED, PLANES, ROW, ROW_BYTES, ROWS, STEPS, VERSION};
use crate::kernel::{self, Kernel, Work};
use crate::predictor::Predictor;
use crate::word::Word;
use core::marker::PhantomData;
use mpress_codec::simd::Simd;
use mpress_codec::{Codec, CodecId, Encode, EncodeError, Full, Out, Reset, length};
use mpress_codec_support::put_header;

/// The static description of the codec for one word: [`Fpc64`](crate::Fpc64), [`Fpc32`](crate::Fpc32).
#[derive(Clone, Copy, Debug)]
pub struct Fpc<W>(PhantomData<W>);

impl<W: entries::Word> Codec for Fpc<W> {
    const ID: CodecId = W::ID;
    const NAME: &'static str = W::NAME;
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

/// Encodes messages of words `W`, each independently. Contains predictors and buffers: 27 KiB for doubles, half as much for single floats.
#[derive(Clone, Debug)]
pub struct Encoder<W: entries::Word> {
    state: W::Encoding,
    simd: Simd,
}

impl<W: entries::Word> Encoder<W> {
    /// An encoder with the best kernel for this CPU.
    #[must_use]
    pub fn new() -> Self {
        Self { state: W::encoding(), simd: Simd::detect() }
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
    /// `raw_len`, 2 bytes per block of 240 groups of four values, and the header (format, section 7).
    fn max_encoded_len(&self, raw_len: usize) -> Option<usize> {
        let blocks = (raw_len / (LANES * size_of::<W>())).div_ceil(STEPS);
        raw_len.checked_add(blocks * HEAD)?.checked_add(1 + length::bytes(raw_len))
    }

    fn encode(&mut self, raw: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError> {
        let most = self.max_encoded_len(raw.len());
        out.attempt(most, |out| W::encode(&mut self.state, self.simd, raw, out))
    }
}

/// What an encoder works with.
#[derive(Clone, Debug)]
pub struct State<W: Word> {
    predictor: Predictor<W>,
    buffers: Buffers<W>,
}

/// The stages of a block.
#[derive(Clone, Debug)]
struct Buffers<W: Word> {
    residuals: Words<W>,
    /// The length of each residual.
    lengths: BlockBytes,
    /// The bit planes as stored on the wire.
    planes: [[[u8; ROW / 8]; ROWS]; PLANES],
}

impl<W: Word> State<W> {
    pub(crate) fn new() -> Self {
        let buffers = Buffers {
            residuals: Aligned([[W::ZERO_BYTES; ROW]; ROWS]),
            lengths: Aligned([[0; ROW]; ROWS]),
            planes: [[[0; ROW / 8]; ROWS]; PLANES],
        };
        Self { predictor: Predictor::new(), buffers }
    }

    /// Encodes a message.
    pub(crate) fn message(&mut self, simd: Simd, raw: &[u8], out: &mut Out<'_>) -> Result<(), Full> {
        kernel::with(simd, Message { state: self, raw, out })
    }
}

/// A message to be encoded.
struct Message<'a, 'o, W: Word> {
    state: &'a mut State<W>,
    raw: &'a [u8],
    out: &'a mut Out<'o>,
}

impl<W: Word> Work for Message<'_, '_, W> {
    type Output = Result<(), Full>;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> Result<(), Full> {
        let State { predictor, buffers } = self.state;
        let (values, tail) = self.raw.split_at(self.raw.len() - self.raw.len() % (LANES * W::WIDTH));
        let (values, _) = W::split(values);
        put_header(&[VERSION], self.raw.len(), self.out)?;
        predictor.start();
        for block in values.chunks(BLOCK) {
            encode_block(kernel, predictor, buffers, block, self.out)?;
        }
        self.out.extend_from_slice(tail)
    }
}

/// Appends a block (format, section 5).
#[inline(always)]
fn encode_block<W: Word, K: Kernel>(
    kernel: K,
    predictor: &mut Predictor<W>,
    buffers: &mut Buffers<W>,
    values: &[W::Bytes],
    out: &mut Out<'_>,
) -> Result<(), Full> {
    let (residuals, lengths) = (buffers.residuals.0.as_flattened_mut(), &mut buffers.lengths.0);
    predictor.residuals(values, residuals.as_chunks_mut().0, lengths.as_flattened_mut().as_chunks_mut().0);
    // The padding of the last row takes no bytes.
    let rows = values.len().div_ceil(ROW);
    let fill = rows * ROW - values.len();
    lengths.as_flattened_mut()[values.len()..][..fill].fill(0);

    let mut counts = [0; LENGTHS];
    let [picks, class_planes @ ..] = &mut buffers.planes;
    for (lengths, picks) in lengths[..rows].iter_mut().zip(picks) {
        *picks = kernel.count(lengths, &mut counts).to_le_bytes();
    }
    counts[0] -= fill as u32;

    let (classes, len) = Classes::choose(counts);
    let raw = W::flat(values);
    if len >= raw.len() {
        predictor.start();
        out.extend_from_slice(&[0; HEAD])?;
        return out.extend_from_slice(raw);
    }
    out.extend_from_slice(&classes.head().to_le_bytes())?;
    let (codes, of_class) = (classes.codes(), classes.lengths());
    for (row, lengths) in buffers.lengths.0[..rows].iter_mut().enumerate() {
        let planes = kernel.classify(lengths, &codes, &of_class);
        for (plane, bits) in class_planes.iter_mut().zip(planes) {
            plane[row] = bits.to_le_bytes();
        }
    }
    // The padding was put into the first class, whose length may be other than 0.
    buffers.lengths.0.as_flattened_mut()[values.len()..][..fill].fill(0);
    for plane in &buffers.planes[..=classes.planes()] {
        out.extend_from_slice(&plane.as_flattened()[..values.len().div_ceil(8)])?;
    }
    let mut packed = [0; PACKED];
    for (residuals, lengths) in buffers.residuals.0[..rows].iter().zip(&buffers.lengths.0) {
        let len = kernel.pack::<W>(residuals, lengths, &mut packed);
        out.extend_from_slice(&packed[..len.min(ROW_BYTES)])?;
    }
    Ok(())
}
