//! Encodes a block: chooses its predictor, finds the residuals and their widths, and writes them, or stores the block.
#![forbid(unsafe_code)]

use super::EdgeWindow;
use super::choose::{Choice, Filled};
use super::lookback::Lookback;
use super::piece::Message;
use super::refer::{Gain, Referring};
use super::search::Shortlist;
use super::split::{Coding, Dealt};
use super::stream::Stream;
use crate::effort::Settings;
use crate::format::{BLOCK, Domain, GROUP, GROUPS, Head, Predictor, Slots};
use crate::kernel::block::{Block, groups, samples};
use crate::kernel::{Kernel, SAMPLE, portable};
use crate::word::Word;
use mpress_codec::{Full, Out};

/// Bytes past a block that packers may write before they cut it off.
const SPARE: usize = 2 * GROUP;

/// Strip counts, packed (format, section 5).
pub(super) type Strip = [u8; GROUPS / 2];
/// The predictor of a block, its maximum, and its strip counts.
pub(super) type Found<W> = (Predictor, W, Option<Strip>);

/// Scratch memory for encoding blocks.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    pub(super) window: EdgeWindow,
    /// What the window holds of the current block.
    pub(super) filled: Option<Filled>,
    /// The choice of the last block for which all predictors were compared.
    pub(super) last: Option<Choice>,
    pub(super) referring: Referring,
    pub(super) residuals: Block,
    pub(super) dealt: Dealt,
    pub(super) lookback: Lookback,
}

impl Blocks {
    pub(super) fn new() -> Self {
        Self {
            window: EdgeWindow::new(),
            filled: None,
            last: None,
            referring: Referring::new(),
            residuals: Block::ZERO,
            dealt: Dealt::ZERO,
            lookback: Lookback::new(),
        }
    }

    /// Begins a message, or a column.
    pub(super) fn begin_message(&mut self, settings: &Settings, remember: bool) {
        if settings.lookback {
            self.lookback.begin(remember);
        }
    }

    /// Begins a piece. `first`, if it is in the shortlist, is the expected choice of the first block.
    pub(super) fn begin(&mut self, first: Option<Choice>, shortlist: &Shortlist) {
        self.referring.begin();
        self.last = first.filter(|first| shortlist.predictors().contains(&first.predictor));
    }

    /// Encodes the block at `at` of the words of a message.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "what a block is made with")]
    pub(super) fn encode<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        message: Message<'_>,
        at: usize,
        shortlist: &Shortlist,
        settings: &Settings,
        slots: &mut Slots,
        out: &mut Out<'_>,
    ) -> Result<(), Full> {
        self.filled = None;
        if !message.reference.is_empty() {
            return kernel.apart(|| self.refer(kernel, message, at, shortlist, settings, slots, out));
        }
        let words = message.bytes;
        let raw = &words[at..words.len().min(at + BLOCK)];
        match self.choose(kernel, words, at, shortlist, settings) {
            Some(predictor) => {
                let (maximum, strip) = self.find_residuals(kernel, words, at, predictor);
                let words = raw.len() / W::WIDTH;
                let stream = Stream::new::<W, K>(kernel, &self.residuals, words);
                let coding = self.dealt.coding(kernel, &self.residuals, words, stream, settings.thresholds);
                self.write(kernel, raw, &(predictor, maximum, strip), &coding, slots, out)
            }
            None => stored(raw, out),
        }
    }

    /// Writes the block, or stores it if encoding would not make it shorter. The residuals have been found.
    #[inline(always)]
    pub(super) fn write<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        raw: &[u8],
        found: &Found<W>,
        coding: &Coding,
        slots: &mut Slots,
        out: &mut Out<'_>,
    ) -> Result<(), Full> {
        let (words, (predictor, maximum, strip)) = (raw.len() / W::WIDTH, found);
        let name = Name::new(*predictor, slots);
        if name.len + beside(found, words) + coding.len() >= raw.len() {
            return stored(raw, out);
        }
        let strips = if strip.is_some() { Head::STRIP } else { 0 };
        name.write(coding.head() | strips, slots, out)?;
        if predictor.has_maximum() {
            let mut word = [0; 8];
            maximum.store(&mut word, 0);
            out.store(&word, W::WIDTH)?;
        }
        if let Some(strip) = strip {
            out.store(strip, words.div_ceil(W::LANES).div_ceil(2))?;
        }
        let residuals = match predictor.domain {
            Domain::Reference => {
                self.referring.gain.is_used = true;
                &self.referring.residuals
            }
            _ => &self.residuals,
        };
        self.dealt.write(kernel, coding, residuals, words, out)
    }

    /// Encodes the block at `at` again, by distances to earlier words, and keeps the shorter form. The block and its definitions were
    /// written from `start` of `out` on; `before` is the table before that, and `gain` what the reference had gained.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "what a block is made with")]
    pub(super) fn look_back<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        message: &[u8],
        at: usize,
        settings: &Settings,
        (start, before, gain): (usize, &Slots, Gain),
        slots: &mut Slots,
        out: &mut Out<'_>,
    ) {
        let len = (message.len() - at).min(BLOCK);
        let end = out.len();
        // One value repeated: its differences take fewer bytes.
        if end - start <= len / 32 || !self.lookback.find::<W>(message, at, &mut self.residuals) {
            return;
        }
        fill_sample(&mut self.residuals, len);
        fill_sample(&mut self.lookback.distances, len);
        let mut slots_then = *before;
        // Not after the block: the wire must not depend on the room there.
        let mut spare = [0; BLOCK + SPARE];
        let mut near = Out::from_slice(&mut spare);
        let written = self.write_near(kernel, len / W::WIDTH, settings, &mut slots_then, &mut near);
        let is_shorter = written.is_ok() && near.len() < end - start;
        if is_shorter {
            *slots = slots_then;
            self.referring.gain = gain;
            out.written_mut()[start..start + near.len()].copy_from_slice(near.written());
            out.truncate(start + near.len());
        } else if written.is_ok() {
            // Without its reference, the block would have taken this form.
            let saved = gain.saved + near.len() - (end - start);
            self.referring.gain.saved = saved.min(self.referring.gain.saved);
        }
        self.lookback.learn(is_shorter);
    }

    /// Writes a block of distances and residuals.
    #[inline(always)]
    fn write_near<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        words: usize,
        settings: &Settings,
        slots: &mut Slots,
        out: &mut Out<'_>,
    ) -> Result<(), Full> {
        let predictor = Predictor::LOOKBACK;
        let distances = &self.lookback.distances;
        let stream = Stream::new::<W, K>(kernel, distances, words);
        let coding = self.dealt.coding(kernel, distances, words, stream, settings.thresholds);
        Name::new(predictor, slots).write(coding.head(), slots, out)?;
        self.dealt.write(kernel, &coding, distances, words, out)?;
        let stream = Stream::new::<W, K>(kernel, &self.residuals, words);
        let coding = self.dealt.coding(kernel, &self.residuals, words, stream, settings.thresholds);
        out.extend_from_slice(&coding.head().to_le_bytes())?;
        self.dealt.write(kernel, &coding, &self.residuals, words, out)
    }

    /// Computes the residuals of the block. Returns the maximum and the strip counts.
    #[inline(always)]
    pub(super) fn find_residuals<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        message: &[u8],
        at: usize,
        predictor: Predictor,
    ) -> (W, Option<Strip>) {
        let maximum = match predictor.domain {
            Domain::Below { rotation } => {
                let len = (message.len() - at).min(BLOCK);
                let words = if len.is_multiple_of(SAMPLE) {
                    message[at..at + len].as_chunks().0
                } else {
                    self.fill(kernel, message, at, Domain::Integer, 0);
                    samples(groups(self.window.block()), len.div_ceil(GROUP))
                };
                kernel.below(words, rotation.into(), &mut self.residuals.groups_mut()[..words.len()])
            }
            domain => {
                let groups = (message.len() - at).div_ceil(GROUP).min(GROUPS);
                let reach = predictor.reach() * W::WIDTH;
                let (bytes, at) = if domain == Domain::Integer && reach <= at && message.len() - at >= BLOCK {
                    (message, at)
                } else {
                    self.fill(kernel, message, at, domain, reach);
                    (self.window.bytes(), EdgeWindow::AT)
                };
                let groups = &mut self.residuals.groups_mut()[..groups];
                kernel.difference(bytes, at, predictor.lags(), groups);
                W::ZERO
            }
        };
        let len = (message.len() - at).min(BLOCK);
        fill_sample(&mut self.residuals, len);
        let strip = match predictor.domain {
            Domain::Fixed(_) => kernel.apart(|| strip_zeros::<W>(&mut self.residuals, len.div_ceil(GROUP))),
            _ => None,
        };
        (maximum, strip)
    }
}

/// Shifts out the trailing zeros common to all differences of a group, if that saves more than the strip counts cost. Returns the
/// packed counts.
#[inline(always)]
fn strip_zeros<W: Word>(residuals: &mut Block, groups: usize) -> Option<Strip> {
    let mut counts = portable::trailing_zeros::<W>(residuals);
    counts[groups.min(GROUPS)..].fill(0);
    let gain: u32 = counts.iter().map(|count| u32::from(*count) * W::LANES as u32).sum();
    if gain <= 16 * 8 + 64 {
        return None;
    }
    portable::strip::<W>(residuals, &counts);
    let mut packed = [0; GROUPS / 2];
    for (to, [low, high]) in packed.iter_mut().zip(counts.as_chunks().0) {
        *to = low | high << 4;
    }
    Some(packed)
}

/// Zero-fills a block from `len` bytes to the end of a sample.
#[inline(always)]
pub(super) fn fill_sample(block: &mut Block, len: usize) {
    if len < BLOCK {
        block.0[len..len.next_multiple_of(SAMPLE)].fill(0);
    }
}

/// How a block names its predictor: by its slot, or by a definition; `len` is the length of the definition, 0 for a slot.
pub(super) struct Name {
    predictor: Predictor,
    code: u16,
    definition: [u8; 9],
    pub(super) len: usize,
}

impl Name {
    #[inline(always)]
    pub(super) fn new(predictor: Predictor, slots: &Slots) -> Self {
        let slot = slots.find(predictor);
        let (definition, len) = if slot.is_some() { ([0; 9], 0) } else { predictor.to_wire() };
        Self { predictor, code: slot.unwrap_or(Head::DEFINED), definition, len }
    }

    /// Writes the head and the definition.
    #[inline(always)]
    fn write(&self, head: u16, slots: &mut Slots, out: &mut Out<'_>) -> Result<(), Full> {
        out.extend_from_slice(&(head | self.code << 12).to_le_bytes())?;
        if self.len > 0 {
            slots.define(self.predictor);
            out.store(&self.definition, self.len)?;
        }
        Ok(())
    }
}

/// The number of bytes between the name of the predictor and the residuals.
#[inline(always)]
pub(super) fn beside<W: Word>((predictor, _, strip): &Found<W>, words: usize) -> usize {
    let maximum = if predictor.has_maximum() { W::WIDTH } else { 0 };
    maximum + if strip.is_some() { words.div_ceil(W::LANES).div_ceil(2) } else { 0 }
}

fn stored(words: &[u8], out: &mut Out<'_>) -> Result<(), Full> {
    out.extend_from_slice(&Head::stored().0.to_le_bytes())?;
    out.extend_from_slice(words)
}
