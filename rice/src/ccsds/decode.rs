//! Decoding a stream.
#![forbid(unsafe_code)]

use super::bits::Reader;
use super::encode::{REST_OF_SEGMENT, SEGMENT};
use super::option::{self, Ids};
use super::parameters::Parameters;
use super::predictor;
use super::sample::{self, MOST};
use crate::kernel::{self, Kernel, Work};
use mpress_codec::DecodeErrorKind::{Corrupt, Length};
use mpress_codec::simd::Simd;
use mpress_codec::{DecodeError, Full, Out};
use mpress_codec_support::Wire;

/// Fills all remaining room of `out` with the samples of a stream written by this crate or by any other encoder of the standard. Ignores the
/// padding of the last block.
///
/// # Errors
/// If `wire` is not consumed exactly or `out` is not filled exactly: `Truncated`, `Corrupt`, `Length`. `out` then has the same length as before.
pub fn decode_stream(parameters: &Parameters, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
    let raw_len = out.remaining();
    out.all_or_nothing(|out| {
        let stream = Stream { parameters: *parameters, wire: Wire::new(wire), raw_len, out };
        let rest = kernel::run(Simd::detect(), stream)?;
        let whole = rest.at == wire.len() && raw_len.is_multiple_of(parameters.sample_len());
        if whole { Ok(()) } else { Err(rest.error(Length)) }
    })
}

/// A wire that starts with a stream, and `out` for the whole samples of `raw_len` bytes.
pub(super) struct Stream<'a, 'o, 'b> {
    pub(super) parameters: Parameters,
    pub(super) wire: Wire<'a>,
    pub(super) raw_len: usize,
    pub(super) out: &'o mut Out<'b>,
}

impl<'a> Work for Stream<'a, '_, '_> {
    /// The wire after the stream.
    type Output = Result<Wire<'a>, DecodeError>;

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) -> Self::Output {
        // One case for each block length, so that the compiler knows it.
        match self.parameters.block {
            8 => self.blocks::<8>(),
            16 => self.blocks::<16>(),
            32 => self.blocks::<32>(),
            _ => self.blocks::<MOST>(),
        }
    }
}

impl<'a> Stream<'a, '_, '_> {
    #[inline(always)]
    fn blocks<const J: usize>(self) -> Result<Wire<'a>, DecodeError> {
        let Self { parameters, wire, raw_len, out } = self;
        let mut samples_left = raw_len / parameters.sample_len();
        let mut block = Block::<J> {
            parameters,
            reader: Reader::new(wire),
            residuals: [0; J],
            zeros: Zeros { left: 0, rest_of_segment: false },
            before: 0,
        };
        let mut bytes = [0; MOST * 4];
        let mut place = 0;
        while samples_left > 0 {
            block.decode(place)?;
            place = (place + 1) % parameters.interval;
            let count = samples_left.min(J);
            sample::widen(&parameters, &mut block.residuals);
            sample::write(&parameters, &block.residuals, &mut bytes);
            let raw = &bytes[..(count * parameters.sample_len()).min(MOST * 4)];
            out.extend_from_slice(raw).map_err(|Full| wire.error(Length))?;
            samples_left -= count;
        }
        // The rest of a segment may extend past the message; a number of zero blocks may not.
        if block.zeros.left > 0 && !block.zeros.rest_of_segment {
            return Err(block.reader.error(Length));
        }
        block.reader.finish()
    }
}

/// Zero blocks still to come.
#[derive(Clone, Copy)]
struct Zeros {
    left: usize,
    rest_of_segment: bool,
}

/// Decodes consecutive blocks of `J` samples.
struct Block<'a, const J: usize> {
    parameters: Parameters,
    reader: Reader<'a>,
    /// The residuals, and later the samples.
    residuals: [u32; J],
    zeros: Zeros,
    /// The previous sample, mapped to unsigned ([`predictor`]).
    before: u32,
}

impl<const J: usize> Block<'_, J> {
    /// Decodes the samples of the block at position `place` in its interval.
    #[inline(always)]
    fn decode(&mut self, place: usize) -> Result<(), DecodeError> {
        if self.zeros.left > 0 {
            self.zeros.left -= 1;
            self.residuals = [0; J];
            self.unmap(None);
            return Ok(());
        }
        let Parameters { bits, preprocessed, .. } = self.parameters;
        let (ids, greatest) = (self.parameters.ids(), self.parameters.greatest());
        let id = self.reader.take(ids.len);
        let is_extended = id == Ids::LOW_ENTROPY && self.reader.take(1) == 1;
        let reference = (preprocessed && place == 0).then(|| self.reader.take(bits));
        let first = usize::from(reference.is_some());
        let residuals = &mut self.residuals[first..];
        if is_extended {
            for pair in self.residuals.as_chunks_mut().0 {
                *pair = option::pair(self.reader.take_unary(u32::MAX)?);
            }
        } else if id == Ids::LOW_ENTROPY {
            self.residuals = [0; J];
            self.zeros = self.zero_blocks(place)?;
        } else if id == ids.uncompressed() {
            residuals.fill(0);
            self.reader.take_remainders(bits, residuals);
        } else {
            let parameter = id - Ids::split(0);
            self.reader.take_quotients(parameter, greatest, residuals)?;
            self.reader.take_remainders(parameter, residuals);
        }
        self.reader.check()?;
        if first == 1 && self.residuals[0] != 0 && is_extended {
            // The residual at the position of the reference sample must be 0.
            return Err(self.reader.error(Corrupt));
        }
        if self.residuals[first..].iter().fold(0, |greatest, residual| greatest.max(*residual)) > greatest {
            return Err(self.reader.error(Corrupt));
        }
        self.unmap(reference);
        Ok(())
    }

    /// Reads the number of zero blocks. Returns how many follow the one at `place`.
    fn zero_blocks(&mut self, place: usize) -> Result<Zeros, DecodeError> {
        let in_segment = (SEGMENT - place % SEGMENT).min(self.parameters.interval - place);
        let code = self.reader.take_unary(SEGMENT as u32)?;
        let (count, rest_of_segment) = match code {
            REST_OF_SEGMENT => (in_segment, true),
            0..REST_OF_SEGMENT => (code as usize + 1, false),
            _ => (code as usize, false),
        };
        if count > in_segment {
            return Err(self.reader.error(Corrupt));
        }
        Ok(Zeros { left: count - 1, rest_of_segment })
    }

    /// Turns residuals into samples.
    #[inline(always)]
    fn unmap(&mut self, reference: Option<u32>) {
        let Self { parameters, residuals, before, .. } = self;
        if !parameters.preprocessed {
            return;
        }
        let (sign, greatest) = (parameters.sign(), parameters.greatest());
        if let Some(reference) = reference {
            *before = reference ^ sign;
            residuals[0] = 0;
        }
        for residual in residuals {
            *before = predictor::sample(*residual, *before, greatest);
            *residual = *before ^ sign;
        }
    }
}
