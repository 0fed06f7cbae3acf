//! Encodes blocks of a message with a reference: by differences from it where these take fewer bytes.
#![forbid(unsafe_code)]

use super::EdgeWindow;
use super::back_off::BackOff;
use super::block::{Blocks, Found, NOTHING, fill_sample};
use super::piece::{Message, Task};
use super::split::Coding;
use crate::format::{BLOCK, Domain, GROUP, Predictor, Slots};
use crate::kernel::block::{Block, Widths};
use crate::kernel::{Kernel, SAMPLE};
use crate::word::Word;
use mpress_codec::{Full, Out};

/// A predictor that saved much is kept while its bytes grow by no more than this fraction and this number.
const KEEP: usize = 16;
/// It saved much if it saved this fraction.
const MUCH: usize = 8;
/// The rest of a block is looked at if its first quarter does not take more by this fraction.
const NEAR: u32 = 4;
/// The longest reach of lags that are tried, in bytes.
const REACH: usize = 1024;

/// The residuals of a block from the reference, and what the blocks before it have shown.
#[derive(Clone, Debug)]
pub(super) struct Referring {
    /// Whether a block needs the reference.
    pub(super) used: bool,
    pub(super) residuals: Block,
    /// The predictor of the last block, if it needs the reference: its bytes, and for how many blocks it was kept.
    last: Option<(Predictor, usize, usize)>,
    /// Of blocks for which it did not pay off.
    back_off: BackOff,
}

impl Referring {
    pub(super) fn new() -> Self {
        Self { used: false, residuals: Block::ZERO, last: None, back_off: BackOff::default() }
    }

    /// Begins a piece.
    pub(super) fn begin(&mut self) {
        (self.last, self.back_off) = (None, BackOff::default());
    }
}

impl Blocks {
    /// Encodes a block of a message with a reference.
    #[inline(always)]
    pub(super) fn refer<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        task: Task<'_>,
        slots: &mut Slots,
        out: &mut Out<'_>,
    ) -> Result<(), Full> {
        let (settings, raw) = (task.settings, task.raw());
        if let Some((predictor, len, kept)) = self.referring.last.take()
            && (kept + 1 < settings.kept || len == 0)
        {
            let coding = self.reference_coding(kernel, task, predictor);
            // Nothing is shorter than the words of the reference themselves.
            let most = if kept + 1 < settings.kept { len + len / KEEP + KEEP } else { 0 };
            if coding.len() <= most {
                self.referring.last = Some((predictor, len, kept + 1));
                return self.write(kernel, raw, &(predictor, NOTHING), &coding, slots, out);
            }
        }
        // Words in which nothing was found are their own residuals.
        let chosen = self.choose(kernel, task).unwrap_or(Predictor::NONE);
        let (mut found, mut coding) = self.coding(kernel, task, chosen);
        let skips = self.referring.back_off.skips();
        let mut is_shorter = false;
        if !skips && let Some(other) = self.nearest(kernel, task, chosen, &coding.stream.widths) {
            let nearer = self.reference_coding(kernel, task, other);
            let other = (other, NOTHING);
            let len = |(predictor, beside): Found, coding: &Coding| {
                slots.code(predictor).1.1 + beside.1 + coding.len()
            };
            let least = raw.len().min(len(found, &coding));
            is_shorter = len(other, &nearer) < least;
            if is_shorter {
                let is_much = nearer.len() + nearer.len() / MUCH < least;
                self.referring.last = is_much.then_some((other.0, nearer.len(), 0));
                (found, coding) = (other, nearer);
            } else {
                self.dealt.again(kernel, &coding, &self.residuals, raw.len() / W::WIDTH);
            }
        }
        if !skips {
            self.referring.back_off.learn(is_shorter, settings.patience, |misses| misses);
        }
        self.write(kernel, raw, &found, &coding, slots, out)
    }

    /// The predictor that needs the reference and takes the fewest bits for the first quarter of the block: without lags, or with
    /// those of the `chosen` one, whose residuals have these widths. `None` if it takes many more than that. Bits are those of a
    /// stream or, where blocks may be split, of a mask and the words that are not 0.
    #[inline(always)]
    fn nearest<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        Task { message, at, settings, .. }: Task<'_>,
        chosen: Predictor,
        widths: &Widths,
    ) -> Option<Predictor> {
        let sum =
            |widths: &Widths| -> u32 { widths[..SAMPLE / GROUP].iter().map(|width| u32::from(*width)).sum() };
        let split = |residuals: &Block, widths: &Widths| {
            let wide =
                W::split(&residuals.0[..SAMPLE]).0.iter().filter(|word| W::from_bytes(**word) != W::ZERO);
            let greatest = widths[..SAMPLE / GROUP].iter().fold(0, |most, width| *width.max(&most));
            (SAMPLE / W::WIDTH + wide.count() * usize::from(greatest)).div_ceil(W::LANES) as u32
        };
        let lagged = match chosen.domain {
            _ if !settings.thorough => None,
            Domain::Integer if chosen.reach() > 0 && chosen.reach() * W::WIDTH <= REACH => Some(chosen),
            Domain::Integer | Domain::Fixed(_) => None,
            _ => Some(Predictor::STEP),
        };
        let lagged = lagged.map(|lagged| lagged.in_domain(Domain::Reference));
        let quarter = Message { bytes: &message.bytes[..message.bytes.len().min(at + SAMPLE)], ..message };
        let mut best = None;
        for predictor in [Some(Predictor::REFERENCE), lagged].into_iter().flatten() {
            self.reference_residuals(kernel, quarter, at, predictor);
            let residuals = &self.referring.residuals;
            let widths = kernel.widths(&residuals.groups()[..SAMPLE / GROUP]);
            let mut cost = sum(&widths);
            if settings.thresholds.is_some() {
                cost = cost.min(split(residuals, &widths));
            }
            if best.is_none_or(|(_, least)| cost < least) {
                best = Some((predictor, cost));
            }
        }
        let bound = sum(widths);
        best.filter(|(_, cost)| *cost <= bound + bound / NEAR).map(|(predictor, _)| predictor)
    }

    /// The coding of the block's residuals from the reference.
    #[inline(always)]
    fn reference_coding<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        task: Task<'_>,
        predictor: Predictor,
    ) -> Coding {
        self.reference_residuals(kernel, task.message, task.at, predictor);
        let words = task.raw().len() / W::WIDTH;
        self.dealt.coding(kernel, &self.referring.residuals, words, task.settings.thresholds)
    }

    /// Computes the residuals of the block from the reference.
    #[inline(never)]
    fn reference_residuals<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        Message { bytes: words, reference }: Message<'_>,
        at: usize,
        predictor: Predictor,
    ) {
        let raw = &words[at..words.len().min(at + BLOCK)];
        let residuals = &mut self.referring.residuals;
        let reach = predictor.reach() * W::WIDTH;
        if reach == 0 {
            kernel.against(raw, &reference[at..], residuals.groups_mut());
        } else {
            self.filled = None;
            self.window.fill_minus(kernel, (words, reference), at, reach);
            let groups = &mut residuals.groups_mut()[..raw.len().div_ceil(GROUP)];
            kernel.difference(self.window.bytes(), EdgeWindow::AT, predictor.lags(), groups);
        }
        fill_sample(residuals, raw.len());
    }
}
