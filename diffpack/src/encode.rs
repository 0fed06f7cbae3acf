//! The sending side, and the facts of the codec.
#![forbid(unsafe_code)]

use crate::blocks::Blocks;
use crate::effort::{Effort, Settings};
use crate::format::{BLOCK, HEADER, Head, VERSION, VERSION_2};
use crate::hints::{FEW, Hints};
use crate::kernel::{self, Kernel, Work};
use crate::predictor::Slots;
use crate::repeats::Repeats;
use crate::search::{Search, Shortlist};
use crate::window::Window;
use crate::word::Word;
use core::marker::PhantomData;
use mpress_codec::simd::Level;
use mpress_codec::{Codec, CodecId, Encode, EncodeError, Full, Out};

/// How far an encoder looks ahead: predictors are searched for in a piece of a message that is longer. Whole blocks.
const PIECE: usize = 1 << 20;

/// A copy of a block at a message's edge: 6 KiB of words before it.
pub(crate) type EdgeWindow = Window<8192>;

/// The facts of the codec for one word: [`Diffpack64`](crate::Diffpack64), [`Diffpack32`](crate::Diffpack32),
/// [`Diffpack16`](crate::Diffpack16).
#[derive(Clone, Copy, Debug)]
pub struct Diffpack<W>(PhantomData<W>);

impl<W: Word> Codec for Diffpack<W> {
    const ID: CodecId = W::ID;
    const NAME: &'static str = W::NAME;
    const WIDTH: usize = W::WIDTH;
    const STATEFUL: bool = false;

    /// `raw_len`, 2 for each block, and 2 (format, section 9).
    fn max_encoded_len(raw_len: usize) -> Option<usize> {
        raw_len.checked_add(raw_len.div_ceil(BLOCK) * Head::BYTES)?.checked_add(HEADER)
    }
}

/// Encodes messages of words `W`. It holds 35 KiB of memory at most.
#[derive(Clone, Debug)]
pub struct Encoder<W> {
    effort: Effort,
    level: Level,
    blocks: Blocks<W>,
    repeats: Repeats,
    hints: Hints,
}

impl<W: Word> Encoder<W> {
    /// An encoder that takes this effort. The wire of a message depends on nothing but the message and the effort.
    #[must_use]
    pub fn new(effort: Effort) -> Self {
        Self {
            effort,
            level: Level::detect(),
            blocks: Blocks::new(),
            repeats: Repeats::new(),
            hints: Hints::none(),
        }
    }

    /// An encoder that remembers which predictors were good for earlier messages of the same length, and so has less to
    /// look for. What it writes depends on the messages before; every decoder reads it all the same.
    #[must_use]
    pub fn remembering(effort: Effort) -> Self {
        Self { hints: Hints::some(), ..Self::new(effort) }
    }

    /// The same with a kernel of this level. The wire is the same at every level.
    #[must_use]
    pub fn with_level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }
}

impl<W: Word> Encode for Encoder<W> {
    fn max_encoded_len(&self, raw_len: usize) -> Option<usize> {
        Diffpack::<W>::max_encoded_len(raw_len)
    }

    /// `Some(false)` where all bits of the words look random. It takes a tenth of a microsecond, or half a microsecond from 256 KiB on.
    fn worthwhile(&self, raw: &[u8]) -> Option<bool> {
        let settings = self.effort.settings();
        Some(kernel::with(self.level, Verdict::<W> { raw, settings, words: PhantomData }))
    }

    fn encode(&mut self, raw: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError> {
        let most = self.max_encoded_len(raw.len());
        out.within(most, |out| kernel::with(self.level, Message { encoder: self, raw, out }))
    }

    /// Makes a [`remembering`](Encoder::remembering) encoder forget. Decoders need not be reset.
    fn reset(&mut self) {
        self.hints.forget();
        self.repeats.forget();
    }
}

struct Message<'a, 'b, W> {
    encoder: &'a mut Encoder<W>,
    raw: &'a [u8],
    out: &'a mut Out<'b>,
}

impl<W: Word> Work<W> for Message<'_, '_, W> {
    type Output = Result<(), Full>;

    #[inline(always)]
    fn run<K: Kernel<W>>(self, kernel: K) -> Result<(), Full> {
        let (words, tail) = self.raw.split_at(self.raw.len() / W::WIDTH * W::WIDTH);
        let Encoder { effort, blocks, repeats, hints, .. } = self.encoder;
        let settings = effort.settings();
        let version_at = self.out.len();
        let mut has_repeats = false;
        if !hints.remember() {
            repeats.forget();
        }
        self.out.extend_from_slice(&[VERSION, (self.raw.len() % 8) as u8])?;
        let mut slots = Slots::new();
        for start in (0..words.len()).step_by(PIECE) {
            let end = words.len().min(start + PIECE);
            blocks.window().forget();
            let search = Search { kernel, message: &words[start..end], settings: &settings };
            // An empty shortlist: every block is stored.
            let is_short = end - start <= FEW * BLOCK;
            let shortlist = match is_short || search.is_worthwhile::<W>() {
                true => hints.shortlist::<W, K>(&search, blocks.window()),
                false => Shortlist::default(),
            };
            blocks.window().forget();
            blocks.begin(hints.first(), &shortlist);
            repeats.begin(PIECE / W::WIDTH);
            for at in (start..end).step_by(BLOCK) {
                let copies = settings.repeats
                    && repeats.find::<W>(&words[start..end], at - start, BLOCK.min(end - at));
                if copies {
                    let smaller = blocks.encode_repeats(
                        kernel, words, at, &shortlist, &settings, &mut slots, repeats, self.out,
                    )?;
                    if smaller {
                        repeats.hit()
                    } else {
                        repeats.missed()
                    }
                    has_repeats |= smaller;
                } else {
                    blocks.encode(kernel, words, at, &shortlist, &settings, &mut slots, self.out)?;
                }
                if at == start {
                    hints.keep_first(blocks.last());
                }
            }
        }
        if has_repeats && let Some(version) = self.out.written_mut().get_mut(version_at) {
            *version = VERSION_2;
        }
        self.out.extend_from_slice(tail)
    }
}

struct Verdict<'a, W> {
    raw: &'a [u8],
    settings: Settings,
    words: PhantomData<W>,
}

impl<W: Word> Work<W> for Verdict<'_, W> {
    type Output = bool;

    #[inline(always)]
    fn run<K: Kernel<W>>(self, kernel: K) -> bool {
        let message = &self.raw[..self.raw.len() / W::WIDTH * W::WIDTH];
        Search { kernel, message, settings: &self.settings }.is_worthwhile::<W>()
    }
}
