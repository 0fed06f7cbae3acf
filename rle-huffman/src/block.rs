//! What a code must be able to do to follow the common header, blocks and planes (`docs/format/planes.md`).
#![forbid(unsafe_code)]

use crate::format::{BLOCK, HEADER};
use crate::kernel::Kernel;
use crate::reader::Reader;
use mpress_codec::{Codec, DecodeError, Full, Out};

/// The bytes of a block, dealt to planes.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Scratch(pub(crate) [u8; BLOCK]);

impl Scratch {
    pub(crate) const ZERO: Self = Self([0; BLOCK]);
}

/// A code of planes: [`Rle`](crate::Rle), [`Huffman`](crate::Huffman), [`ShannonFano`](crate::ShannonFano). Its
/// methods are not for use from outside.
pub trait Code: Codec + private::Plane + Copy + core::fmt::Debug {}

impl<C: Codec + private::Plane + Copy + core::fmt::Debug> Code for C {}

pub(crate) mod private {
    use super::{DecodeError, Full, Kernel, Out, Reader};
    use crate::width::Width;

    /// The sending and the receiving side of a code of planes.
    pub trait Plane {
        /// What an encoder is made with.
        type Setting: Copy + core::fmt::Debug;
        /// What an encoder knows of a message.
        type Sender: Copy;
        /// What a decoder needs beside the wire.
        type Receiver: Clone + core::fmt::Debug;

        /// The receiver before any message.
        const RECEIVER: Self::Receiver;

        /// Looks at a message. Gives what the header says of it in three bits, too.
        fn begin(setting: Self::Setting, planes: Width, raw: &[u8]) -> (Self::Sender, u8);

        /// Appends a coded plane, if that is shorter than the plane: else it appends nothing and gives `false`. It never
        /// asks for more room than the plane has bytes.
        fn encode<K: Kernel>(
            sender: Self::Sender,
            kernel: K,
            plane: &[u8],
            out: &mut Out<'_>,
        ) -> Result<bool, Full>;

        /// Takes the header's three bits; `None` if no encoder writes them.
        fn open(receiver: &mut Self::Receiver, bits: u8) -> Option<()>;

        /// Reads a coded plane from the front of the wire and fills `plane`, which is not empty, with it.
        fn decode<K: Kernel>(
            receiver: &mut Self::Receiver,
            kernel: K,
            wire: &mut Reader<'_>,
            plane: &mut [u8],
        ) -> Result<(), DecodeError>;
    }
}

/// `raw_len`, 1 for each block, and 2 (planes, section 5).
pub(crate) fn max_encoded_len(raw_len: usize) -> Option<usize> {
    raw_len.checked_add(raw_len.div_ceil(BLOCK))?.checked_add(HEADER)
}
