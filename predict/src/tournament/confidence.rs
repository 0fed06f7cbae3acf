//! How often an expert was right when it was as sure as it is now.

use super::EXPERTS;

/// Grades of sureness.
pub(super) const GRADES: usize = 16;

/// A share of hits, which follows changes: about the mean of the first outcomes, then with weights that fall.
#[derive(Clone, Copy, Debug)]
struct Share {
    /// Of 65536.
    value: u16,
    outcomes: u8,
}

/// Outcomes after which a share is no longer a plain mean.
const MEMORY: u8 = 60;

impl Share {
    fn learn(&mut self, hit: bool) {
        // No division and no branch: this is done for every expert at every call. The distance from what came shrinks.
        let shift = (self.outcomes + 2).ilog2();
        let came = if hit { u16::MAX } else { 0 };
        let distance = self.value ^ came;
        self.value = (distance - (distance >> shift)) ^ came;
        self.outcomes = (self.outcomes + 1).min(MEMORY);
    }
}

/// The shares of each expert at each grade.
#[derive(Clone, Debug)]
pub(super) struct Confidence {
    shares: [[Share; GRADES]; EXPERTS],
}

impl Confidence {
    /// At first, whoever is surer is believed more; of experts alike, the first. `least`, of 65536, is believed at least.
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
