//! Predictors: domain and lags, their wire form, and the table of the predictors that a message has defined (format, sections 4 and 5).
#![forbid(unsafe_code)]

use super::{MAX_ORDER, MAX_REACH, SLOTS};
use crate::kernel::block::window;
use crate::word::Word;
use mpress_codec::DecodeError;
use mpress_codec_support::Wire;

/// What the residuals are derived from (format, section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Domain {
    /// Differences of the words.
    #[default]
    Integer,
    /// The distance below the block's greatest word, all words rotated left by 0 or 1, which moves the sign of a float out of the way.
    Below { rotation: u8 },
    /// Differences of the words' fixed-point values in this unit.
    Fixed(u16),
    /// Differences from earlier words, at a distance that the block gives for each word (format, section 6).
    Lookback,
    /// Differences of the words minus those of the reference.
    Reference,
}

/// A domain, and the lags of the difference in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Predictor {
    pub(crate) domain: Domain,
    /// 0 past the order.
    lags: [u16; MAX_ORDER],
    order: u8,
}

impl Predictor {
    /// The distance of each word below the greatest one.
    pub(crate) const BELOW: Self =
        Self { domain: Domain::Below { rotation: 0 }, lags: [0; MAX_ORDER], order: 0 };
    pub(crate) const BELOW_ROTATED: Self = Self { domain: Domain::Below { rotation: 1 }, ..Self::BELOW };

    /// The distance from an earlier word.
    pub(crate) const LOOKBACK: Self = Self { domain: Domain::Lookback, ..Self::BELOW };

    /// The distance from the word of the reference.
    pub(crate) const REFERENCE: Self = Self { domain: Domain::Reference, ..Self::BELOW };

    /// The words themselves.
    pub(crate) const NONE: Self = Self { domain: Domain::Integer, ..Self::BELOW };
    /// The difference from the word before.
    pub(crate) const STEP: Self = Self { lags: [1, 0, 0], order: 1, ..Self::NONE };

    /// A difference in a domain that has differences. `None` if a lag is 0 or the lags reach too far.
    pub(crate) fn difference(domain: Domain, lags: &[u16]) -> Option<Self> {
        let mut predictor = Self { domain, order: lags.len() as u8, ..Self::default() };
        predictor.lags.get_mut(..lags.len())?.copy_from_slice(lags);
        predictor.lags.get_mut(..lags.len())?.sort_unstable();
        (!lags.contains(&0) && predictor.reach() <= MAX_REACH).then_some(predictor)
    }

    /// The same difference in another domain.
    pub(crate) fn in_domain(self, domain: Domain) -> Self {
        Self { domain, ..self }
    }

    /// The lags in ascending order.
    #[inline]
    pub(crate) fn lags(&self) -> &[u16] {
        &self.lags[..usize::from(self.order).min(MAX_ORDER)]
    }

    /// The number of words that the difference looks back.
    #[inline]
    pub(crate) fn reach(&self) -> usize {
        // The lags past the order are 0.
        self.lags.iter().map(|lag| usize::from(*lag)).sum()
    }

    /// Whether the residuals are zigzagged differences.
    #[inline]
    pub(crate) fn is_difference(&self) -> bool {
        matches!(self.domain, Domain::Integer | Domain::Fixed(_) | Domain::Reference)
    }

    /// Whether a block has a maximum.
    #[inline]
    pub(crate) fn has_maximum(&self) -> bool {
        matches!(self.domain, Domain::Below { .. })
    }

    /// The definition's wire form and its length in bytes.
    pub(crate) fn to_wire(self) -> ([u8; 9], usize) {
        let (mut wire, mut lags_at) = ([0; 9], 1);
        let code = match self.domain {
            Domain::Integer => 0,
            Domain::Below { rotation } => 1 + rotation,
            Domain::Fixed(unit) => {
                (lags_at, [wire[1], wire[2]]) = (3, unit.to_le_bytes());
                3
            }
            Domain::Lookback => 4,
            Domain::Reference => 5,
        };
        let long = self.lags().iter().any(|lag| *lag > 255);
        wire[0] = code | self.order << 3 | u8::from(long) << 5;
        let lag_bytes = 1 + usize::from(long);
        for (to, lag) in wire[lags_at..].chunks_exact_mut(lag_bytes).zip(self.lags()) {
            to.copy_from_slice(&lag.to_le_bytes()[..lag_bytes]);
        }
        (wire, lags_at + self.lags().len() * lag_bytes)
    }

    /// Reads a definition.
    pub(crate) fn from_wire<W: Word>(wire: &mut Wire<'_>) -> Result<Self, DecodeError> {
        let (rest, corrupt) = (wire.rest(), wire.corrupt());
        let kind = *rest.first().ok_or(wire.truncated())?;
        let (order, long) = (usize::from(kind >> 3 & 3), kind >> 5 & 1 == 1);
        let lag_bytes = 1 + usize::from(long);
        let lags_at = if kind & 7 == 3 { 3 } else { 1 };
        wire.take(lags_at + order * lag_bytes)?;
        let mut spare = [0; 9];
        let bytes: &[u8; 9] = window(rest, 0, &mut spare);
        let domain = match kind & 7 {
            0 => Domain::Integer,
            1 => Domain::Below { rotation: 0 },
            2 => Domain::Below { rotation: 1 },
            3 => Domain::Fixed(u16::from_le_bytes([bytes[1], bytes[2]])),
            4 => Domain::Lookback,
            5 => Domain::Reference,
            _ => return Err(corrupt),
        };
        let mut lags = [0; MAX_ORDER];
        for (i, lag) in lags[..order].iter_mut().enumerate() {
            let at = lags_at + i * lag_bytes;
            *lag = u16::from_le_bytes([bytes[at], if long { bytes[at + 1] } else { 0 }]);
        }
        lags[..order].sort_unstable();
        let predictor = Self { domain, lags, order: order as u8 };
        let bad = kind >> 6 != 0
            || predictor.lags().contains(&0)
            || predictor.reach() > MAX_REACH
            || (!predictor.is_difference() && (order != 0 || long))
            || matches!(domain, Domain::Fixed(unit) if u32::from(unit) >> W::EXPONENT != 0 || W::FRACTION == 0);
        if bad { Err(corrupt) } else { Ok(predictor) }
    }
}

/// The predictors that a message has defined so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slots {
    predictors: [Predictor; SLOTS],
    defined: usize,
}

impl Slots {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        // Copied in whole vectors; creating each predictor again takes a noticeable part of a short message's time.
        static EMPTY: Slots = Slots { predictors: [Predictor::NONE; SLOTS], defined: 0 };
        EMPTY
    }

    /// The predictor in this slot, by reference: a load of a copy would wait for the partial stores that wrote the slot.
    #[inline(always)]
    pub(crate) fn get(&self, slot: u16) -> Option<&Predictor> {
        self.predictors[..self.defined.min(SLOTS)].get(usize::from(slot))
    }

    /// The slot of this predictor.
    pub(crate) fn find(&self, predictor: Predictor) -> Option<u16> {
        let at = self.predictors[..self.defined.min(SLOTS)].iter().position(|p| *p == predictor)?;
        u16::try_from(at).ok()
    }

    /// Puts the predictor into the next slot and returns that slot.
    pub(crate) fn define(&mut self, predictor: Predictor) -> u16 {
        let slot = self.defined % SLOTS;
        self.predictors[slot] = predictor;
        self.defined += 1;
        slot as u16
    }
}
