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
}

impl<const N: usize> Window<N> {
    /// The offset of the block, and so the number of bytes for earlier words.
    pub(crate) const AT: usize = N - BLOCK;

    pub(crate) fn new() -> Self {
        Self { bytes: [0; N] }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
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
        self.fill_by(message, at, reach, |from, to| to.copy_from_slice(from));
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
        self.fill_by(message, at, reach, |from, to| {
            kernel.apart(|| portable::to_fixed::<W>(from, unit.into(), to));
        });
    }

    /// Like `fill`, with the differences between the words and those of a reference.
    pub(crate) fn fill_minus<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        (message, reference): (&[u8], &[u8]),
        at: usize,
        reach: usize,
    ) {
        let reach = reach.min(Self::AT);
        let reference = reference.get(at.saturating_sub(reach)..).unwrap_or_default();
        self.fill_by(message, at, reach, |from, to| {
            kernel.apart(|| portable::minus::<W>(from, reference, to));
        });
    }

    #[inline(always)]
    fn fill_by(&mut self, message: &[u8], at: usize, reach: usize, convert: impl Fn(&[u8], &mut [u8])) {
        let reach = reach.min(Self::AT);
        let before = reach.min(at);
        let len = message.len().saturating_sub(at).min(BLOCK);
        let (Some(from), Some(start)) = (message.get(at - before..at + len), Self::AT.checked_sub(reach))
        else {
            return;
        };
        let (zeros, rest) = self.bytes[start..].split_at_mut(reach - before);
        zeros.fill(0);
        let (to, rest) = rest.split_at_mut(before + len);
        convert(from, to);
        rest[..len.next_multiple_of(SAMPLE) - len].fill(0);
    }
}
