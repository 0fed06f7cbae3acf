//! A window: the words of a block, and the preceding words that predictions use.
#![forbid(unsafe_code)]

use super::block::Group;
use super::format::{BLOCK, GROUP, GROUPS, MORE_LANES, ORDER};
use crate::word::Word;

/// Bytes before the block: three times the maximum number of lanes, for either word width.
const BEFORE: usize = ORDER * (GROUP + MORE_LANES * 8);
/// Bytes of a window.
const WINDOW: usize = BEFORE + BLOCK;

/// A copy of a part of a message, with zeros before its start and after its end.
#[derive(Clone, Debug)]
pub(super) struct Window([u8; WINDOW]);

impl Window {
    pub(super) const ZERO: Self = Self([0; WINDOW]);

    /// The window of the block that starts at byte `at` of a message: a part of the message if the message contains the whole window, otherwise a
    /// copy in `self`.
    #[inline(always)]
    pub(super) fn of<'a>(&'a mut self, message: &'a [u8], at: usize) -> View<'a> {
        let whole = at.checked_sub(BEFORE).and_then(|start| message.get(start..));
        View(whole.and_then(|rest| rest.first_chunk()).unwrap_or_else(|| self.copied(message, at)))
    }

    #[inline(never)]
    fn copied(&mut self, message: &[u8], at: usize) -> &[u8; WINDOW] {
        let before = at.min(BEFORE);
        let words = &message[at - before..message.len().min(at + BLOCK)];
        self.0.fill(0);
        self.0[BEFORE - before..][..words.len()].copy_from_slice(words);
        &self.0
    }
}

/// A view of a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a>(&'a [u8; WINDOW]);

impl<'a> View<'a> {
    /// The block `steps` (at most [`ORDER`]) elements back in each lane.
    #[inline(always)]
    pub(super) fn back<W: Word>(self, steps: usize, lanes: usize) -> &'a [Group; GROUPS] {
        let from = BEFORE.saturating_sub(steps * lanes * W::WIDTH);
        self.0[from..].as_chunks().0.first_chunk().unwrap_or(&[[0; GROUP]; GROUPS])
    }
}
