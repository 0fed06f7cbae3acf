//! A decoder's state for its lanes: their last elements, differences and predictions.
#![forbid(unsafe_code)]

use super::block::Group;
use super::format::{GROUP, GROUPS, MORE_LANES};

/// The number of groups before a block that hold the last element of every lane.
pub(super) const BEFORE: usize = 1 + MORE_LANES * 8 / GROUP;

/// State for the elements of a block and for those before it, group by group.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Past {
    pub(super) elements: Row,
    /// The difference of each element from the one before in its lane.
    pub(super) differences: Row,
    /// The prediction of each element for the next one in its lane.
    pub(super) predictions: Row,
}

/// The groups before the block, and those of the block.
pub(super) type Row = [Group; BEFORE + GROUPS];

impl Past {
    /// Before a message, everything is zero.
    pub(super) const START: Self = {
        let zero = [[0; GROUP]; BEFORE + GROUPS];
        Self { elements: zero, differences: zero, predictions: zero }
    };

    /// Makes room for the next block.
    #[inline(always)]
    pub(super) fn advance(&mut self) {
        for row in [&mut self.elements, &mut self.differences, &mut self.predictions] {
            row.copy_within(GROUPS.., 0);
        }
    }

    /// The elements of the block.
    #[inline(always)]
    pub(super) fn block(&self) -> &[Group] {
        &self.elements[BEFORE..]
    }
}
