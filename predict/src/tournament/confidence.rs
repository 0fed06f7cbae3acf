//! The hit rates of experts, by their confidence.

use super::EXPERTS;

/// The number of confidence grades.
pub(super) const GRADES: usize = 16;

/// A hit rate that follows changes: roughly the mean of the first outcomes, later an exponentially weighted one.
#[derive(Clone, Copy, Debug)]
struct Share {
    /// In units of 1/65536.
    value: u16,
    outcomes: u8,
}

/// The number of outcomes after which a rate is no longer a plain mean.
const MEMORY: u8 = 60;

impl Share {
    fn learn(&mut self, hit: bool) {
        // No division and no branch, because this runs for every expert at every call. Shrinks the distance from the outcome.
        let shift = (self.outcomes + 2).ilog2();
        let came = if hit { u16::MAX } else { 0 };
        let distance = self.value ^ came;
        self.value = (distance - (distance >> shift)) ^ came;
        self.outcomes = (self.outcomes + 1).min(MEMORY);
    }
}

/// The hit rates of each expert at each grade.
#[derive(Clone, Debug)]
pub(super) struct Confidence {
    shares: [[Share; GRADES]; EXPERTS],
}

impl Confidence {
    /// Initially, a higher grade means a higher rate; among experts with the same grade, the first has the highest. `least`, in 1/65536, is the
    /// minimum.
    pub(super) fn new(least: u16) -> Self {
        let grade = |expert: usize, grade: usize| Share {
            value: least + (2_000 * grade - 400 * expert.min(grade)) as u16,
            outcomes: 0,
        };
        Self { shares: core::array::from_fn(|expert| core::array::from_fn(|at| grade(expert, at))) }
    }

    pub(super) fn of(&self, expert: usize, grade: u8) -> u16 {
        self.shares[expert][usize::from(grade) % GRADES].value
    }

    pub(super) fn learn(&mut self, expert: usize, grade: u8, hit: bool) {
        self.shares[expert][usize::from(grade) % GRADES].learn(hit);
    }
}
