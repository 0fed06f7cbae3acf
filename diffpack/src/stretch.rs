//! Encodes a stretch: the blocks of a part of a message, or of a column of records.
//!
//! Code for a block is large. So that there is one instance of it for each word and tier, blocks of copies call the code for stretches again: for
//! their literals, and for the block without copies.
#![forbid(unsafe_code)]

use crate::blocks::{Blocks, Choice};
use crate::effort::Settings;
use crate::format::{BLOCK, Head};
use crate::kernel::{self, Kernel, SAMPLE, Work};
use crate::predictor::Slots;
use crate::repeats::Repeats;
use crate::search::Shortlist;
use crate::word::Word;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use mpress_codec::simd::Simd;
use mpress_codec::{Full, Out};

/// The words from `start` on, whose blocks choose from the same predictors; those before it predict them.
pub(crate) struct Stretch<'a, 'o, W> {
    pub(crate) simd: Simd,
    pub(crate) words: &'a [u8],
    pub(crate) start: usize,
    pub(crate) shortlist: &'a Shortlist,
    pub(crate) settings: &'a Settings,
    pub(crate) blocks: &'a mut Blocks,
    /// `None` if no copies are looked for.
    pub(crate) repeats: Option<&'a mut Repeats>,
    /// Where to store the choice of the first block.
    pub(crate) first: Option<&'a mut Option<Choice>>,
    pub(crate) slots: &'a mut Slots,
    pub(crate) out: &'a mut Out<'o>,
    pub(crate) word: PhantomData<W>,
}

impl<W: Word> Work<W> for Stretch<'_, '_, W> {
    /// Whether any block has copies.
    type Output = Result<bool, Full>;

    #[inline(always)]
    fn run<K: Kernel<W>>(self, kernel: K) -> Result<bool, Full> {
        let Self { simd, words, start, shortlist, settings, blocks, .. } = self;
        let Self { mut repeats, mut first, slots, out, .. } = self;
        let (mut some_repeat, mut of_literals) = (false, None);
        blocks.window().forget();
        if let Some(repeats) = &mut repeats {
            repeats.begin::<W>((words.len() - start) / W::WIDTH);
        }
        for at in (start..words.len()).step_by(BLOCK) {
            let end = words.len().min(at + BLOCK);
            if let Some(repeats) = &mut repeats
                && repeats.find::<W>(simd, &words[start..], at - start, end - at)
            {
                let block = Block { simd, words: &words[..end], at, shortlist, settings };
                let of_literals = &*of_literals.get_or_insert_with(|| shortlist.of_literals());
                match block.encode_repeats::<W>(blocks, of_literals, repeats, slots, out)? {
                    Some(literal_bytes) => {
                        repeats.hit(literal_bytes);
                        some_repeat = true;
                    }
                    None => repeats.missed(),
                }
            } else {
                blocks.encode(kernel, words, at, shortlist, settings, slots, out)?;
            }
            if let Some(first) = first.take() {
                *first = blocks.last();
            }
        }
        Ok(some_repeat)
    }
}

/// The block from `at` to the end of `words`, which has copies.
#[derive(Clone, Copy)]
struct Block<'a> {
    simd: Simd,
    words: &'a [u8],
    at: usize,
    shortlist: &'a Shortlist,
    settings: &'a Settings,
}

impl Block<'_> {
    /// Encodes the block as copies and literals, or as any other block if that is smaller. Returns the bytes that the literals took if it was written as
    /// copies. Not inlined: blocks without copies are far more frequent.
    #[inline(never)]
    fn encode_repeats<W: Word>(
        self,
        blocks: &mut Blocks,
        of_literals: &Shortlist,
        repeats: &Repeats,
        slots: &mut Slots,
        out: &mut Out<'_>,
    ) -> Result<Option<usize>, Full> {
        let Self { simd, words, at, settings, .. } = self;
        let len = words.len() - at;
        let literals = repeats.literals();
        let mut copied = [MaybeUninit::uninit(); BLOCK + Head::BYTES];
        let mut copied = Out::new(&mut copied[..len + Head::BYTES]);
        let mut copied_slots = *slots;
        let last = blocks.take_last();
        // The literals are encoded as a message of their own: the predictors that suit the neighbouring blocks may not suit them.
        let literal_words = literals.len() / W::WIDTH;
        let mut literal_bytes = 0;
        let written = repeats.sequences.write(simd, repeats.units, literal_words, &mut copied, |copied| {
            let before = copied.len();
            let literals = Block { simd, words: literals, at: 0, shortlist: of_literals, settings };
            literals.encode::<W>(blocks, &mut copied_slots, copied)?;
            literal_bytes = copied.len() - before;
            Ok(())
        });
        blocks.restore(last);
        let start = out.len();
        // If it is much shorter than a sample predicts for the block without copies, there is no need to try that.
        let is_certain = written.is_ok()
            && (repeats.are_trusted() && copied.len() < len - len / 4
                || self.cost::<W>(blocks).is_none_or(|cost| {
                    let bytes = cost as usize * W::LANES / 8 * BLOCK / SAMPLE / settings.quarters;
                    copied.len() + copied.len() / 2 < bytes.min(len)
                }));
        blocks.restore(last);
        if !is_certain {
            let before = *slots;
            self.encode::<W>(blocks, slots, out)?;
            if written.is_err() || out.len() - start <= copied.len() {
                return Ok(None);
            }
            *slots = before;
            out.truncate(start);
        }
        *slots = copied_slots;
        out.extend_from_slice(copied.written())?;
        Ok(Some(literal_bytes))
    }

    /// Encodes the block without copies.
    fn encode<W: Word>(self, blocks: &mut Blocks, slots: &mut Slots, out: &mut Out<'_>) -> Result<(), Full> {
        let Self { simd, words, at, shortlist, settings } = self;
        let (repeats, first, word) = (None, None, PhantomData::<W>);
        let stretch =
            Stretch { simd, words, start: at, shortlist, settings, blocks, repeats, first, slots, out, word };
        kernel::with(simd, stretch).map(|_| ())
    }

    /// What a sample of the block costs without copies; `None` if all predictors are out of reach.
    fn cost<W: Word>(self, blocks: &mut Blocks) -> Option<u32> {
        kernel::with(self.simd, Choose::<W> { block: self, blocks, word: PhantomData })
    }
}

/// Chooses the predictor of a block. The result is its cost.
struct Choose<'a, W> {
    block: Block<'a>,
    blocks: &'a mut Blocks,
    word: PhantomData<W>,
}

impl<W: Word> Work<W> for Choose<'_, W> {
    type Output = Option<u32>;

    #[inline(always)]
    fn run<K: Kernel<W>>(self, kernel: K) -> Option<u32> {
        let Block { words, at, shortlist, settings, .. } = self.block;
        self.blocks.choose(kernel, words, at, shortlist, settings)?;
        Some(self.blocks.last().map_or(0, |last| last.cost()))
    }
}
