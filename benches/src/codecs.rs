//! The table of codecs. A new codec, or a new setting of one, is one row.

use mpress_codec::simd::Level;
use mpress_codec::{Decode, DecodeError, DecodeErrorKind, Encode, EncodeError, MemoryError, Out};
use mpress_dfcm::{Decoder, Encoder, Lines, Word};

/// An encoder and a decoder.
pub type Pair = (Box<dyn Encode>, Box<dyn Decode>);

/// A codec as a row of a report.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    /// What the row is called.
    pub name: &'static str,
    /// Bytes of the elements it is meant for, or 0 for any.
    pub width: usize,
    /// Whether it is a special setting of a codec, for comparison only.
    pub variant: bool,
    /// A pair without history, with kernels of this level.
    pub make: Make,
}

/// Every codec, first the copy that all others are seen beside.
pub const SUBJECTS: &[Subject] = &[
    subject("memcpy", 0, |_| Ok((Box::new(Copy), Box::new(Copy)))),
    subject("dfcm", 8, |level| dfcm::<u64>(level, Encoder::new(memory()))),
    variant("dfcm, 2^15 lines", 8, |level| dfcm::<u64>(level, whole_table())),
    variant("dfcm, continuing 2^10", 8, |level| dfcm::<u64>(level, continuing(10))),
    variant("dfcm, continuing 2^15", 8, |level| dfcm::<u64>(level, continuing(15))),
    subject("dfcm32", 4, |level| dfcm::<u32>(level, Encoder::new(memory()))),
    variant("dfcm32, 2^15 lines", 4, |level| dfcm::<u32>(level, whole_table())),
    variant("dfcm32, continuing 2^15", 4, |level| dfcm::<u32>(level, continuing(15))),
];

/// Makes a pair for a level.
pub type Make = fn(Level) -> Result<Pair, MemoryError>;

const fn subject(name: &'static str, width: usize, make: Make) -> Subject {
    Subject { name, width, variant: false, make }
}

const fn variant(name: &'static str, width: usize, make: Make) -> Subject {
    Subject { name, width, variant: true, make }
}

type DfcmEncoder<W> = Result<Encoder<W, Vec<u64>>, MemoryError>;

fn memory() -> Vec<u64> {
    vec![0; Lines::MAX.words::<u64>()]
}

fn whole_table<W: Word>() -> DfcmEncoder<W> {
    Encoder::with_lines(memory(), Lines::MAX)
}

fn continuing<W: Word>(log2: u8) -> DfcmEncoder<W> {
    Encoder::continuing(memory(), Lines::new(log2).unwrap_or(Lines::MAX))
}

fn dfcm<W: Word + 'static>(level: Level, encoder: DfcmEncoder<W>) -> Result<Pair, MemoryError> {
    let decoder = Decoder::<W, _>::new(memory())?;
    Ok((Box::new(encoder?.with_level(level)), Box::new(decoder.with_level(level))))
}

/// The message as it is: what memory alone costs.
struct Copy;

impl Encode for Copy {
    fn max_encoded_len(&self, raw_len: usize) -> Option<usize> {
        Some(raw_len)
    }
    fn encode(&mut self, raw: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError> {
        let error = EncodeError::new(raw.len(), out.remaining());
        out.extend_from_slice(raw).map_err(|_| error)
    }
    fn reset(&mut self) {}
}

impl Decode for Copy {
    fn decode(&mut self, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
        out.extend_from_slice(wire).map_err(|_| DecodeError::new(DecodeErrorKind::Length, wire.len()))
    }
    fn reset(&mut self) {}
}
