//! The encoder.

use crate::effort::Effort;
use crate::format::Format;
use crate::positions::Positions;
use core::marker::PhantomData;
use mpress_codec::{Encode, EncodeError, Out, Reset};

/// Encodes messages in the format `F`, [`Lz77`](crate::Lz77) or [`Lzo1x`](crate::Lzo1x). Contains a table of 64
/// KiB.
#[derive(Clone, Debug)]
pub struct Encoder<F> {
    effort: Effort,
    positions: Positions,
    format: PhantomData<F>,
}

impl<F: Format> Encoder<F> {
    /// An encoder with this effort. The wire of a message depends only on the message and the effort.
    #[must_use]
    pub const fn new(effort: Effort) -> Self {
        Self { effort, positions: Positions::new(), format: PhantomData }
    }
}

impl<F: Format> Reset for Encoder<F> {}

impl<F: Format> Encode for Encoder<F> {
    fn max_encoded_len(&self, raw_len: usize) -> Option<usize> {
        F::bound(raw_len)
    }

    fn encode(&mut self, raw: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError> {
        let most = self.max_encoded_len(raw.len());
        out.attempt(most, |out| F::encode(raw, self.effort, &mut self.positions, out))
    }
}
