//! Encodes a piece of a message, whose blocks choose from the same predictors.
#![forbid(unsafe_code)]

use super::block::Blocks;
use super::hints::{FEW, Hints};
use super::search::{Search, Shortlist};
use crate::effort::Settings;
use crate::format::{BLOCK, Slots};
use crate::kernel::{Kernel, Work};
use crate::word::Word;
use mpress_codec::{Full, Out};
use mpress_codec_support::prefetch;

/// The length of the pieces into which a longer message is divided, each with its own search for predictors. A whole number of
/// blocks.
pub(super) const PIECE: usize = 1 << 20;

/// A message or its whole words, and the reference that also predicts them; it has the same length, or is empty if there is none.
#[derive(Clone, Copy)]
pub(super) struct Message<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) reference: &'a [u8],
}

/// The words from `start` on; those before it predict them.
pub(super) struct Piece<'a, 'o> {
    pub(super) message: Message<'a>,
    pub(super) start: usize,
    /// For the search for predictors; `None` in columns of records, for which there is a list.
    pub(super) hints: Option<&'a mut Hints>,
    pub(super) settings: &'a Settings,
    pub(super) blocks: &'a mut Blocks,
    pub(super) slots: &'a mut Slots,
    pub(super) out: &'a mut Out<'o>,
}

impl<W: Word> Work<W> for Piece<'_, '_> {
    type Output = Result<(), Full>;

    #[inline(always)]
    fn run<K: Kernel<W>>(self, kernel: K) -> Result<(), Full> {
        let Self { message, start, mut hints, settings, blocks, slots, out } = self;
        prefetch(Blocks::fill::<W, K> as *const u8, 512);
        let words = message.bytes;
        let shortlist = match &mut hints {
            Some(hints) => {
                let search = Search { kernel, message: &words[start..], settings };
                // An empty shortlist: every block is stored.
                let is_short = search.message.len() <= FEW * BLOCK;
                match is_short || search.is_worthwhile::<W>() {
                    true => hints.shortlist::<W, K>(&search),
                    false => Shortlist::default(),
                }
            }
            None => Shortlist::of_columns(),
        };
        let mut first = hints.and_then(Hints::first_mut);
        blocks.begin(first.as_deref().copied().flatten(), &shortlist);
        for at in (start..words.len()).step_by(BLOCK) {
            let before = settings.lookback.then(|| (out.len(), *slots, blocks.referring.gain));
            blocks.encode(kernel, message, at, &shortlist, settings, slots, out)?;
            if let Some(first) = first.take() {
                *first = blocks.last;
            }
            if let Some((start, before, gain)) = &before {
                let before = (*start, before, *gain);
                kernel.apart(|| blocks.look_back(kernel, words, at, settings, before, slots, out));
            }
        }
        Ok(())
    }
}

/// Whether a message is worthwhile.
pub(super) struct Verdict<'a> {
    pub(super) words: &'a [u8],
    pub(super) settings: &'a Settings,
}

impl<W: Word> Work<W> for Verdict<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<K: Kernel<W>>(self, kernel: K) -> bool {
        Search { kernel, message: self.words, settings: self.settings }.is_worthwhile::<W>()
    }
}
