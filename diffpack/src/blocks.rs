//! Encodes a block: chooses its predictor, and writes it or stores it.
#![forbid(unsafe_code)]

use crate::block::{Block, Bytes, Widths, window};
use crate::effort::Settings;
use crate::encode::EdgeWindow;
use crate::format::{BLOCK, GROUPS, Head};
use crate::kernel::{Kernel, SAMPLE};
use crate::predictor::{Domain, Predictor, Slots};
use crate::search::Shortlist;
use crate::split::{Dealt, Split};
use crate::stream::Stream;
use crate::word::Word;
use core::marker::PhantomData;
use mpress_codec::{Full, Out};

/// The memory to encode a block in.
#[derive(Clone, Debug)]
pub(crate) struct Blocks<W> {
    window: EdgeWindow,
    /// What the window has of the block that is being encoded.
    filled: Option<Filled>,
    residuals: Block,
    dealt: Dealt,
    words: PhantomData<W>,
}

/// What a window has been filled with.
#[derive(Clone, Copy, Debug)]
struct Filled {
    domain: Domain,
    reach: usize,
    /// Whether all words come back from their values in the window; looked at only in the fixed-point domain.
    is_exact: bool,
}

impl<W: Word> Blocks<W> {
    pub(crate) fn new() -> Self {
        Self {
            window: EdgeWindow::new(),
            filled: None,
            residuals: Block::ZERO,
            dealt: Dealt::ZERO,
            words: PhantomData,
        }
    }

    pub(crate) fn window(&mut self) -> &mut EdgeWindow {
        &mut self.window
    }

    /// Encodes the block at `at` of the words of a message.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "what a block is made with")]
    pub(crate) fn encode<K: Kernel<W>>(
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
            self.residuals.0[len..].fill(0);
        }
        let mut strip = [0; GROUPS];
        let stripped = matches!(predictor.domain, Domain::Fixed(_))
            && strip_zeros::<W>(&mut self.residuals, &mut strip, words.div_ceil(W::LANES));
        let stream = Stream::new::<W>(kernel.widths(&self.residuals), words);
        let slot = slots.find(predictor);
        let (definition, definition_len) = match slot {
            Some(_) => ([0; 9], 0),
            None => predictor.to_wire(),
        };
        let maximum_len = if predictor.is_difference() { 0 } else { W::WIDTH };
        let strip_len = if stripped { words.div_ceil(W::LANES).div_ceil(2) } else { 0 };
        let split = self.dealt.split(kernel, &self.residuals, words, &stream, settings.thresholds);
        let streams_len = split.as_ref().map_or(stream.len, |split| split.len);
        if definition_len + maximum_len + strip_len + streams_len >= len {
            return stored(&message[at..at + len], out);
        }
        let mut head = split.as_ref().map_or(stream.head(), Split::head).0;
        head |= if stripped { Head::STRIP } else { 0 } | slot.unwrap_or(Head::DEFINED) << 12;
        out.extend_from_slice(&head.to_le_bytes())?;
        if slot.is_none() {
            slots.define(predictor);
            out.store(&definition, definition_len)?;
        }
        let mut word = [0; 8];
        maximum.store(&mut word, 0);
        out.store(&word, maximum_len)?;
        if stripped {
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

    /// The predictor of the shortlist that seems to take the fewest bits; none if all are out of reach.
    #[inline(always)]
    fn choose<K: Kernel<W>>(
        &mut self,
        kernel: K,
        message: &[u8],
        at: usize,
        shortlist: &Shortlist,
        settings: &Settings,
    ) -> Option<Predictor> {
        let edge = message.len() - at < BLOCK;
        let can = |predictor: &&Predictor| {
            let reach = predictor.reach() * W::WIDTH;
            reach <= EdgeWindow::AT || (!edge && reach <= at && predictor.domain == Domain::Integer)
        };
        let candidates = shortlist.predictors();
        if let [only] = candidates
            && !matches!(only.domain, Domain::Fixed(_))
        {
            return Some(only).filter(can).copied();
        }
        let mut best: Option<(u32, Predictor)> = None;
        // What any of them needs, so that the window need be filled only once for each domain.
        let reach_in = |domain| {
            let reaches = candidates.iter().filter(can).filter(|p| p.domain == domain).map(Predictor::reach);
            reaches.max().unwrap_or(0) * W::WIDTH
        };
        for predictor in candidates.iter().filter(can) {
            let reach = predictor.reach() * W::WIDTH;
            let inside = !edge && predictor.domain == Domain::Integer && reach <= at;
            let inside = inside || !predictor.is_difference() && !edge;
            let domain = if predictor.is_difference() { predictor.domain } else { Domain::Integer };
            if !inside
                && !self.fill(kernel, message, at, domain, reach.max(reach_in(domain).min(EdgeWindow::AT)))
            {
                continue;
            }
            let (bytes, start) = if inside { (message, at) } else { (self.window.bytes(), EdgeWindow::AT) };
            let step = BLOCK / SAMPLE / settings.quarters;
            let cost = (0..BLOCK / SAMPLE).step_by(step).map(|quarter| start + quarter * SAMPLE);
            let cost: u32 = match predictor.domain {
                Domain::Below => cost.map(|at| kernel.below_cost(bytes, at, 0)).sum(),
                Domain::BelowRotated => cost.map(|at| kernel.below_cost(bytes, at, 1)).sum(),
                _ => cost.map(|at| kernel.difference_cost(bytes, at, predictor.lags())).sum(),
            };
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, *predictor));
            }
        }
        best.map(|(_, predictor)| predictor)
    }

    /// Fills the window, if it is not; says whether all words come back from their values in it.
    #[inline(always)]
    fn fill<K: Kernel<W>>(
        &mut self,
        kernel: K,
        message: &[u8],
        at: usize,
        domain: Domain,
        reach: usize,
    ) -> bool {
        if let Some(filled) = self.filled
            && filled.domain == domain
            && filled.reach >= reach
        {
            return filled.is_exact;
        }
        let mut is_exact = true;
        if let Domain::Fixed(unit) = domain {
            self.window.fill_fixed(kernel, message, at, reach, unit);
            let words = &message[at..];
            let words = &words[..words.len().min(BLOCK)];
            kernel.to_float(self.window.block(), unit.into(), &mut self.residuals.0);
            is_exact = self.residuals.0.get(..words.len()) == Some(words);
        } else {
            self.window.fill(message, at, reach);
        }
        self.filled = Some(Filled { domain, reach, is_exact });
        is_exact
    }

    /// Puts the residuals of the block into their place; gives the maximum.
    #[inline(always)]
    fn find_residuals<K: Kernel<W>>(
        &mut self,
        kernel: K,
        message: &[u8],
        at: usize,
        predictor: Predictor,
    ) -> W {
        match predictor.domain {
            Domain::Below | Domain::BelowRotated => {
                let mut spare = [0; BLOCK];
                let words: &Bytes = window(message, at, &mut spare);
                kernel.below(words, u32::from(predictor.domain == Domain::BelowRotated), &mut self.residuals)
            }
            domain => {
                let reach = predictor.reach() * W::WIDTH;
                let (bytes, at) = if domain == Domain::Integer && reach <= at && message.len() - at >= BLOCK {
                    (message, at)
                } else {
                    self.fill(kernel, message, at, domain, reach);
                    (self.window.bytes(), EdgeWindow::AT)
                };
                kernel.difference(bytes, at, predictor.lags(), &mut self.residuals);
                W::ZERO
            }
        }
    }
}

fn stored(words: &[u8], out: &mut Out<'_>) -> Result<(), Full> {
    out.extend_from_slice(&Head::stored().0.to_le_bytes())?;
    out.extend_from_slice(words)
}

/// Shifts the zeros out that all differences of a group end in, if that gains more than it costs.
#[inline(always)]
fn strip_zeros<W: Word>(residuals: &mut Block, counts: &mut Widths, groups: usize) -> bool {
    for (count, group) in counts.iter_mut().zip(residuals.groups()).take(groups) {
        let union = W::split(group).0.iter().fold(W::ZERO, |u, word| u.or(W::from_bytes(*word).unzigzag()));
        *count = if union == W::ZERO { 0 } else { union.trailing().min(15) as u8 };
    }
    let gain: u32 = counts.iter().map(|count| u32::from(*count) * W::LANES as u32).sum();
    if gain <= 16 * 8 + 64 {
        return false;
    }
    for (count, group) in counts.iter().zip(residuals.groups_mut()).take(groups) {
        for word in W::split_mut(group).0 {
            *word = W::from_bytes(*word).unzigzag().halved(u32::from(*count)).zigzag().to_bytes();
        }
    }
    true
}
