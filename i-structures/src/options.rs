//! The options of a structure.

use crate::{
    distribution::{Distribution, Layout},
    divisor::Divisor,
    element::{Element, content},
    error::{Error, Result},
    transport::Content,
};
use crc32fast::Hasher;

/// Whether fetched elements are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caching {
    /// D-IS: each fetch of a remote element takes a request and a value.
    Off,
    /// D-ISSC: blocks of this number of elements (CB, at least 1) of one owner are fetched and kept.
    Blocks(u64),
}

/// What an owner does with a request for a block that is not full (section 3.3 of the paper).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deferral {
    /// Sends the full elements immediately, and each of the others when it is stored. Readers continue as early as possible.
    Element,
    /// Sends the block when its last element is stored: one message per request. A program in which an element of a block depends, through another
    /// rank, on another element of the same block cannot continue.
    Block,
}

/// The options of a structure; they must be the same on all ranks.
#[derive(Clone, Debug)]
pub struct Options {
    /// The number of elements on all ranks.
    pub len: u64,
    /// The distribution of the elements over the ranks.
    pub distribution: Distribution,
    /// Whether fetched elements are kept.
    pub caching: Caching,
    /// What an owner does with a request for a block that is not full.
    pub deferral: Deferral,
}

impl Options {
    /// `len` elements, distributed in blocks, without a cache.
    pub fn new(len: u64) -> Self {
        Self { len, distribution: Distribution::Block, caching: Caching::Off, deferral: Deferral::Element }
    }

    /// Sets the distribution.
    #[must_use]
    pub fn distribution(self, distribution: Distribution) -> Self {
        Self { distribution, ..self }
    }

    /// Sets whether there is a cache.
    #[must_use]
    pub fn caching(self, caching: Caching) -> Self {
        Self { caching, ..self }
    }

    /// Sets the deferral.
    #[must_use]
    pub fn deferral(self, deferral: Deferral) -> Self {
        Self { deferral, ..self }
    }
}

/// The validated parameters of a structure.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) layout: Layout,
    pub(crate) cached: bool,
    /// Elements of a block; 1 without a cache.
    pub(crate) block: Divisor,
    pub(crate) deferral: Deferral,
    /// Bytes of an element.
    pub(crate) bytes: usize,
    pub(crate) content: Content,
    pub(crate) check: u32,
}

impl Shape {
    pub(crate) fn new<T: Element>(options: &Options, ranks: u32) -> Result<Self> {
        let layout = Layout::new(options.len, ranks, &options.distribution)?;
        let (cached, block) = match options.caching {
            Caching::Off => (false, 1),
            Caching::Blocks(0) => return Err(Error::Options("blocks of 0 elements")),
            Caching::Blocks(block) => (true, block),
        };
        if T::BYTES == 0 {
            return Err(Error::Options("elements of 0 bytes"));
        }
        let (distribution, parameter) = layout.parameters();
        let mut check = Hasher::new();
        check.update(&options.len.to_le_bytes());
        check.update(&ranks.to_le_bytes());
        check.update(&[distribution]);
        check.update(&parameter.to_le_bytes());
        check.update(&block.to_le_bytes());
        check.update(&[u8::from(cached), u8::from(options.deferral == Deferral::Block)]);
        check.update(&(T::BYTES as u64).to_le_bytes());
        check.update(&T::KIND.to_le_bytes());
        Ok(Self {
            layout,
            cached,
            block: Divisor::new(block),
            deferral: options.deferral,
            bytes: T::BYTES,
            content: content(T::KIND),
            check: check.finalize(),
        })
    }

    /// The number of blocks of a rank.
    pub(crate) fn blocks(&self, owner: u32) -> u64 {
        self.layout.slots(owner).div_ceil(self.block.get())
    }

    /// The number of slots in a block; 0 if there is no such block.
    pub(crate) fn block_len(&self, owner: u32, block: u64) -> u64 {
        match block.checked_mul(self.block.get()) {
            Some(first) => self.layout.slots(owner).saturating_sub(first).min(self.block.get()),
            None => 0,
        }
    }
}
