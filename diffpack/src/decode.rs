//! The decoder: a message is blocks of words, or columns of such blocks.
#![forbid(unsafe_code)]

mod block;
mod columns;
pub(crate) mod rebuild;
mod stream;

use crate::columns::with_memory;
use crate::entries;
use crate::format::{FORMAT, RECORDS, REFERENCE};
use crate::kernel;
use crate::word::Word;
use block::{Read, prefetch};
use columns::read_records;
use core::marker::PhantomData;
use mpress_codec::DecodeErrorKind::{Length, Reference, Unsupported};
use mpress_codec::simd::Simd;
use mpress_codec::{Decode, DecodeError, Full, Out, Reset};
use mpress_codec_support::Wire;
use rebuild::Scratch;

/// Decodes messages of words `W`, encoded with any effort. Takes at most 30 KiB of memory.
#[derive(Clone, Debug)]
pub struct Decoder<W> {
    simd: Simd,
    scratch: Scratch,
    word: PhantomData<W>,
}

impl<W: entries::Word> Decoder<W> {
    /// A decoder.
    #[must_use]
    pub fn new() -> Self {
        Self { simd: Simd::detect(), scratch: Scratch::new(), word: PhantomData }
    }

    /// Uses a kernel of this tier. The result is the same at every tier.
    #[must_use]
    pub fn with_simd(mut self, simd: Simd) -> Self {
        self.simd = simd;
        self
    }
}

impl<W: entries::Word> Default for Decoder<W> {
    fn default() -> Self {
        Self::new()
    }
}

impl<W: entries::Word> Reset for Decoder<W> {}

impl<W: entries::Word> Decode for Decoder<W> {
    fn decode(&mut self, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
        out.all_or_nothing(|out| W::decode(self, wire, None, out))
    }

    fn decode_with(&mut self, reference: &[u8], wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
        if reference.len() != out.remaining() {
            return Err(DecodeError::new(Reference, 0));
        }
        out.all_or_nothing(|out| W::decode(self, wire, Some(reference), out))
    }
}

impl<W: Word> Decoder<W> {
    /// Decodes a message. The reference has its length.
    pub(crate) fn message(
        &mut self,
        wire: &[u8],
        reference: Option<&[u8]>,
        out: &mut Out<'_>,
    ) -> Result<(), DecodeError> {
        prefetch::<W>(self.simd, wire);
        let (raw_len, start) = (out.remaining(), out.len());
        let mut wire = Wire::new(wire);
        let flags = wire.byte()?;
        let known = if reference.is_some() { RECORDS | REFERENCE } else { RECORDS };
        if flags & !known != FORMAT {
            return Err(DecodeError::new(Unsupported, 0));
        }
        let reference = reference.filter(|_| flags & REFERENCE != 0).unwrap_or_default();
        wire.message_len(raw_len)?;
        let Self { simd, scratch, .. } = self;
        if flags & RECORDS != 0 {
            let read = |memory: &mut [u8]| read_records(*simd, scratch, &mut wire, reference, memory, out);
            with_memory(reference, read)?;
        } else {
            let (wire, words) = (&mut wire, raw_len / W::WIDTH);
            kernel::with::<W, _>(*simd, Read { scratch, wire, words, reference, out, start })?;
        }
        let full = DecodeError::new(Length, wire.at);
        out.extend_from_slice(wire.take(out.remaining())?).map_err(|Full { .. }| full)?;
        wire.finish()
    }
}
