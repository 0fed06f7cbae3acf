//! A copy of a block and of the words before it, for work that cannot use the message itself: at its edges, where missing words count as 0;
//! in the fixed-point domain; and on differences from a reference.
#![forbid(unsafe_code)]

use super::block::{Bytes, Groups, ZEROS, groups_mut};
use super::{Kernel, SAMPLE, portable};
use crate::format::BLOCK;
use crate::word::Word;

/// `N` bytes: the block at the end, and the words before it.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Window<const N: usize> {
    bytes: [u8; N],
    held: Option<Held>,
}

/// The fixed-point values of a message that a window holds.
#[derive(Clone, Copy, Debug)]
struct Held {
    unit: u16,
    /// The position in the message that corresponds to [`Window::AT`].
    at: usize,
    start: usize,
    end: usize,
}

impl<const N: usize> Window<N> {
    /// The offset of the block, and so the number of bytes for earlier words.
    pub(crate) const AT: usize = N - BLOCK;

    pub(crate) fn new() -> Self {
        Self { bytes: [0; N], held: None }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Ends a message: its values are useless for the next one.
    pub(crate) fn forget(&mut self) {
        self.held = None;
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// The block.
    pub(crate) fn block(&self) -> &Bytes {
        self.bytes.last_chunk().unwrap_or(&ZEROS)
    }

    /// The groups of the block.
    pub(crate) fn groups_mut(&mut self) -> &mut Groups {
        groups_mut(&mut self.bytes[Self::AT..])
    }

    /// The words before the block.
    pub(crate) fn before(&self) -> &[u8] {
        &self.bytes[..Self::AT]
    }

    /// Copies the block at `at` of `message` and the `reach` bytes before it, at most [`Self::AT`]. Fills with zeros to the end of a
    /// sample.
    pub(crate) fn fill(&mut self, message: &[u8], at: usize, reach: usize) {
        self.held = None;
        self.fill_by(message, at, reach.min(Self::AT), 0, |from, to| to.copy_from_slice(from));
    }

    /// Like `fill`, with the fixed-point values of the words.
    pub(crate) fn fill_fixed<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        message: &[u8],
        at: usize,
        reach: usize,
        unit: u16,
    ) {
        let reach = reach.min(Self::AT);
        let start = at - reach.min(at);
        let end = message.len().min(at + BLOCK);
        let mut there = 0;
        // Most of the values may still be there from the previous block.
        if let Some(held) = self.held
            && (held.unit, held.start <= start, held.end <= end) == (unit, true, true)
            && (start..at).contains(&held.end)
            && let (Some(from), Some(to)) =
                ((Self::AT + start).checked_sub(held.at), (Self::AT + start).checked_sub(at))
        {
            there = held.end - start;
            self.bytes.copy_within(from..from + there, to);
        }
        self.fill_by(message, at, reach, there, |from, to| {
            kernel.apart(|| portable::to_fixed::<W>(from, unit.into(), to));
        });
        self.held = Some(Held { unit, at, start, end });
    }

    /// Like `fill`, with the differences between the words and those of a reference.
    pub(crate) fn fill_minus<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        (message, reference): (&[u8], &[u8]),
        at: usize,
        reach: usize,
    ) {
        self.held = None;
        let reach = reach.min(Self::AT);
        let reference = reference.get(at.saturating_sub(reach)..).unwrap_or_default();
        self.fill_by(message, at, reach, 0, |from, to| {
            kernel.apart(|| portable::minus::<W>(from, reference, to));
        });
    }

    /// Fills the window, except for the first `there` bytes of the message's part, which are already in place.
    #[inline(always)]
    fn fill_by(
        &mut self,
        message: &[u8],
        at: usize,
        reach: usize,
        there: usize,
        convert: impl Fn(&[u8], &mut [u8]),
    ) {
        let before = reach.min(at);
        let len = message.len().saturating_sub(at).min(BLOCK);
        let (Some(from), Some(start)) = (message.get(at - before..at + len), Self::AT.checked_sub(reach))
        else {
            return;
        };
        let (zeros, rest) = self.bytes[start..].split_at_mut(reach - before);
        zeros.fill(0);
        let (to, rest) = rest.split_at_mut(before + len);
        convert(&from[there..], &mut to[there..]);
        rest[..len.next_multiple_of(SAMPLE) - len].fill(0);
    }
}
