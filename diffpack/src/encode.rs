//! The encoder, and the static description of the codec.
#![forbid(unsafe_code)]

use crate::blocks::Blocks;
use crate::decode::Decoder;
use crate::effort::{Effort, Settings};
use crate::format::{BLOCK, COPIES, FORMAT, Head, RECORDS};
use crate::hints::{FEW, Hints};
use crate::kernel::{self, Kernel, Work};
use crate::layout::{Guess, Layouts, is_regular};
use crate::predictor::Slots;
use crate::records::{COLUMN, Layout, PIECE as PIECE_OF_RECORDS, column_width, gather};
use crate::repeats::Repeats;
use crate::search::{Search, Shortlist};
use crate::stretch::Stretch;
use crate::window::Window;
use crate::word::Word;
use core::marker::PhantomData;
use mpress_codec::simd::Simd;
use mpress_codec::support::length;
use mpress_codec::{Codec, CodecId, Encode, EncodeError, Full, Out, Reset};

/// The length of the pieces in which a longer message is encoded, each with its own search for predictors. A whole number of blocks.
const PIECE: usize = 1 << 20;

/// A copy of a block at the edge of a message: 6 KiB of words before it.
pub(crate) type EdgeWindow = Window<8192>;

/// The static description of the codec for one word: [`Diffpack64`](crate::Diffpack64), [`Diffpack32`](crate::Diffpack32),
/// [`Diffpack16`](crate::Diffpack16).
#[derive(Clone, Copy, Debug)]
pub struct Diffpack<W>(PhantomData<W>);

impl<W: Word> Codec for Diffpack<W> {
    const ID: CodecId = W::ID;
    const NAME: &'static str = W::NAME;
    const WIDTH: usize = W::WIDTH;
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

/// Encodes messages of words `W`. Takes at most 37 KiB of memory.
#[derive(Clone, Debug)]
pub struct Encoder<W> {
    effort: Effort,
    simd: Simd,
    blocks: Blocks,
    repeats: Repeats,
    hints: Hints,
    layouts: Layouts,
    word: PhantomData<W>,
}

impl<W: Word> Encoder<W> {
    /// An encoder with this effort. The wire of a message depends on the message and the effort only.
    #[must_use]
    pub fn new(effort: Effort) -> Self {
        Self {
            effort,
            simd: Simd::detect(),
            blocks: Blocks::new(),
            repeats: Repeats::new(),
            hints: Hints::none(),
            layouts: Layouts::new(),
            word: PhantomData,
        }
    }

    /// An encoder that remembers which predictors were good for earlier messages of the same length and so has less to search. Its output depends on
    /// the earlier messages; every decoder reads it.
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

impl<W: Word> Encode for Encoder<W> {
    /// `raw_len`, 2 bytes per block, and the header (format, section 11).
    fn max_encoded_len(&self, raw_len: usize) -> Option<usize> {
        let header = 1 + length::bytes(raw_len);
        raw_len.checked_add(raw_len.div_ceil(BLOCK) * Head::BYTES)?.checked_add(header)
    }

    /// Returns `Some(false)` if all bits of the words look random. Takes a tenth of a microsecond, or half a microsecond from 256 KiB on; some
    /// microseconds if the words look random, unless the effort is `Fast`, because the message may consist of structures.
    fn worthwhile(&self, raw: &[u8]) -> Option<bool> {
        Some(W::worthwhile(self, raw))
    }

    fn encode(&mut self, raw: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError> {
        let most = self.max_encoded_len(raw.len());
        out.within(most, |out| W::encode(self, raw, out))
    }
}

impl<W: Word> Reset for Encoder<W> {
    /// Makes a [`remembering`](Encoder::remembering) encoder forget. Decoders need no reset.
    fn reset(&mut self) {
        self.hints.forget();
        self.repeats.forget();
        self.layouts.forget();
    }
}

impl<W: Word> Encoder<W> {
    /// Whether a message is worthwhile.
    pub(crate) fn verdict(&self, raw: &[u8]) -> bool {
        let settings = self.effort.settings();
        let words = &raw[..raw.len() / W::WIDTH * W::WIDTH];
        // Structures may look like noise when viewed word by word.
        kernel::with(self.simd, Verdict::<W> { words, settings: &settings, word: PhantomData })
            || settings.records && is_regular(self.simd, raw)
    }

    /// Encodes a message.
    pub(crate) fn message(&mut self, raw: &[u8], out: &mut Out<'_>) -> Result<(), Full> {
        let settings = self.effort.settings();
        if !self.hints.remember() {
            self.repeats.forget();
            self.layouts.forget();
        }
        let guess = if settings.records { self.layouts.guess::<W>(self.simd, raw) } else { Guess::No };
        if guess == Guess::No {
            return self.words(raw, &settings, out);
        }
        let start = out.len();
        let records_len = self.records(raw, &settings, out).map_or(usize::MAX, |()| out.len() - start);
        if guess == Guess::Yes && records_len < raw.len() {
            return Ok(());
        }
        out.truncate(start);
        self.words(raw, &settings, out)?;
        if out.len() - start <= records_len {
            self.layouts.missed();
            return Ok(());
        }
        self.layouts.hit();
        out.truncate(start);
        self.records(raw, &settings, out)
    }

    /// Encodes a message of words.
    fn words(&mut self, raw: &[u8], settings: &Settings, out: &mut Out<'_>) -> Result<(), Full> {
        let (words, tail) = raw.split_at(raw.len() / W::WIDTH * W::WIDTH);
        let Encoder { simd, blocks, repeats, hints, .. } = self;
        let flags_at = out.len();
        let mut has_repeats = false;
        header(0, raw, out)?;
        let mut slots = Slots::new();
        for start in (0..words.len()).step_by(PIECE) {
            let end = words.len().min(start + PIECE);
            blocks.window().forget();
            let message = &words[start..end];
            let shortlist =
                Find::<W> { hints, window: blocks.window(), message, settings, word: PhantomData };
            let shortlist = kernel::with(*simd, shortlist);
            blocks.begin(hints.first(), &shortlist);
            let stretch = Stretch::<W> {
                simd: *simd,
                words: &words[..end],
                start,
                shortlist: &shortlist,
                settings,
                blocks,
                repeats: settings.repeats.then_some(&mut *repeats),
                first: hints.first_mut(),
                slots: &mut slots,
                out,
                word: PhantomData,
            };
            has_repeats |= kernel::with(*simd, stretch)?;
        }
        if has_repeats && let Some(flags) = out.written_mut().get_mut(flags_at) {
            *flags |= COPIES;
        }
        out.extend_from_slice(tail)
    }

    /// Encodes a message of records with the guessed layout (format, section 10).
    fn records(&mut self, raw: &[u8], settings: &Settings, out: &mut Out<'_>) -> Result<(), Full> {
        let Encoder { simd, blocks, repeats, layouts, .. } = self;
        encode_records(*simd, blocks, repeats, layouts.layout(), raw, settings, out)
    }
}

fn encode_records(
    simd: Simd,
    blocks: &mut Blocks,
    repeats: &mut Repeats,
    layout: &Layout,
    raw: &[u8],
    settings: &Settings,
    out: &mut Out<'_>,
) -> Result<(), Full> {
    let stride = layout.stride();
    let flags_at = out.len();
    let mut has_repeats = false;
    header(RECORDS, raw, out)?;
    let (definition, len) = layout.to_wire();
    out.store(&definition, len)?;
    let (records, tail) = raw.split_at(raw.len() / stride * stride);
    let mut column = [0; COLUMN];
    for piece in records.chunks(PIECE_OF_RECORDS * stride) {
        for (at, width) in layout.fields() {
            let column = &mut column[..piece.len() / stride * column_width(width)];
            match width {
                8 => gather::<8, 8>(piece, at, stride, column),
                4 => gather::<4, 4>(piece, at, stride, column),
                2 => gather::<2, 2>(piece, at, stride, column),
                _ => gather::<2, 1>(piece, at, stride, column),
            }
            let column = Column { simd, column, settings, blocks, repeats, out };
            has_repeats |= match width {
                8 => column.encode::<u64>()?,
                4 => column.encode::<u32>()?,
                _ => column.encode::<u16>()?,
            };
        }
    }
    if has_repeats && let Some(flags) = out.written_mut().get_mut(flags_at) {
        *flags |= COPIES;
    }
    out.extend_from_slice(tail)
}

/// Writes the header (format, section 2): what the message has, and its length.
fn header(flags: u8, raw: &[u8], out: &mut Out<'_>) -> Result<(), Full> {
    let (length, used) = length::to_wire(raw.len());
    out.extend_from_slice(&[FORMAT | flags])?;
    out.store(&length, used)
}

/// One field of some records, as words.
struct Column<'a, 'o> {
    simd: Simd,
    column: &'a [u8],
    settings: &'a Settings,
    blocks: &'a mut Blocks,
    repeats: &'a mut Repeats,
    out: &'a mut Out<'o>,
}

impl Column<'_, '_> {
    /// Returns whether any block has copies.
    fn encode<V: Word>(self) -> Result<bool, Full> {
        let Self { simd, column, settings, blocks, repeats, out } = self;
        let shortlist = Shortlist::of_columns();
        blocks.begin(None, &shortlist);
        repeats.forget();
        let stretch = Stretch::<V> {
            simd,
            words: column,
            start: 0,
            shortlist: &shortlist,
            settings,
            blocks,
            repeats: settings.repeats.then_some(repeats),
            first: None,
            slots: &mut Slots::new(),
            out,
            word: PhantomData,
        };
        kernel::with(simd, stretch)
    }
}

/// Finds the predictors that the blocks of a part of a message choose from.
struct Find<'a, W> {
    hints: &'a mut Hints,
    window: &'a mut EdgeWindow,
    message: &'a [u8],
    settings: &'a Settings,
    word: PhantomData<W>,
}

impl<W: Word> Work<W> for Find<'_, W> {
    type Output = Shortlist;

    #[inline(always)]
    fn run<K: Kernel<W>>(self, kernel: K) -> Shortlist {
        let Self { hints, window, message, settings, .. } = self;
        let search = Search { kernel, message, settings };
        // An empty shortlist: every block is stored.
        let is_short = message.len() <= FEW * BLOCK;
        match is_short || search.is_worthwhile::<W>() {
            true => hints.shortlist::<W, K>(&search, window),
            false => Shortlist::default(),
        }
    }
}

struct Verdict<'a, W> {
    words: &'a [u8],
    settings: &'a Settings,
    word: PhantomData<W>,
}

impl<W: Word> Work<W> for Verdict<'_, W> {
    type Output = bool;

    #[inline(always)]
    fn run<K: Kernel<W>>(self, kernel: K) -> bool {
        Search { kernel, message: self.words, settings: self.settings }.is_worthwhile::<W>()
    }
}
