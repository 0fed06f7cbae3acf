//! Constructors of the encoders and decoders of the table's rows.

use super::{Decoder, Encoder, Member, Width};

/// For a row without a codec, and for all rows whose feature is off.
pub(super) fn none(_: Width) -> Option<Member> {
    None
}

/// A member from the constructors of its two types.
macro_rules! member {
    ($id:ident, $encoder:expr, $decoder:expr) => {
        Some(Member {
            id: mpress_codec::CodecId::$id,
            encoder: || Some(Box::new($encoder) as Encoder),
            decoder: || Some(Box::new($decoder) as Decoder),
        })
    };
}

#[cfg(feature = "diffpack")]
mod diffpack {
    use super::{Decoder, Encoder, Member, Width};
    use mpress_diffpack::{Decoder as Unpacker, Effort, Encoder as Packer};

    macro_rules! effort {
        ($name:ident, $effort:ident) => {
            pub(in crate::codecs) fn $name(width: Width) -> Option<Member> {
                match width {
                    Width::W64 => {
                        member!(
                            DIFFPACK_64,
                            Packer::<u64>::remembering(Effort::$effort),
                            Unpacker::<u64>::new()
                        )
                    }
                    Width::W32 => {
                        member!(
                            DIFFPACK_32,
                            Packer::<u32>::remembering(Effort::$effort),
                            Unpacker::<u32>::new()
                        )
                    }
                    // Pairs of bytes: not its purpose, but it finds zeros and slow changes.
                    Width::W16 | Width::W8 => {
                        member!(
                            DIFFPACK_16,
                            Packer::<u16>::remembering(Effort::$effort),
                            Unpacker::<u16>::new()
                        )
                    }
                }
            }
        };
    }

    effort!(diffpack_fast, Fast);
    effort!(diffpack_balanced, Balanced);
    effort!(diffpack_ratio, Ratio);
}
#[cfg(feature = "diffpack")]
pub(super) use diffpack::{diffpack_balanced, diffpack_fast, diffpack_ratio};
#[cfg(not(feature = "diffpack"))]
pub(super) use {none as diffpack_balanced, none as diffpack_fast, none as diffpack_ratio};

#[cfg(feature = "dfcm")]
mod dfcm {
    use super::{Decoder, Encoder, Member, Width};
    use mpress_codec::CodecId;
    use mpress_dfcm::{Lines, Word, lanes};

    fn encoder<W: Word + Send + 'static>() -> Option<Encoder> {
        let memory = vec![0; Lines::MAX_SIZED.words::<W>()];
        Some(Box::new(mpress_dfcm::Encoder::<W, Vec<u64>>::new(memory).ok()?))
    }

    fn decoder<W: Word + Send + 'static>() -> Option<Decoder> {
        let memory = vec![0; Lines::MAX.words::<W>()];
        Some(Box::new(mpress_dfcm::Decoder::<W, Vec<u64>>::new(memory).ok()?))
    }

    pub(in crate::codecs) fn dfcm(width: Width) -> Option<Member> {
        match width {
            Width::W64 => {
                Some(Member { id: CodecId::DFCM_F64, encoder: encoder::<u64>, decoder: decoder::<u64> })
            }
            Width::W32 => {
                Some(Member { id: CodecId::DFCM_F32, encoder: encoder::<u32>, decoder: decoder::<u32> })
            }
            Width::W16 | Width::W8 => None,
        }
    }

    pub(in crate::codecs) fn dfcm_lanes(width: Width) -> Option<Member> {
        match width {
            Width::W64 => member!(DFCM_LANES_F64, lanes::Encoder::<u64>::new(), lanes::Decoder::<u64>::new()),
            Width::W32 => member!(DFCM_LANES_F32, lanes::Encoder::<u32>::new(), lanes::Decoder::<u32>::new()),
            Width::W16 | Width::W8 => None,
        }
    }
}
#[cfg(feature = "dfcm")]
pub(super) use dfcm::{dfcm, dfcm_lanes};
#[cfg(not(feature = "dfcm"))]
pub(super) use {none as dfcm, none as dfcm_lanes};

#[cfg(feature = "fpc")]
pub(super) fn fpc(width: Width) -> Option<Member> {
    use mpress_fpc::{Decoder as Fpcd, Encoder as Fpce};
    match width {
        Width::W64 => member!(FPC_F64, Fpce::<u64>::new(), Fpcd::<u64>::new()),
        Width::W32 => member!(FPC_F32, Fpce::<u32>::new(), Fpcd::<u32>::new()),
        Width::W16 | Width::W8 => None,
    }
}
#[cfg(not(feature = "fpc"))]
pub(super) use none as fpc;

#[cfg(feature = "rice")]
pub(super) fn rice(width: Width) -> Option<Member> {
    use mpress_rice::{Decoder as Unrice, Encoder as Rice};
    match width {
        Width::W64 => member!(RICE_64, Rice::<u64>::auto(), Unrice::<u64>::new()),
        Width::W32 => member!(RICE_32, Rice::<u32>::auto(), Unrice::<u32>::new()),
        Width::W16 => member!(RICE_16, Rice::<u16>::auto(), Unrice::<u16>::new()),
        Width::W8 => member!(RICE_8, Rice::<u8>::auto(), Unrice::<u8>::new()),
    }
}
#[cfg(not(feature = "rice"))]
pub(super) use none as rice;

#[cfg(feature = "rle-huffman")]
mod rle_huffman {
    use super::{Decoder, Encoder, Member, Width};
    use mpress_rle_huffman::{
        HuffmanDecoder, HuffmanEncoder, RleDecoder, RleEncoder, ShannonFanoDecoder, ShannonFanoEncoder,
        Symbol, Width as Planes,
    };

    pub(in crate::codecs) fn rle(_: Width) -> Option<Member> {
        member!(RLE, RleEncoder::new(Symbol::Auto, Planes::One), RleDecoder::new())
    }

    /// Entropy coders find structure in numbers only in byte planes.
    macro_rules! by_planes {
        ($name:ident, $id:ident, $encoder:ident, $decoder:ident) => {
            pub(in crate::codecs) fn $name(width: Width) -> Option<Member> {
                match width {
                    Width::W64 => member!($id, $encoder::new(Planes::Eight), $decoder::new()),
                    Width::W32 => member!($id, $encoder::new(Planes::Four), $decoder::new()),
                    Width::W16 => member!($id, $encoder::new(Planes::Two), $decoder::new()),
                    Width::W8 => member!($id, $encoder::new(Planes::One), $decoder::new()),
                }
            }
        };
    }

    by_planes!(huffman, HUFFMAN, HuffmanEncoder, HuffmanDecoder);
    by_planes!(shannon_fano, SHANNON_FANO, ShannonFanoEncoder, ShannonFanoDecoder);
}
#[cfg(feature = "rle-huffman")]
pub(super) use rle_huffman::{huffman, rle, shannon_fano};
#[cfg(not(feature = "rle-huffman"))]
pub(super) use {none as huffman, none as rle, none as shannon_fano};

#[cfg(feature = "lzo-compat")]
mod lzo_compat {
    use super::{Decoder, Encoder, Member, Width};
    use mpress_lzo_compat::{Decoder as Reader, Effort, Encoder as Writer, Lz77, Lzo1x};

    pub(in crate::codecs) fn lzo(_: Width) -> Option<Member> {
        member!(LZO1X, Writer::<Lzo1x>::new(Effort::Fast), Reader::<Lzo1x>::new())
    }

    pub(in crate::codecs) fn lz77_fast(_: Width) -> Option<Member> {
        member!(LZ77, Writer::<Lz77>::new(Effort::Fast), Reader::<Lz77>::new())
    }

    pub(in crate::codecs) fn lz77(_: Width) -> Option<Member> {
        member!(LZ77, Writer::<Lz77>::new(Effort::Normal), Reader::<Lz77>::new())
    }
}
#[cfg(feature = "lzo-compat")]
pub(super) use lzo_compat::{lz77, lz77_fast, lzo};
#[cfg(not(feature = "lzo-compat"))]
pub(super) use {none as lz77, none as lz77_fast, none as lzo};

#[cfg(feature = "zstd")]
pub(super) fn zstd(_: Width) -> Option<Member> {
    use super::zstandard::{Packer, Unpacker};
    Some(Member {
        id: mpress_codec::CodecId::ZSTD,
        encoder: || Some(Box::new(Packer::new()?)),
        decoder: || Some(Box::new(Unpacker::new()?)),
    })
}
#[cfg(not(feature = "zstd"))]
pub(super) use none as zstd;
