//! The encoder, and the static description of the codec.
#![forbid(unsafe_code)]

mod back_off;
mod block;
mod choose;
mod columns;
mod fields;
mod hints;
mod lookback;
mod piece;
mod refer;
mod search;
mod split;
mod stream;

use crate::columns::with_memory;
use crate::decode::Decoder;
use crate::effort::{Effort, Settings};
use crate::entries;
use crate::format::{BLOCK, FORMAT, Head, REFERENCE, Slots};
use crate::kernel;
use crate::kernel::window::Window;
use crate::word::Word;
use block::Blocks;
use core::marker::PhantomData;
use fields::{Guess, Structures, is_regular};
use hints::Hints;
use mpress_codec::simd::Simd;
use mpress_codec::{Codec, CodecId, Encode, EncodeError, Full, Out, Reset, length};
use mpress_codec_support::{prefetch, put_header};
use piece::{Message, PIECE, Piece, Verdict};
use refer::Gain;

/// A copy of a block at the edge of a message, with 6 KiB for the words before it.
type EdgeWindow = Window<8192>;

/// The static description of the codec for one word: [`Diffpack64`](crate::Diffpack64), [`Diffpack32`](crate::Diffpack32),
/// [`Diffpack16`](crate::Diffpack16).
#[derive(Clone, Copy, Debug)]
pub struct Diffpack<W>(PhantomData<W>);

impl<W: entries::Word> Codec for Diffpack<W> {
    const ID: CodecId = W::ID;
    const NAME: &'static str = W::NAME;
    const WIDTH: usize = size_of::<W>();
    const STATEFUL: bool = false;

    type Encoder = Encoder<W>;
    type Decoder = Decoder<W>;

    /// With [`Effort::Balanced`].
    fn encoder() -> Self::Encoder {
        Encoder::new(Effort::default())
    }

    fn decoder() -> Self::Decoder {
        Decoder::new()
    }
}

/// Encodes messages of words `W`. Takes at most 24 KiB of memory.
#[derive(Clone, Debug)]
pub struct Encoder<W> {
    effort: Effort,
    simd: Simd,
    hints: Hints,
    blocks: Blocks,
    structures: Structures,
    word: PhantomData<W>,
}

impl<W: entries::Word> Encoder<W> {
    /// An encoder with this effort. The wire of a message depends only on the message and the effort.
    #[must_use]
    pub fn new(effort: Effort) -> Self {
        Self {
            effort,
            simd: Simd::detect(),
            hints: Hints::none(),
            blocks: Blocks::new(),
            structures: Structures::new(),
            word: PhantomData,
        }
    }

    /// An encoder that remembers which predictors worked for earlier messages of the same length, so it has less to search. Its output
    /// depends on the earlier messages, but every decoder reads it.
    #[must_use]
    pub fn remembering(effort: Effort) -> Self {
        Self { hints: Hints::some(), ..Self::new(effort) }
    }

    /// Uses a kernel of this tier. The wire is the same at every tier.
    #[must_use]
    pub fn with_simd(mut self, simd: Simd) -> Self {
        self.simd = simd;
        self
    }
}

impl<W: entries::Word> Encode for Encoder<W> {
    /// `raw_len`, 2 bytes per block, and the header (format, section 10).
    fn max_encoded_len(&self, raw_len: usize) -> Option<usize> {
        let header = 1 + length::bytes(raw_len);
        raw_len.checked_add(raw_len.div_ceil(BLOCK) * Head::BYTES)?.checked_add(header)
    }

    /// Returns `Some(false)` if all bits of the words look random. Takes a tenth of a microsecond, or half a microsecond from 256 KiB on.
    /// If the words look random, it takes some microseconds, unless the effort is `Fast`, because the message may consist of structures. If
    /// the message is short, it prefetches the code of `encode`, for cold caches.
    fn worthwhile(&self, raw: &[u8]) -> Option<bool> {
        Some(W::worthwhile(self, raw))
    }

    fn encode(&mut self, raw: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError> {
        self.write_message(raw, &[], out)
    }

    fn saved(&self) -> Option<usize> {
        Some(self.blocks.referring.gain.saved)
    }

    /// The reference may have any bytes; only bytes near the message's bytes at the same place help. If none help,
    /// [`decode`](mpress_codec::Decode::decode) reads the wire, too.
    ///
    /// ```
    /// use mpress_diffpack::{Decode, Decoder64, Effort, Encode, Encoder64, Out};
    ///
    /// let step = |time: f64| (0..1000).flat_map(|i| (f64::from(i).sin() + time).to_le_bytes()).collect::<Vec<u8>>();
    /// let (last, this) = (step(2.0), step(2.0 + 1e-9));
    /// let mut encoder = Encoder64::new(Effort::Balanced);
    /// let mut wire = vec![0; encoder.max_encoded_len(this.len()).unwrap()];
    /// let mut out = Out::from_slice(&mut wire);
    /// encoder.encode_with(&last, &this, &mut out)?;
    /// let len = out.len();
    /// assert!(len < this.len() / 2);
    ///
    /// let mut raw = vec![0; this.len()];
    /// Decoder64::new().decode_with(&last, &wire[..len], &mut Out::from_slice(&mut raw))?;
    /// assert_eq!(raw, this);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn encode_with(&mut self, reference: &[u8], raw: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError> {
        if reference.len() != raw.len() {
            return Err(EncodeError::reference(reference.len(), raw.len()));
        }
        self.write_message(raw, reference, out)
    }
}

impl<W: entries::Word> Encoder<W> {
    /// Encodes a message. The reference has its length, or is empty if there is none.
    fn write_message(&mut self, raw: &[u8], reference: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError> {
        let most = self.max_encoded_len(raw.len());
        if self.hints.remembers {
            out.within(most, |out| W::encode(self, raw, reference, out))
        } else {
            out.attempt(most, |out| W::encode(self, raw, reference, out))
        }
    }
}

impl<W: entries::Word> Reset for Encoder<W> {
    /// Makes a [`remembering`](Encoder::remembering) encoder forget. Decoders need no reset.
    fn reset(&mut self) {
        self.hints.forget();
        self.blocks.lookback.forget();
        self.structures.forget();
    }
}

impl<W: Word> Encoder<W> {
    /// Whether a message is worthwhile. Most messages are, and are encoded next, so this prefetches the code, the message, and this
    /// encoder.
    pub(crate) fn verdict(&self, raw: &[u8]) -> bool {
        if raw.len() <= kernel::SHORT {
            kernel::prefetch::<W, Piece<'_, '_>>(self.simd, 9 << 10, kernel::encodes::<W>(self.simd));
            prefetch(Self::words as *const u8, 512);
            prefetch(header as *const u8, 384);
            prefetch(raw.as_ptr(), raw.len());
            for page in (0..size_of::<Self>()).step_by(4096) {
                prefetch(core::ptr::from_ref(self).cast::<u8>().wrapping_add(page), 1);
            }
        }
        let settings = self.effort.settings();
        let words = &raw[..raw.len() / W::WIDTH * W::WIDTH];
        // Structures may look like noise when read word by word.
        kernel::with::<W, _>(self.simd, Verdict { words, settings })
            || settings.thorough && is_regular(self.simd, raw)
    }

    /// Encodes a message. The reference has its length, or is empty if there is none.
    pub(crate) fn message(&mut self, raw: &[u8], reference: &[u8], out: &mut Out<'_>) -> Result<(), Full> {
        let (settings, start) = (self.effort.settings(), out.len());
        let message = Message { bytes: raw, reference };
        if settings.thorough {
            self.words_or_records(message, settings, out)?;
        } else {
            self.words(message, settings, out)?;
        }
        if self.blocks.referring.gain.is_used {
            out.written_mut()[start] |= REFERENCE;
        }
        Ok(())
    }

    /// Encodes a message as words, or as records if that seems shorter.
    #[inline(never)]
    fn words_or_records(
        &mut self,
        message: Message<'_>,
        settings: &Settings,
        out: &mut Out<'_>,
    ) -> Result<(), Full> {
        let raw = message.bytes;
        if !self.hints.remembers {
            self.structures.forget();
        }
        let guess = self.structures.guess::<W>(self.simd, raw);
        if guess == Guess::No {
            return self.words(message, settings, out);
        }
        let (start, room) = (out.len(), out.remaining());
        let records_len = match self.records(message, settings, out) {
            Ok(()) => out.len() - start,
            // With more room, records could be the shorter wire; but the wire must not depend on the room.
            Err(Full) if guess == Guess::Yes && room < raw.len() => return Err(Full),
            Err(Full) => usize::MAX,
        };
        // The length without a reference.
        let plain = |this: &Self, len: usize| len.saturating_add(this.blocks.referring.gain.saved);
        let plain_records = plain(self, records_len);
        if guess == Guess::Yes && plain_records < raw.len() {
            return Ok(());
        }
        out.truncate(start);
        self.words(message, settings, out)?;
        let words_len = out.len() - start;
        let least = plain(self, words_len).min(plain_records);
        let is_shorter = records_len < words_len;
        self.structures.learn(is_shorter);
        if is_shorter {
            out.truncate(start);
            self.records(message, settings, out)?;
        }
        self.blocks.referring.gain.saved = least.saturating_sub(out.len() - start);
        Ok(())
    }

    /// Encodes a message of words.
    fn words(
        &mut self,
        Message { bytes: raw, reference }: Message<'_>,
        settings: &Settings,
        out: &mut Out<'_>,
    ) -> Result<(), Full> {
        let (words, tail) = raw.split_at(raw.len() / W::WIDTH * W::WIDTH);
        let reference = reference.get(..words.len()).unwrap_or_default();
        let Self { simd, blocks, hints, .. } = self;
        blocks.referring.gain = Gain::default();
        header(0, raw, out)?;
        let mut slots = Slots::new();
        blocks.begin_message(settings, hints.remembers);
        for start in (0..words.len()).step_by(PIECE) {
            let message = Message { bytes: &words[..words.len().min(start + PIECE)], reference };
            let (hints, slots) = (Some(&mut *hints), &mut slots);
            kernel::with::<W, _>(*simd, Piece { message, start, hints, settings, blocks, slots, out })?;
        }
        out.extend_from_slice(tail)
    }

    /// Encodes a message of records with the guessed fields.
    fn records(&mut self, message: Message<'_>, settings: &Settings, out: &mut Out<'_>) -> Result<(), Full> {
        let Self { simd, blocks, structures, .. } = self;
        blocks.referring.gain = Gain::default();
        with_memory(message.reference, |memory| {
            columns::encode(*simd, blocks, &structures.fields, message, settings, memory, out)
        })
    }
}

/// Writes the header (format, section 2): the message's flags and length.
fn header(flags: u8, raw: &[u8], out: &mut Out<'_>) -> Result<(), Full> {
    put_header(&[FORMAT | flags], raw.len(), out)
}
