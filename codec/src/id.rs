//! Codec ids: the wire byte that identifies a codec.
#![forbid(unsafe_code)]

/// The wire byte that identifies a codec. Ids are never reused. An id unknown to a build is still a valid value, so that the decoder can report it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CodecId(pub u8);

impl CodecId {
    /// The message itself, uncompressed.
    pub const RAW: Self = Self(0);
    /// DFCM over 64-bit floats (cMPI, sections 2.2 and 2.3).
    pub const DFCM_F64: Self = Self(1);
    /// DFCM over 32-bit floats, by the same construction.
    pub const DFCM_F32: Self = Self(2);
    /// Packed differences of 64-bit words, floats or integers (`docs/format/diffpack.md`).
    pub const DIFFPACK_64: Self = Self(3);
    /// Packed differences of 32-bit words, by the same construction.
    pub const DIFFPACK_32: Self = Self(4);
    /// Packed differences of 16-bit words, by the same construction.
    pub const DIFFPACK_16: Self = Self(5);
    /// FPC over 64-bit floats, laid out for messages (`docs/format/fpc.md`).
    pub const FPC_F64: Self = Self(6);
    /// FPC over 32-bit floats, by the same construction.
    pub const FPC_F32: Self = Self(7);
    /// A stream of FPC 1.1 (`docs/format/fpc.md`).
    pub const FPC_STREAM: Self = Self(8);
    /// Rice codes of 8-bit integers (`docs/format/rice.md`).
    pub const RICE_8: Self = Self(9);
    /// Rice codes of 16-bit integers.
    pub const RICE_16: Self = Self(10);
    /// Rice codes of 32-bit integers.
    pub const RICE_32: Self = Self(11);
    /// Rice codes of 64-bit integers.
    pub const RICE_64: Self = Self(12);
    /// Adaptive entropy coding of CCSDS 121.0-B (`docs/format/rice.md`).
    pub const CCSDS_121: Self = Self(13);
    /// Runs of equal symbols (`docs/format/rle.md`).
    pub const RLE: Self = Self(14);
    /// Huffman codes of bytes or byte planes (`docs/format/huffman.md`).
    pub const HUFFMAN: Self = Self(15);
    /// Shannon-Fano codes in the same layout.
    pub const SHANNON_FANO: Self = Self(16);
    /// An LZO1X stream (`docs/format/lzo.md`).
    pub const LZO1X: Self = Self(17);
    /// LZ77 blocks (`docs/format/lz77.md`).
    pub const LZ77: Self = Self(18);
    /// Interleaved lanes of 64-bit floats with DFCM's drift rule (`docs/format/dfcm.md`, section 10).
    pub const DFCM_LANES_F64: Self = Self(19);
    /// Interleaved lanes of 32-bit floats, by the same construction.
    pub const DFCM_LANES_F32: Self = Self(20);
    /// Blocks of a long message, each coded independently (`docs/format/frame.md`).
    pub const BLOCKS: Self = Self(21);
    /// The first chunk of a long message sent in chunks (`docs/format/frame.md`).
    pub const STREAM: Self = Self(22);
    /// A block of LZ4, preceded by its length (`docs/format/zstd-lz4.md`).
    pub const LZ4: Self = Self(23);
    /// Frames of Zstandard, preceded by their length.
    pub const ZSTD: Self = Self(24);
}
