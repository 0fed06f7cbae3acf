//! Encodes blocks of a message with a reference: as differences from it where these take fewer bytes.
#![forbid(unsafe_code)]

use super::EdgeWindow;
use super::back_off::BackOff;
use super::block::{Blocks, Found, Name, beside, fill_sample};
use super::piece::Message;
use super::search::Shortlist;
use super::split::Coding;
use super::stream::Stream;
use crate::effort::Settings;
use crate::format::{BLOCK, Domain, GROUP, Predictor, Slots};
use crate::kernel::block::{Block, Widths};
use crate::kernel::{Kernel, SAMPLE, portable};
use crate::word::Word;
use mpress_codec::{Full, Out};

/// A predictor that saved much is kept while its bytes grow by no more than this fraction plus this number.
const KEEP: usize = 16;
/// A predictor of blocks equal to the reference, than which nothing is shorter, is kept for this number of blocks; then it is measured again what the
/// reference saves.
const EQUAL: usize = 8;
/// A predictor saved much if it saved this fraction.
const MUCH: usize = 8;
/// The rest of a block is examined if its first quarter does not take more by this fraction.
const NEAR: u32 = 4;
/// The longest reach of lags that are tried, in bytes.
const REACH: usize = 1024;

/// The residuals of a block from the reference, and what earlier blocks have shown.
#[derive(Clone, Debug)]
pub(super) struct Referring {
    /// That of the message so far.
    pub(super) gain: Gain,
    pub(super) residuals: Block,
    /// The last block, if it needs the reference.
    last: Option<Last>,
    /// For blocks for which it did not pay off.
    back_off: BackOff,
}

/// What a message gains by its reference.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gain {
    /// Whether a block needs the reference.
    pub(super) is_used: bool,
    /// The number of bytes saved, approximately: one block is measured for up to [`EQUAL`], and where a reference leaves little, repeats are not looked for.
    pub(super) saved: usize,
}

/// A block that needs the reference, when its predictor was compared with others.
#[derive(Clone, Copy, Debug)]
struct Last {
    predictor: Predictor,
    len: usize,
    saved: usize,
    /// The number of blocks since then.
    kept: usize,
}

impl Referring {
    pub(super) fn new() -> Self {
        Self { gain: Gain::default(), residuals: Block::ZERO, last: None, back_off: BackOff::default() }
    }

    /// Begins a piece.
    pub(super) fn begin(&mut self) {
        (self.last, self.back_off) = (None, BackOff::default());
    }
}

impl Blocks {
    /// Encodes the block at `at` of a message with a reference.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "what a block is made with")]
    pub(super) fn refer<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        message: Message<'_>,
        at: usize,
        shortlist: &Shortlist,
        settings: &Settings,
        slots: &mut Slots,
        out: &mut Out<'_>,
    ) -> Result<(), Full> {
        let words = message.bytes;
        let raw = &words[at..words.len().min(at + BLOCK)];
        let count = raw.len() / W::WIDTH;
        if let Some(last @ Last { predictor, len, saved, kept }) = self.referring.last.take()
            && kept + 1 < if len == 0 { EQUAL } else { settings.kept }
        {
            let coding = self.reference_coding(kernel, message, at, predictor, settings);
            let most = if kept + 1 < settings.kept { len + len / KEEP + KEEP } else { 0 };
            if coding.len() <= most {
                self.referring.last = Some(Last { kept: kept + 1, ..last });
                self.referring.gain.saved += saved.min(raw.len().saturating_sub(coding.len()));
                return self.write(kernel, raw, &(predictor, W::ZERO, None), &coding, slots, out);
            }
        }
        // Words for which nothing was found are their own residuals.
        let chosen = self.choose(kernel, words, at, shortlist, settings).unwrap_or(Predictor::NONE);
        let (maximum, strip) = self.find_residuals(kernel, words, at, chosen);
        let mut found = (chosen, maximum, strip);
        let stream = Stream::new::<W, K>(kernel, &self.residuals, count);
        let skips = self.referring.back_off.skips();
        let other = if skips { None } else { self.nearest(kernel, message, at, chosen, &stream, settings) };
        let mut is_shorter = false;
        let mut coding = self.dealt.coding(kernel, &self.residuals, count, stream, settings.thresholds);
        if let Some(other) = other {
            let nearer = self.reference_coding(kernel, message, at, other, settings);
            let other = (other, W::ZERO, None);
            let beside = |found: &Found<W>| Name::new(found.0, slots).len + beside(found, count);
            let least = raw.len().min(coding.len() + beside(&found));
            let len = nearer.len();
            let saved = least.saturating_sub(len + beside(&other));
            is_shorter = saved > 0;
            if is_shorter {
                let last = Last { predictor: other.0, len, saved, kept: 0 };
                self.referring.last = Some(last).filter(|_| len + len / MUCH < least);
                self.referring.gain.saved += saved;
                (found, coding) = (other, nearer);
            } else {
                self.dealt.again(kernel, &coding, &self.residuals, count);
            }
        }
        if !skips {
            self.referring.back_off.learn(is_shorter, settings.patience, |misses| misses);
        }
        self.write(kernel, raw, &found, &coding, slots, out)
    }

    /// The predictor that needs the reference and takes the fewest bits for the first quarter of the block: without lags, or with
    /// those of the `chosen` one, whose residuals are this stream. `None` if it takes many more bits than that stream. Bits are
    /// those of one stream or, where blocks may be split, of a mask and the words that are not 0.
    #[inline(always)]
    fn nearest<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        message: Message<'_>,
        at: usize,
        chosen: Predictor,
        stream: &Stream,
        settings: &Settings,
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
        let bound = sum(&stream.widths);
        best.filter(|(_, cost)| *cost <= bound + bound / NEAR).map(|(predictor, _)| predictor)
    }

    /// The coding of the block's residuals from the reference.
    #[inline(always)]
    fn reference_coding<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        message: Message<'_>,
        at: usize,
        predictor: Predictor,
        settings: &Settings,
    ) -> Coding {
        self.reference_residuals(kernel, message, at, predictor);
        let words = (message.bytes.len() - at).min(BLOCK) / W::WIDTH;
        let residuals = &self.referring.residuals;
        let stream = Stream::new::<W, K>(kernel, residuals, words);
        self.dealt.coding(kernel, residuals, words, stream, settings.thresholds)
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
            kernel.apart(|| portable::against::<W>(raw, &reference[at..], residuals.groups_mut()));
        } else {
            self.filled = None;
            self.window.fill_minus(kernel, (words, reference), at, reach);
            let groups = &mut residuals.groups_mut()[..raw.len().div_ceil(GROUP)];
            kernel.difference(self.window.bytes(), EdgeWindow::AT, predictor.lags(), groups);
        }
        fill_sample(residuals, raw.len());
    }
}
