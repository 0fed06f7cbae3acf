//! The receiving side.

use crate::format::Format;
use core::marker::PhantomData;
use core::mem;
use mpress_codec::{Decode, DecodeError, Out};

/// Decodes messages in the format `F`, [`Lz77`](crate::Lz77) or [`Lzo1x`](crate::Lzo1x), whatever effort they were encoded
/// with. It holds nothing.
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

impl<F: Format> Decode for Decoder<F> {
    fn decode(&mut self, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
        out.all_or_nothing(|out| {
            // The output moves to a place of its own, and so into registers.
            let mut local = mem::replace(out, Out::new(&mut []));
            let result = F::decode(wire, &mut local);
            *out = local;
            result
        })
    }

    /// Does nothing: a decoder remembers no message.
    fn reset(&mut self) {}
}
