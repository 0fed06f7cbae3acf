//! Chooses the predictor of a block by the cost of samples.
#![forbid(unsafe_code)]

use super::EdgeWindow;
use super::block::Blocks;
use super::search::Shortlist;
use crate::effort::Settings;
use crate::format::{BLOCK, Domain, Predictor};
use crate::kernel::{Kernel, SAMPLE};
use crate::word::Word;

/// A predictor, its cost when it was compared with the others, and the number of blocks since then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub(super) predictor: Predictor,
    cost: u32,
    kept: usize,
}

/// A predictor replaces an earlier one in the shortlist only if it seems to cost less by this fraction, because costs from samples are
/// uncertain.
const DOUBT: u32 = 32;
/// The predictors are compared again when the kept one costs more by this fraction.
const KEEP: u32 = 16;

/// The contents of the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filled {
    domain: Domain,
    reach: usize,
}

impl Blocks {
    /// The predictor of the shortlist that seems to need the fewest bits; `None` if all are out of reach. The best one is kept for some
    /// blocks, as long as its cost does not grow.
    #[inline(always)]
    pub(super) fn choose<W: Word, K: Kernel<W>>(
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
        let kept = self.last.filter(|last| last.kept < settings.kept);
        let mut best: Option<Choice> = None;
        // The kept predictor first. The code for costs is large, so it appears only once, here.
        for (i, predictor) in kept.iter().map(|kept| &kept.predictor).chain(candidates).enumerate() {
            let Some(cost) = self.cost(kernel, message, at, *predictor, shortlist, settings) else {
                continue;
            };
            if i == 0
                && let Some(kept) = kept
            {
                if cost <= kept.cost + kept.cost / KEEP {
                    // In place: a copy of the whole value would be loaded again before its parts are stored.
                    if let Some(last) = &mut self.last {
                        last.kept += 1;
                    }
                    return Some(kept.predictor);
                }
            } else if best.is_none_or(|best| cost + cost / DOUBT < best.cost) {
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
            if !self.has_filled(domain, reach) {
                // The longest reach in this domain, so that the window is filled only once per domain.
                let most = shortlist.reach_in(domain) * W::WIDTH;
                self.fill(kernel, message, at, domain, reach.max(most.min(EdgeWindow::AT)));
            }
        }
        let (bytes, start) = if inside { (message, at) } else { (self.window.bytes(), EdgeWindow::AT) };
        let step = BLOCK / SAMPLE / settings.quarters;
        // Bytes past the last word carry no information: only whole quarters are sampled, if there are any.
        let quarters = ((message.len() - at) / SAMPLE).clamp(1, BLOCK / SAMPLE);
        let places = (0..quarters).step_by(step).map(|quarter| start + quarter * SAMPLE);
        Some(match predictor.domain {
            Domain::Below { rotation } => {
                places.map(|at| kernel.below_cost(bytes, at, rotation.into())).sum()
            }
            _ => places.map(|at| kernel.difference_cost(bytes, at, predictor.lags())).sum(),
        })
    }

    /// Whether the window holds the block in this domain.
    fn has_filled(&self, domain: Domain, reach: usize) -> bool {
        self.filled.is_some_and(|filled| filled.domain == domain && filled.reach >= reach)
    }

    /// Fills the window unless it already holds the block in this domain.
    #[inline(never)]
    pub(super) fn fill<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        message: &[u8],
        at: usize,
        domain: Domain,
        reach: usize,
    ) {
        if self.has_filled(domain, reach) {
            return;
        }
        match domain {
            // The unit is valid for the whole message, so all words can be restored.
            Domain::Fixed(unit) => self.window.fill_fixed(kernel, message, at, reach, unit),
            _ => self.window.fill(message, at, reach),
        }
        self.filled = Some(Filled { domain, reach });
    }
}

/// Whether the words that a predictor needs are in the message or fit in a window.
#[inline(always)]
fn can_reach<W: Word>(predictor: &Predictor, message: &[u8], at: usize) -> bool {
    let reach = predictor.reach() * W::WIDTH;
    let whole = message.len() - at >= BLOCK;
    reach <= EdgeWindow::AT || (whole && reach <= at && predictor.domain == Domain::Integer)
}
