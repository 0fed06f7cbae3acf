//! A copy of a block and of the words before it, for what cannot be done in the message itself: at its edges, where
//! words that are not there count as 0, and in the fixed-point domain.
#![forbid(unsafe_code)]

use crate::block::Bytes;
use crate::format::BLOCK;
use crate::kernel::Kernel;
use crate::word::Word;

/// `N` bytes: a block at the end, the words before it ahead of it.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Window<const N: usize>([u8; N]);

impl<const N: usize> Window<N> {
    /// Where the block is. So many bytes of earlier words have room.
    pub(crate) const AT: usize = N - BLOCK;

    pub(crate) fn new() -> Self {
        Self([0; N])
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }

    /// The block.
    pub(crate) fn block(&self) -> &Bytes {
        match self.0.last_chunk() {
            Some(block) => block,
            None => &crate::block::ZEROS,
        }
    }

    /// Copies the block at `at` of `message` and `reach` bytes before it, at most [`Self::AT`].
    pub(crate) fn fill(&mut self, message: &[u8], at: usize, reach: usize) {
        self.fill_by(message, at, reach, |from, to| to.copy_from_slice(from));
    }

    /// The same, of the words' fixed-point values.
    pub(crate) fn fill_fixed<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        message: &[u8],
        at: usize,
        reach: usize,
        unit: u16,
    ) {
        self.fill_by(message, at, reach, |from, to| kernel.to_fixed(from, unit.into(), to));
    }

    fn fill_by(&mut self, message: &[u8], at: usize, reach: usize, convert: impl Fn(&[u8], &mut [u8])) {
        let before = reach.min(at).min(Self::AT);
        let len = message.len().saturating_sub(at).min(BLOCK);
        let (Some(from), Some(start)) = (message.get(at - before..at + len), Self::AT.checked_sub(reach))
        else {
            return;
        };
        let (zeros, rest) = self.0[start..].split_at_mut(reach - before);
        zeros.fill(0);
        let (to, zeros) = rest.split_at_mut(before + len);
        convert(from, to);
        zeros.fill(0);
    }
}
