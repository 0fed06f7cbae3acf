//! Encoding a stream.
#![forbid(unsafe_code)]

use super::bits::Writer;
use super::option::{self, Coding, Ids, pair_code};
use super::parameters::Parameters;
use super::predictor;
use super::sample::{self, MOST};
use crate::kernel::{self, Kernel, Work};
use core::fmt;
use mpress_codec::simd::Simd;
use mpress_codec::{EncodeError, Full, Out};

/// Why a message has no stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamError {
    /// The output is too small.
    Output(EncodeError),
    /// The message is not a whole number of samples, or the block of samples from this byte on has a sample with invalid unused bits.
    Sample {
        /// Offset into the message, in bytes.
        offset: usize,
    },
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Output(error) => error.fmt(f),
            Self::Sample { offset } => write!(f, "no sample of this resolution (from byte {offset} on)"),
        }
    }
}

impl core::error::Error for StreamError {}

/// Appends the stream of `raw`, which consists of samples, to `out`. libaec's `aec_buffer_decode` can read it.
///
/// # Errors
/// [`StreamError::Output`] if `out` has less room than [`Parameters::max_encoded_len`]. [`StreamError::Sample`] if `raw` does not consist of such
/// samples. `out` is then unchanged.
pub fn encode_stream(parameters: &Parameters, raw: &[u8], out: &mut Out<'_>) -> Result<(), StreamError> {
    let needed = parameters.max_encoded_len(raw.len()).unwrap_or(usize::MAX);
    let error = EncodeError::new(needed, out.remaining());
    if needed > out.remaining() {
        return Err(StreamError::Output(error));
    }
    let offset = raw.len() / parameters.sample_len() * parameters.sample_len();
    if offset != raw.len() {
        return Err(StreamError::Sample { offset });
    }
    let stream = |out: &mut _| {
        kernel::run(Simd::detect(), Stream { parameters: *parameters, raw, out, limit: usize::MAX })
    };
    out.all_or_nothing(stream).map_err(|stop| match stop {
        Stop::Full => StreamError::Output(error),
        Stop::Sample { offset } => StreamError::Sample { offset },
    })
}

/// Why encoding a stream stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The limit was reached.
    Full,
    Sample {
        offset: usize,
    },
}

impl From<Full> for Stop {
    fn from(_: Full) -> Self {
        Self::Full
    }
}

/// A message, and `out` for its stream of at most `limit` bytes.
pub(super) struct Stream<'a, 'b> {
    pub(super) parameters: Parameters,
    pub(super) raw: &'a [u8],
    pub(super) out: &'a mut Out<'b>,
    pub(super) limit: usize,
}

impl Work for Stream<'_, '_> {
    type Output = Result<(), Stop>;

    #[inline(always)]
    fn run<K: Kernel>(self, _: K) -> Result<(), Stop> {
        // One case for each block length, so that the compiler knows it.
        match self.parameters.block {
            8 => self.blocks::<8>(),
            16 => self.blocks::<16>(),
            32 => self.blocks::<32>(),
            _ => self.blocks::<MOST>(),
        }
    }
}

impl Stream<'_, '_> {
    #[inline(always)]
    fn blocks<const J: usize>(self) -> Result<(), Stop> {
        let parameters = self.parameters;
        let mut writer = Writer::new(self.out, self.limit);
        let block_len = J * parameters.sample_len();
        let interval_len = block_len * parameters.interval;
        let mut block = Block::<J> { parameters, samples: [0; J], residuals: [0; J] };
        for (interval, start) in self.raw.chunks(interval_len).zip((0..).step_by(interval_len)) {
            let mut zeros = Zeros { count: 0, reference: None };
            for (raw, j) in interval.chunks(block_len).zip(0..) {
                let at = j * block_len;
                if !block.read(raw) {
                    return Err(Stop::Sample { offset: start + at });
                }
                let is_first = parameters.preprocessed && j == 0;
                let reference = is_first.then_some(block.samples[0]);
                if parameters.preprocessed {
                    block.map(
                        if is_first { raw } else { &interval[at - parameters.sample_len()..] },
                        is_first,
                    );
                } else {
                    block.residuals = block.samples;
                }
                if block.residuals.iter().fold(0, |union, residual| union | residual) == 0 {
                    zeros.count += 1;
                    zeros.reference = zeros.reference.or(reference);
                } else {
                    zeros.write(&parameters, false, &mut writer);
                    block.write(reference, &mut writer);
                }
                // A run ends with its segment.
                if (j + 1) % SEGMENT == 0 {
                    zeros.write(&parameters, true, &mut writer);
                }
                writer.flush()?;
            }
            // As in libaec, the message's last block ends a segment too.
            zeros.write(&parameters, true, &mut writer);
        }
        Ok(writer.finish()?)
    }
}

/// The number of blocks in a segment. Runs of zero blocks do not extend from one segment to the next.
pub(super) const SEGMENT: usize = 64;
/// The code for the remainder of a segment, one of the codes for numbers of zero blocks.
pub(super) const REST_OF_SEGMENT: u32 = 4;

/// Zero blocks that have not been written yet.
struct Zeros {
    count: u32,
    /// Stands in for the sample before the first one.
    reference: Option<u32>,
}

impl Zeros {
    #[inline(always)]
    fn write(&mut self, parameters: &Parameters, segment_ends: bool, writer: &mut Writer<'_, '_>) {
        if self.count == 0 {
            return;
        }
        writer.put(Ids::LOW_ENTROPY.into(), parameters.ids().len + 1);
        if let Some(reference) = self.reference {
            writer.put(reference.into(), parameters.bits);
        }
        writer.put_unary(match self.count {
            5.. if segment_ends => REST_OF_SEGMENT,
            5.. => self.count,
            _ => self.count - 1,
        });
        *self = Self { count: 0, reference: None };
    }
}

/// The samples of a block of `J`, and their residuals.
struct Block<const J: usize> {
    parameters: Parameters,
    samples: [u32; J],
    residuals: [u32; J],
}

impl<const J: usize> Block<J> {
    /// Reads a block and pads a short one with zeros. Returns whether its samples have the stream's resolution.
    #[inline(always)]
    fn read(&mut self, raw: &[u8]) -> bool {
        let count = raw.len() / self.parameters.sample_len();
        sample::read(&self.parameters, raw, &mut self.samples);
        if count < J {
            self.samples[count..].fill(0);
        }
        sample::narrow(&self.parameters, &mut self.samples)
    }

    /// Computes the residuals. `before` starts with the sample before the block. The first block of an interval starts with the reference sample,
    /// so there `before` starts with the block itself. The residuals past a short block are 0, as if the last sample were repeated.
    ///
    /// `before` is read from the message again: a load at a sample's distance from recent stores would wait for them.
    #[inline(always)]
    fn map(&mut self, before: &[u8], is_first: bool) {
        let Self { parameters, samples, residuals } = self;
        let (sign, greatest) = (parameters.sign(), parameters.greatest());
        let count = before.len() / parameters.sample_len() - usize::from(!is_first);
        let mut befores = [0; J];
        sample::read(parameters, before, &mut befores);
        if is_first {
            befores.copy_within(..J - 1, 1);
            befores[0] = samples[0];
        }
        for ((residual, sample), before) in residuals.iter_mut().zip(&*samples).zip(befores) {
            *residual = predictor::residual(sample ^ sign, before & greatest ^ sign, greatest);
        }
        if count < J {
            residuals[count..].fill(0);
        }
    }

    #[inline(always)]
    fn write(&self, reference: Option<u32>, writer: &mut Writer<'_, '_>) {
        let Parameters { bits, .. } = self.parameters;
        let ids = self.parameters.ids();
        let first = usize::from(reference.is_some());
        let coding = option::best(&self.residuals, first, bits, ids);
        match coding {
            Coding::Split(parameter) => writer.put(Ids::split(parameter).into(), ids.len),
            Coding::SecondExtension => writer.put(u64::from(Ids::LOW_ENTROPY) << 1 | 1, ids.len + 1),
            Coding::Uncompressed => writer.put(ids.uncompressed().into(), ids.len),
        }
        if let Some(reference) = reference {
            writer.put(reference.into(), bits);
        }
        let residuals = &self.residuals[first..];
        match coding {
            Coding::Split(parameter) => {
                writer.put_quotients(parameter, residuals);
                if parameter > 0 {
                    writer.put_remainders(parameter, residuals);
                }
            }
            // The residual of a reference sample is 0.
            Coding::SecondExtension => {
                let pairs = self.residuals.as_chunks().0.iter();
                pairs.for_each(|pair| writer.put_unary(pair_code(*pair) as u32));
            }
            Coding::Uncompressed => writer.put_remainders(bits, residuals),
        }
    }
}
