//! The predictor of a lane: its last two differences, extrapolated where they agree (format, section 10.3).
#![forbid(unsafe_code)]

use super::format::AGREEMENT;
use crate::word::Word;

/// How much a lane's next element is predicted to be above its last, from its two most recent differences: the drift
/// rule of cMPI, but no difference at all where those two do not agree.
#[inline(always)]
pub(super) fn drift<W: Word>(difference: W, previous: W) -> W {
    let agree = (difference ^ previous).top(AGREEMENT) == 0;
    difference.plus(difference.minus(previous)).only_if(agree)
}
