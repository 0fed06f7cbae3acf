//! Encodes a block: chooses its predictor and writes the packed residuals, or stores the block.
#![forbid(unsafe_code)]

use crate::block::{Block, Widths, groups, samples};
use crate::effort::Settings;
use crate::encode::EdgeWindow;
use crate::format::{BLOCK, GROUP, GROUPS, Head};
use crate::kernel::{Kernel, SAMPLE};
use crate::predictor::{Domain, Predictor, Slots};
use crate::search::Shortlist;
use crate::split::{Dealt, Split};
use crate::stream::Stream;
use crate::word::Word;
use mpress_codec::{Full, Out};

/// Scratch memory for encoding blocks.
#[derive(Clone, Debug)]
pub(crate) struct Blocks {
    window: EdgeWindow,
    /// What the window holds of the current block.
    filled: Option<Filled>,
    /// The choice of the last block for which all predictors were compared.
    last: Option<Choice>,
    residuals: Block,
    dealt: Dealt,
}

/// A predictor, its cost when it was compared with the others, and the number of blocks since then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    predictor: Predictor,
    cost: u32,
    kept: usize,
}

/// A predictor replaces one before it in the shortlist only if it seems to cost less by this fraction: the sample's costs are uncertain.
const DOUBT: u32 = 32;
/// The predictors are compared again when the kept one costs more by this fraction.
const KEEP: u32 = 16;

/// What a window has been filled with.
#[derive(Clone, Copy, Debug)]
struct Filled {
    domain: Domain,
    reach: usize,
}

impl Choice {
    pub(crate) fn cost(&self) -> u32 {
        self.cost
    }
}

impl Blocks {
    pub(crate) fn new() -> Self {
        Self {
            window: EdgeWindow::new(),
            filled: None,
            last: None,
            residuals: Block::ZERO,
            dealt: Dealt::ZERO,
        }
    }

    /// Begins a message. `first`, if it is in the shortlist, is the expected choice of the first block.
    pub(crate) fn begin(&mut self, first: Option<Choice>, shortlist: &Shortlist) {
        self.last = first.filter(|first| shortlist.predictors().contains(&first.predictor));
    }

    /// The current choice.
    pub(crate) fn last(&self) -> Option<Choice> {
        self.last
    }

    /// Takes the current choice, as if no block had been encoded yet.
    pub(crate) fn take_last(&mut self) -> Option<Choice> {
        let last = self.last;
        self.restore(None);
        last
    }

    /// Puts an earlier choice back, after blocks of other words.
    pub(crate) fn restore(&mut self, last: Option<Choice>) {
        self.window.forget();
        self.filled = None;
        self.last = last;
    }

    pub(crate) fn window(&mut self) -> &mut EdgeWindow {
        &mut self.window
    }

    /// Encodes the block at `at` of the words of a message.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "what a block is made with")]
    pub(crate) fn encode<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        message: &[u8],
        at: usize,
        shortlist: &Shortlist,
        settings: &Settings,
        slots: &mut Slots,
        out: &mut Out<'_>,
    ) -> Result<(), Full> {
        let len = (message.len() - at).min(BLOCK);
        self.filled = None;
        let Some(predictor) = self.choose(kernel, message, at, shortlist, settings) else {
            return stored(&message[at..at + len], out);
        };
        let words = len / W::WIDTH;
        let maximum = self.find_residuals(kernel, message, at, predictor);
        if len < BLOCK {
            self.residuals.0[len..len.next_multiple_of(SAMPLE)].fill(0);
        }
        let groups = words.div_ceil(W::LANES);
        let strip = match predictor.domain {
            Domain::Fixed(_) => strip_zeros(kernel, &mut self.residuals, groups),
            _ => None,
        };
        let stream = Stream::new::<W, K>(kernel, &self.residuals, words);
        let slot = slots.find(predictor);
        let (definition, definition_len) = match slot {
            Some(_) => ([0; 9], 0),
            None => predictor.to_wire(),
        };
        let maximum_len = if predictor.is_difference() { 0 } else { W::WIDTH };
        let strip_len = if strip.is_some() { groups.div_ceil(2) } else { 0 };
        let split = self.dealt.split(kernel, &self.residuals, words, &stream, settings.thresholds);
        let streams_len = split.as_ref().map_or(stream.len, |split| split.len);
        if definition_len + maximum_len + strip_len + streams_len >= len {
            return stored(&message[at..at + len], out);
        }
        let mut head = split.as_ref().map_or(stream.head(), Split::head).0;
        head |= if strip.is_some() { Head::STRIP } else { 0 } | slot.unwrap_or(Head::DEFINED) << 12;
        out.extend_from_slice(&head.to_le_bytes())?;
        if slot.is_none() {
            slots.define(predictor);
            out.store(&definition, definition_len)?;
        }
        let mut word = [0; 8];
        maximum.store(&mut word, 0);
        out.store(&word, maximum_len)?;
        if let Some(strip) = strip {
            let mut counts = [0; GROUPS / 2];
            for (to, [low, high]) in counts.iter_mut().zip(strip.as_chunks().0) {
                *to = low | high << 4;
            }
            out.extend_from_slice(&counts[..strip_len])?;
        }
        match split {
            Some(split) => self.dealt.write(kernel, &split, words, out),
            None => stream.write(kernel, &self.residuals, words, out),
        }
    }

    /// The predictor of the shortlist that seems to need the fewest bits; `None` if all are out of reach. The best one is kept for some blocks, as
    /// long as its cost does not grow.
    #[inline(always)]
    pub(crate) fn choose<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        message: &[u8],
        at: usize,
        shortlist: &Shortlist,
        settings: &Settings,
    ) -> Option<Predictor> {
        let candidates = shortlist.predictors();
        if let [only] = candidates
            && !matches!(only.domain, Domain::Fixed(_))
        {
            return Some(only).filter(|only| can_reach::<W>(only, message, at)).copied();
        }
        if let Some(Choice { predictor, cost: before, kept }) = self.last
            && kept < settings.kept
            && let Some(cost) = self.cost(kernel, message, at, predictor, shortlist, settings)
            && cost <= before + before / KEEP
        {
            // In place: a copy of the whole would be loaded again before its parts are stored.
            if let Some(last) = &mut self.last {
                last.kept += 1;
            }
            return Some(predictor);
        }
        let mut best: Option<Choice> = None;
        for predictor in candidates {
            if let Some(cost) = self.cost(kernel, message, at, *predictor, shortlist, settings)
                && best.is_none_or(|best| cost + cost / DOUBT < best.cost)
            {
                best = Some(Choice { predictor: *predictor, cost, kept: 0 });
            }
        }
        self.last = best;
        best.map(|best| best.predictor)
    }

    /// The cost of a sample of the block; `None` if the predictor is out of reach.
    #[inline(always)]
    fn cost<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        message: &[u8],
        at: usize,
        predictor: Predictor,
        shortlist: &Shortlist,
        settings: &Settings,
    ) -> Option<u32> {
        if !can_reach::<W>(&predictor, message, at) {
            return None;
        }
        let sampled = message.len() - at >= SAMPLE;
        let reach = predictor.reach() * W::WIDTH;
        let inside =
            sampled && (!predictor.is_difference() || predictor.domain == Domain::Integer && reach <= at);
        if !inside {
            let domain = if predictor.is_difference() { predictor.domain } else { Domain::Integer };
            // The longest reach in this domain, so that the window is filled only once per domain.
            let most = shortlist.reach_in(domain) * W::WIDTH;
            self.fill(kernel, message, at, domain, reach.max(most.min(EdgeWindow::AT)));
        }
        let (bytes, start) = if inside { (message, at) } else { (self.window.bytes(), EdgeWindow::AT) };
        let step = BLOCK / SAMPLE / settings.quarters;
        // Bytes past the last word say nothing: only whole quarters are sampled, if there are any.
        let quarters = ((message.len() - at) / SAMPLE).clamp(1, BLOCK / SAMPLE);
        let places = (0..quarters).step_by(step).map(|quarter| start + quarter * SAMPLE);
        Some(match predictor.domain {
            Domain::Below => places.map(|at| kernel.below_cost(bytes, at, 0)).sum(),
            Domain::BelowRotated => places.map(|at| kernel.below_cost(bytes, at, 1)).sum(),
            _ => places.map(|at| kernel.difference_cost(bytes, at, predictor.lags())).sum(),
        })
    }

    /// Fills the window unless it holds the block in this domain already.
    #[inline(always)]
    fn fill<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        message: &[u8],
        at: usize,
        domain: Domain,
        reach: usize,
    ) {
        if let Some(filled) = self.filled
            && filled.domain == domain
            && filled.reach >= reach
        {
            return;
        }
        match domain {
            // The unit is valid for the whole message, so all words can be restored.
            Domain::Fixed(unit) => self.window.fill_fixed(kernel, message, at, reach, unit),
            _ => self.window.fill(message, at, reach),
        }
        self.filled = Some(Filled { domain, reach });
    }

    /// Computes the residuals of the block. Returns the maximum.
    #[inline(always)]
    fn find_residuals<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        message: &[u8],
        at: usize,
        predictor: Predictor,
    ) -> W {
        match predictor.domain {
            Domain::Below | Domain::BelowRotated => {
                let len = (message.len() - at).min(BLOCK);
                let words = if len.is_multiple_of(SAMPLE) {
                    message[at..at + len].as_chunks().0
                } else {
                    self.fill(kernel, message, at, Domain::Integer, 0);
                    samples(groups(self.window.block()), len.div_ceil(GROUP))
                };
                let rotation = u32::from(predictor.domain == Domain::BelowRotated);
                kernel.below(words, rotation, &mut self.residuals.groups_mut()[..words.len()])
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
        }
    }
}

/// Whether the words that a predictor needs are in the message or fit in a window.
#[inline(always)]
fn can_reach<W: Word>(predictor: &Predictor, message: &[u8], at: usize) -> bool {
    let reach = predictor.reach() * W::WIDTH;
    let whole = message.len() - at >= BLOCK;
    reach <= EdgeWindow::AT || (whole && reach <= at && predictor.domain == Domain::Integer)
}

fn stored(words: &[u8], out: &mut Out<'_>) -> Result<(), Full> {
    out.extend_from_slice(&Head::stored().0.to_le_bytes())?;
    out.extend_from_slice(words)
}

/// Shifts out the trailing zeros common to all differences of a group, if that saves more than the counts cost.
#[inline(always)]
fn strip_zeros<W: Word, K: Kernel<W>>(kernel: K, residuals: &mut Block, groups: usize) -> Option<Widths> {
    let mut counts = kernel.trailing_zeros(residuals);
    counts[groups.min(GROUPS)..].fill(0);
    let gain: u32 = counts.iter().map(|count| u32::from(*count) * W::LANES as u32).sum();
    if gain <= 16 * 8 + 64 {
        return None;
    }
    kernel.strip(residuals, &counts);
    Some(counts)
}
