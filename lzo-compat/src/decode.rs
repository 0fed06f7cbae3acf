//! The decoder.

use crate::format::Format;
use core::marker::PhantomData;
use mpress_codec::{Decode, DecodeError, Out, Reset};

/// Decodes messages in the format `F`, [`Lz77`](crate::Lz77) or [`Lzo1x`](crate::Lzo1x), encoded with any effort. It is
/// stateless.
#[derive(Clone, Copy, Debug)]
pub struct Decoder<F>(PhantomData<F>);

impl<F: Format> Decoder<F> {
    /// A decoder.
    #[must_use]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<F: Format> Default for Decoder<F> {
    fn default() -> Self {
        Self::new()
    }
}

impl<F: Format> Reset for Decoder<F> {}

impl<F: Format> Decode for Decoder<F> {
    fn decode(&mut self, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
        out.all_or_nothing(|out| F::decode(wire, out))
    }
}
