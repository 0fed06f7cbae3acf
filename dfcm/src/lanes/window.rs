//! A window: the words of a block, and those before it as far as a prediction looks back.
#![forbid(unsafe_code)]

use super::block::Group;
use super::format::{BLOCK, GROUP, GROUPS, MORE_LANES, ORDER};
use crate::word::Word;

/// Bytes before the block: three times the most lanes, of words of either width.
const BEFORE: usize = ORDER * (GROUP + MORE_LANES * 8);
/// Bytes of a window.
const WINDOW: usize = BEFORE + BLOCK;

/// A part of a message, or a copy of one with zeros where the message has not begun or has ended.
#[derive(Clone, Debug)]
pub(super) struct Window([u8; WINDOW]);

impl Window {
    pub(super) const ZERO: Self = Self([0; WINDOW]);

    /// The window of the block that starts at byte `at` of a message: a part of the message if it is wholly there,
    /// else a copy in `self`.
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

/// A look at a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a>(&'a [u8; WINDOW]);

impl<'a> View<'a> {
    /// The block, as it was `steps` (at most [`ORDER`]) elements of each lane before.
    #[inline(always)]
    pub(super) fn back<W: Word>(self, steps: usize, lanes: usize) -> &'a [Group; GROUPS] {
        let from = BEFORE.saturating_sub(steps * lanes * W::WIDTH);
        self.0[from..].as_chunks().0.first_chunk().unwrap_or(&[[0; GROUP]; GROUPS])
    }
}
