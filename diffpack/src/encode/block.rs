//! Encodes a block: chooses its predictor, finds the residuals and their widths, and writes them; or stores the block.
#![forbid(unsafe_code)]

use super::EdgeWindow;
use super::choose::{Choice, Filled};
use super::lookback::Lookback;
use super::piece::{Message, Task};
use super::refer::Referring;
use super::search::Shortlist;
use super::split::{Coding, Dealt};
use crate::effort::Settings;
use crate::format::{BLOCK, Domain, GROUP, GROUPS, Head, Predictor, Slots};
use crate::kernel::block::{Block, groups, samples};
use crate::kernel::{Kernel, SAMPLE};
use crate::word::Word;
use mpress_codec::{Full, Out};

/// Bytes past a block that packers may write before they cut it off.
const SPARE: usize = 2 * GROUP;

/// What is between definition and residuals, a maximum or strip counts (format, section 5), and its length in bytes.
pub(super) type Beside = ([u8; GROUPS / 2], usize);
pub(super) const NOTHING: Beside = ([0; _], 0);
/// The predictor of a block, and that.
pub(super) type Found = (Predictor, Beside);

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
        self.window.forget();
        self.last = first.filter(|first| shortlist.predictors().contains(&first.predictor));
    }

    /// Encodes a block.
    #[inline(always)]
    pub(super) fn encode<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        task: Task<'_>,
        slots: &mut Slots,
        out: &mut Out<'_>,
    ) -> Result<(), Full> {
        self.filled = None;
        if !task.message.reference.is_empty() {
            return kernel.apart(|| self.refer(kernel, task, slots, out));
        }
        match self.choose(kernel, task) {
            Some(predictor) => {
                let (found, coding) = self.coding(kernel, task, predictor);
                self.write(kernel, task.raw(), &found, &coding, slots, out)
            }
            None => stored(task.raw(), out),
        }
    }

    /// Writes the block, or stores it if it would not get shorter. The residuals have been found.
    #[inline(always)]
    pub(super) fn write<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        raw: &[u8],
        (predictor, beside): &Found,
        coding: &Coding,
        slots: &mut Slots,
        out: &mut Out<'_>,
    ) -> Result<(), Full> {
        let words = raw.len() / W::WIDTH;
        let is_reference = predictor.domain == Domain::Reference;
        let residuals = if is_reference { &self.referring.residuals } else { &self.residuals };
        let (code, definition) = slots.code(*predictor);
        if definition.1 + beside.1 + coding.len() >= raw.len() {
            return stored(raw, out);
        }
        let has_strip = matches!(predictor.domain, Domain::Fixed(_)) && beside.1 > 0;
        let flags = if has_strip { Head::STRIP } else { 0 };
        begin(coding.head() | flags | code << 12, definition, *predictor, slots, out)?;
        self.referring.used |= is_reference;
        out.store(&beside.0, beside.1)?;
        self.dealt.write(kernel, coding, residuals, words, out)
    }

    /// Encodes a block again, by distances to earlier words, and keeps what is shorter. The block and its definitions were written from
    /// `start` of `out` on; before it, `before` was the table, and `used` said whether a block needs the reference.
    #[inline(always)]
    pub(super) fn look_back<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        task: Task<'_>,
        (start, before, used): (usize, &Slots, bool),
        slots: &mut Slots,
        out: &mut Out<'_>,
    ) {
        let Task { message: Message { bytes, .. }, at, .. } = task;
        let len = task.raw().len();
        let end = out.len();
        // One value, again and again: its differences take fewer bytes.
        if end - start <= len / 32 || !self.lookback.find::<W>(bytes, at, &mut self.residuals) {
            return;
        }
        fill_sample(&mut self.residuals, len);
        fill_sample(self.lookback.distances_mut(), len);
        let mut slots_then = *before;
        // Not behind the block: the wire must not depend on the room there.
        let mut spare = [0; BLOCK + SPARE];
        let mut near = Out::from_slice(&mut spare);
        let written =
            self.write_near(kernel, len / W::WIDTH, task.settings.thresholds, &mut slots_then, &mut near);
        let is_shorter = written.is_ok() && near.len() < end - start;
        if is_shorter {
            *slots = slots_then;
            self.referring.used = used;
            out.written_mut()[start..start + near.len()].copy_from_slice(near.written());
            out.truncate(start + near.len());
        }
        self.lookback.learn(is_shorter);
    }

    /// Writes a block of distances and residuals.
    #[inline(always)]
    fn write_near<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        words: usize,
        thresholds: Option<usize>,
        slots: &mut Slots,
        out: &mut Out<'_>,
    ) -> Result<(), Full> {
        let predictor = Predictor::LOOKBACK;
        let distances = self.lookback.distances();
        let coding = self.dealt.coding(kernel, distances, words, thresholds);
        let (code, definition) = slots.code(predictor);
        begin(coding.head() | code << 12, definition, predictor, slots, out)?;
        self.dealt.write(kernel, &coding, distances, words, out)?;
        let coding = self.dealt.coding(kernel, &self.residuals, words, thresholds);
        out.extend_from_slice(&coding.head().to_le_bytes())?;
        self.dealt.write(kernel, &coding, &self.residuals, words, out)
    }

    /// Computes the residuals of the block, and how to write them.
    #[inline(always)]
    pub(super) fn coding<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        task: Task<'_>,
        predictor: Predictor,
    ) -> (Found, Coding) {
        let (Task { message: Message { bytes, .. }, at, .. }, len) = (task, task.raw().len());
        let mut beside = NOTHING;
        match predictor.domain {
            Domain::Below { rotation } => {
                let words = if len.is_multiple_of(SAMPLE) {
                    task.raw().as_chunks().0
                } else {
                    self.fill(kernel, bytes, at, Domain::Integer, 0);
                    samples(groups(self.window.block()), len.div_ceil(GROUP))
                };
                let residuals = &mut self.residuals.groups_mut()[..words.len()];
                kernel.below(words, rotation.into(), residuals).store(&mut beside.0, 0);
                beside.1 = W::WIDTH;
            }
            domain => {
                let reach = predictor.reach() * W::WIDTH;
                let (bytes, at) = if domain == Domain::Integer && reach <= at && len >= BLOCK {
                    (bytes, at)
                } else {
                    self.fill(kernel, bytes, at, domain, reach);
                    (self.window.bytes(), EdgeWindow::AT)
                };
                let groups = &mut self.residuals.groups_mut()[..len.div_ceil(GROUP)];
                kernel.difference(bytes, at, predictor.lags(), groups);
            }
        }
        fill_sample(&mut self.residuals, len);
        if let Domain::Fixed(_) = predictor.domain {
            beside = strip_zeros(kernel, &mut self.residuals, len.div_ceil(GROUP));
        }
        let coding = self.dealt.coding(kernel, &self.residuals, len / W::WIDTH, task.settings.thresholds);
        ((predictor, beside), coding)
    }
}

/// Shifts out the trailing zeros common to all differences of a group, if that saves more than the counts cost. Returns these, packed.
#[inline(never)]
fn strip_zeros<W: Word, K: Kernel<W>>(kernel: K, residuals: &mut Block, groups: usize) -> Beside {
    let mut counts = kernel.trailing_zeros(residuals);
    counts[groups.min(GROUPS)..].fill(0);
    let gain: u32 = counts.iter().map(|count| u32::from(*count) * W::LANES as u32).sum();
    if gain <= 16 * 8 + 64 {
        return NOTHING;
    }
    kernel.strip(residuals, &counts);
    let mut packed = [0; _];
    for (to, [low, high]) in packed.iter_mut().zip(counts.as_chunks().0) {
        *to = low | high << 4;
    }
    (packed, groups.div_ceil(2))
}

/// Fills a block with zeros from `len` bytes to the end of a sample.
#[inline(always)]
pub(super) fn fill_sample(block: &mut Block, len: usize) {
    if len < BLOCK {
        block.0[len..len.next_multiple_of(SAMPLE)].fill(0);
    }
}

/// Writes a head, and the definition if the predictor has no slot.
#[inline(always)]
fn begin(
    head: u16,
    (definition, len): ([u8; 9], usize),
    predictor: Predictor,
    slots: &mut Slots,
    out: &mut Out<'_>,
) -> Result<(), Full> {
    out.extend_from_slice(&head.to_le_bytes())?;
    if len > 0 {
        slots.define(predictor);
        out.store(&definition, len)?;
    }
    Ok(())
}

fn stored(words: &[u8], out: &mut Out<'_>) -> Result<(), Full> {
    out.extend_from_slice(&Head::stored().0.to_le_bytes())?;
    out.extend_from_slice(words)
}
