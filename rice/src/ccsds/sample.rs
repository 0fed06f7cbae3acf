//! Conversion of samples from and to the bytes of a message.
#![forbid(unsafe_code)]

use super::parameters::Parameters;

/// The maximum number of samples in a block.
pub(super) const MOST: usize = 64;

/// Fills the front of `samples` from `bytes`.
#[inline(always)]
pub(super) fn read<const J: usize>(parameters: &Parameters, bytes: &[u8], samples: &mut [u32; J]) {
    #[inline(always)]
    fn each<const N: usize, const J: usize>(
        bytes: &[u8],
        samples: &mut [u32; J],
        sample: impl Fn([u8; N]) -> u32,
    ) {
        let bytes = bytes.as_chunks().0;
        match bytes.first_chunk::<J>() {
            // Nearly always a whole block, so the compiler then knows its length.
            Some(bytes) => samples.iter_mut().zip(bytes).for_each(|(to, bytes)| *to = sample(*bytes)),
            None => samples.iter_mut().zip(bytes).for_each(|(to, bytes)| *to = sample(*bytes)),
        }
    }
    match (parameters.sample_len(), parameters.big_endian) {
        (1, _) => each(bytes, samples, |[byte]| byte.into()),
        (2, false) => each(bytes, samples, |bytes| u16::from_le_bytes(bytes).into()),
        (2, true) => each(bytes, samples, |bytes| u16::from_be_bytes(bytes).into()),
        (3, false) => each(bytes, samples, |[a, b, c]| u32::from_le_bytes([a, b, c, 0])),
        (3, true) => each(bytes, samples, |[a, b, c]| u32::from_be_bytes([0, a, b, c])),
        (_, false) => each(bytes, samples, u32::from_le_bytes),
        (_, true) => each(bytes, samples, u32::from_be_bytes),
    }
}

/// Writes as many samples as fit in `bytes`, in the format of [`read`].
#[inline(always)]
pub(super) fn write(parameters: &Parameters, samples: &[u32], bytes: &mut [u8]) {
    #[inline(always)]
    fn each<const N: usize>(samples: &[u32], bytes: &mut [u8], sample: impl Fn(u32) -> [u8; N]) {
        for (to, from) in bytes.as_chunks_mut().0.iter_mut().zip(samples) {
            *to = sample(*from);
        }
    }
    match (parameters.sample_len(), parameters.big_endian) {
        (1, _) => each(samples, bytes, |sample| [sample as u8]),
        (2, false) => each(samples, bytes, |sample| (sample as u16).to_le_bytes()),
        (2, true) => each(samples, bytes, |sample| (sample as u16).to_be_bytes()),
        (3, false) => each(samples, bytes, |sample| {
            let [a, b, c, _] = sample.to_le_bytes();
            [a, b, c]
        }),
        (3, true) => each(samples, bytes, |sample| {
            let [_, a, b, c] = sample.to_be_bytes();
            [a, b, c]
        }),
        (_, false) => each(samples, bytes, u32::to_le_bytes),
        (_, true) => each(samples, bytes, u32::to_be_bytes),
    }
}

/// Clears the samples' unused bits. Returns whether they were valid: 0, or equal to the sign bit.
#[inline(always)]
pub(super) fn narrow(parameters: &Parameters, samples: &mut [u32]) -> bool {
    if parameters.bits == container_bits(parameters) {
        return true;
    }
    let mut odd = 0;
    for sample in samples {
        let cut = *sample & parameters.greatest();
        odd |= widened(parameters, cut) ^ *sample;
        *sample = cut;
    }
    odd << (32 - container_bits(parameters)) == 0
}

/// The inverse of [`narrow`], except for bits that are not written.
#[inline(always)]
pub(super) fn widen(parameters: &Parameters, samples: &mut [u32]) {
    if parameters.bits == container_bits(parameters) {
        return;
    }
    for sample in samples {
        *sample = widened(parameters, *sample);
    }
}

#[inline(always)]
fn widened(parameters: &Parameters, sample: u32) -> u32 {
    (sample ^ parameters.sign()).wrapping_sub(parameters.sign())
}

/// The number of bits that a sample takes in the message.
fn container_bits(parameters: &Parameters) -> u32 {
    8 * parameters.sample_len() as u32
}
