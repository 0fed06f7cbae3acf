//! The predictor of a lane: extrapolates its last two differences if they agree (format, section 10.3).
#![forbid(unsafe_code)]

use super::format::AGREEMENT;
use crate::word::Word;

/// The predicted difference between a lane's next element and its last, from its two most recent differences: the drift rule of cMPI, but 0 if the
/// two do not agree.
#[inline(always)]
pub(super) fn drift<W: Word>(difference: W, previous: W) -> W {
    let agree = (difference ^ previous).top(AGREEMENT) == 0;
    difference.plus(difference.minus(previous)).only_if(agree)
}
