//! The frame codec: a header with the parameters of the stream that follows.
#![forbid(unsafe_code)]

use super::decode;
use super::encode::{self, Stop};
use super::parameters::Parameters;
use crate::kernel;
use mpress_codec::DecodeErrorKind::{Corrupt, Length, Unsupported};
use mpress_codec::simd::Simd;
use mpress_codec::{Codec, CodecId, Decode, DecodeError, Encode, EncodeError, Full, Out, Reset, length};
use mpress_codec_support::{Wire, put_header};

/// Byte 0 of the header (format, section 9).
const VERSION: u8 = 2;
/// Byte 1 of the header of a message with a stream. For a stored message it is 0.
const CODED: u8 = 1 << 3;

/// The static description of codec 13.
#[derive(Clone, Copy, Debug)]
pub struct Ccsds121;

impl Codec for Ccsds121 {
    const ID: CodecId = CodecId::CCSDS_121;
    const NAME: &'static str = "ccsds121";
    /// Samples have the width in the encoder's parameters.
    const WIDTH: usize = 1;
    const STATEFUL: bool = false;

    type Encoder = Encoder;
    type Decoder = Decoder;

    /// With [`Parameters::BYTES`].
    fn encoder() -> Self::Encoder {
        Encoder::new(Parameters::BYTES)
    }

    fn decoder() -> Self::Decoder {
        Decoder::new()
    }
}

/// Encodes messages of samples, all with the same parameters. A message with a sample outside their resolution is encoded with all bits of its
/// bytes.
#[derive(Clone, Debug)]
pub struct Encoder {
    parameters: Parameters,
    simd: Simd,
}

impl Encoder {
    /// An encoder with these parameters.
    #[must_use]
    pub fn new(parameters: Parameters) -> Self {
        Self { parameters, simd: Simd::detect() }
    }

    /// Uses code compiled for this tier. The wire is the same at every tier.
    #[must_use]
    pub fn with_simd(mut self, simd: Simd) -> Self {
        self.simd = simd;
        self
    }

    /// Writes header, stream and tail if they take less room than a stored message.
    fn coded(&self, parameters: Parameters, raw: &[u8], out: &mut Out<'_>) -> Result<(), Stop> {
        let (samples, tail) = raw.split_at(raw.len() / parameters.sample_len() * parameters.sample_len());
        put_header(&[VERSION, CODED], raw.len(), out)?;
        let limit = out.len() + samples.len();
        out.extend_from_slice(&to_bytes(&parameters))?;
        kernel::run(self.simd, encode::Stream { parameters, raw: samples, out, limit })?;
        Ok(out.extend_from_slice(tail)?)
    }
}

impl Reset for Encoder {}

impl Encode for Encoder {
    /// `raw_len` and the header of a stored message (format, section 9).
    fn max_encoded_len(&self, raw_len: usize) -> Option<usize> {
        raw_len.checked_add(2 + length::bytes(raw_len))
    }

    fn encode(&mut self, raw: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError> {
        let most = self.max_encoded_len(raw.len());
        out.attempt(most, |out| {
            let mut result = out.all_or_nothing(|out| self.coded(self.parameters, raw, out));
            if let Err(Stop::Sample { .. }) = result {
                result = out.all_or_nothing(|out| self.coded(self.parameters.widened(), raw, out));
            }
            if result.is_err() {
                // The message would not become smaller.
                put_header(&[VERSION, 0], raw.len(), out)?;
                out.extend_from_slice(raw)?;
            }
            Ok(())
        })
    }
}

/// Decodes messages encoded with any parameters.
#[derive(Clone, Debug)]
pub struct Decoder {
    simd: Simd,
}

impl Decoder {
    /// A decoder.
    #[must_use]
    pub fn new() -> Self {
        Self { simd: Simd::detect() }
    }

    /// Uses code compiled for this tier. The result is the same at every tier.
    #[must_use]
    pub fn with_simd(mut self, simd: Simd) -> Self {
        self.simd = simd;
        self
    }

    fn message(&self, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
        let raw_len = out.remaining();
        let mut wire = Wire::new(wire);
        if wire.byte()? != VERSION {
            return Err(DecodeError::new(Unsupported, 0));
        }
        let flags = wire.byte()?;
        if flags & !CODED != 0 {
            return Err(DecodeError::new(Corrupt, 1));
        }
        wire.message_len(raw_len)?;
        let mut rest = raw_len;
        if flags == CODED {
            let before = wire;
            let parameters = from_bytes(wire.take_array()?).ok_or(before.corrupt())?;
            rest = raw_len % parameters.sample_len();
            let stream = decode::Stream { parameters, wire, raw_len, out };
            wire = kernel::run(self.simd, stream)?;
        }
        let rest = wire.take(rest)?;
        out.extend_from_slice(rest).map_err(|Full| wire.error(Length))?;
        wire.finish()
    }
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Reset for Decoder {}

impl Decode for Decoder {
    fn decode(&mut self, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
        out.all_or_nothing(|out| self.message(wire, out))
    }
}

/// Parameters as three bytes (format, section 9).
fn to_bytes(parameters: &Parameters) -> [u8; 3] {
    let Parameters { bits, block, interval, .. } = *parameters;
    let Parameters { signed, preprocessed, big_endian, three_bytes, restricted, .. } = *parameters;
    let first = (bits as u8 - 1) | (block.ilog2() as u8 - 3) << 5 | u8::from(three_bytes) << 7;
    let flags = u8::from(signed)
        | u8::from(preprocessed) << 1
        | u8::from(big_endian) << 2
        | u8::from(restricted) << 3;
    let [low, high] = (interval as u16 - 1).to_le_bytes();
    [first, low, high | flags << 4]
}

/// The inverse of [`to_bytes`].
fn from_bytes([first, low, high]: [u8; 3]) -> Option<Parameters> {
    let mut parameters = Parameters::new(u32::from(first & 31) + 1)?
        .with_block(8 << (first >> 5 & 3))?
        .with_interval(usize::from(u16::from_le_bytes([low, high & 15])) + 1)?
        .with_signed(high & 1 << 4 != 0)
        .with_preprocessor(high & 1 << 5 != 0)
        .with_big_endian(high & 1 << 6 != 0);
    if first & 1 << 7 != 0 {
        parameters = parameters.with_three_bytes()?;
    }
    if high & 1 << 7 != 0 {
        parameters = parameters.with_restricted()?;
    }
    Some(parameters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_come_back() {
        let mut count = 0;
        for number in 0..1_u32 << 24 {
            // All values of the first byte and the flags, and some intervals.
            let [first, low, high, _] = number.to_le_bytes();
            if !matches!(low, 0 | 1 | 77 | 255) {
                continue;
            }
            if let Some(parameters) = from_bytes([first, low, high]) {
                assert_eq!(to_bytes(&parameters), [first, low, high]);
                count += 1;
            }
        }
        assert_eq!(count, (32 + 8 + 4) * 4 * 4 * 16 * 8);
    }
}
