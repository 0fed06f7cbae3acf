//! The interface between a code and the common header, blocks and planes (`docs/format/planes.md`).
#![forbid(unsafe_code)]

use crate::entropy::Entropy;
use crate::format::BLOCK;
use crate::kernel::Kernel;
use crate::{Decoder, Encoder, Huffman, Rle, ShannonFano};
use mpress_codec::{Codec, DecodeError, Full, Out};
use mpress_codec_support::Wire;

/// The bytes of a block, split into planes.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Scratch(pub(crate) [u8; BLOCK]);

impl Scratch {
    pub(crate) const ZERO: Self = Self([0; BLOCK]);
}

/// A code of planes: [`Rle`](crate::Rle), [`Huffman`](crate::Huffman), [`ShannonFano`](crate::ShannonFano). Its methods are private to this crate.
pub trait Code: Codec + private::Entries + Copy + core::fmt::Debug {}

impl<C: Codec + private::Entries + Copy + core::fmt::Debug> Code for C {}

macro_rules! entries {
    ($($code:ty: $plane:ty;)*) => { $(
        impl private::Entries for $code {
            type Plane = $plane;

            fn encode_message(encoder: &mut Encoder<Self>, raw: &[u8], out: &mut Out<'_>) -> Result<(), Full> {
                encoder.message(raw, out)
            }
            fn decode_message(
                decoder: &mut Decoder<Self>,
                wire: &[u8],
                out: &mut Out<'_>,
            ) -> Result<(), DecodeError> {
                decoder.message(wire, out)
            }
        }
    )* };
}

entries! {
    Huffman: Entropy;
    Rle: Rle;
    ShannonFano: Entropy;
}

pub(crate) mod private {
    use super::{Code, DecodeError, Decoder, Encoder, Full, Kernel, Out, Wire};
    use crate::width::Width;

    /// The entry points of encoder and decoder. They are not generic, so they are compiled in this crate, and not again in each crate that uses
    /// it.
    pub trait Entries: Sized {
        /// How it codes a plane. Codes that differ only in their setting share this, and with it the compiled code.
        type Plane: Plane;

        fn encode_message(encoder: &mut Encoder<Self>, raw: &[u8], out: &mut Out<'_>) -> Result<(), Full>
        where
            Self: Code;
        fn decode_message(
            decoder: &mut Decoder<Self>,
            wire: &[u8],
            out: &mut Out<'_>,
        ) -> Result<(), DecodeError>
        where
            Self: Code;
    }

    /// The encoder and the decoder of a code of planes.
    pub trait Plane: Copy + core::fmt::Debug {
        /// The setting with which an encoder is created.
        type Setting: Copy + core::fmt::Debug;
        /// An encoder's data for a message.
        type Sender: Copy;
        /// A decoder's data besides the wire.
        type Receiver: Clone + core::fmt::Debug;

        /// The decoder's data before any message.
        const RECEIVER: Self::Receiver;

        /// Examines a message. Also returns the code's three bits of the header.
        fn begin(setting: Self::Setting, planes: Width, raw: &[u8]) -> (Self::Sender, u8);

        /// Appends a coded plane if it is shorter than the plane; otherwise appends nothing and returns `false`. Never requires more room than the
        /// plane has bytes.
        fn encode<K: Kernel>(
            sender: Self::Sender,
            kernel: K,
            plane: &[u8],
            out: &mut Out<'_>,
        ) -> Result<bool, Full>;

        /// Reads the code's three bits of the header; `None` if no encoder writes them.
        fn open(receiver: &mut Self::Receiver, bits: u8) -> Option<()>;

        /// Decodes a coded plane at the front of the wire into `plane`, which is not empty.
        fn decode<K: Kernel>(
            receiver: &mut Self::Receiver,
            kernel: K,
            wire: &mut Wire<'_>,
            plane: &mut [u8],
        ) -> Result<(), DecodeError>;
    }
}
