//! Codec ids: the wire byte that identifies a codec.
#![forbid(unsafe_code)]

use core::ops::RangeInclusive;

/// The wire byte that identifies a codec. Ids are never reused. An id unknown to a build is still a valid value, so that the decoder can report it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CodecId(pub u8);

impl CodecId {
    /// The ids that mpress never assigns, for third-party codecs. If you use one, both ends must mean the same codec by it. Processes whose engines
    /// (crate `mpress`) are given such codecs agree on them (`docs/format/frame.md`, section "Codecs of others").
    pub const PRIVATE: RangeInclusive<u8> = 192..=255;

    /// Whether mpress never assigns this id; see [`PRIVATE`](Self::PRIVATE).
    #[must_use]
    pub const fn is_private(self) -> bool {
        self.0 >= *Self::PRIVATE.start()
    }
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $id:literal;)*) => {
        impl CodecId {
            $($(#[$doc])* pub const $name: Self = Self($id);)*

            /// All ids that are assigned, in ascending order.
            pub const ASSIGNED: &'static [Self] = &[$(Self::$name),*];
        }
    };
}

ids! {
    /// The message itself, uncompressed.
    RAW = 0;
    /// DFCM over 64-bit floats (cMPI, sections 2.2 and 2.3).
    DFCM_F64 = 1;
    /// DFCM over 32-bit floats, by the same construction.
    DFCM_F32 = 2;
    /// Packed differences of 64-bit words, floats or integers (`docs/format/diffpack.md`).
    DIFFPACK_64 = 3;
    /// Packed differences of 32-bit words, by the same construction.
    DIFFPACK_32 = 4;
    /// Packed differences of 16-bit words, by the same construction.
    DIFFPACK_16 = 5;
    /// FPC over 64-bit floats, laid out for messages (`docs/format/fpc.md`).
    FPC_F64 = 6;
    /// FPC over 32-bit floats, by the same construction.
    FPC_F32 = 7;
    /// A stream of FPC 1.1 (`docs/format/fpc.md`).
    FPC_STREAM = 8;
    /// Rice codes of 8-bit integers (`docs/format/rice.md`).
    RICE_8 = 9;
    /// Rice codes of 16-bit integers.
    RICE_16 = 10;
    /// Rice codes of 32-bit integers.
    RICE_32 = 11;
    /// Rice codes of 64-bit integers.
    RICE_64 = 12;
    /// Adaptive entropy coding of CCSDS 121.0-B (`docs/format/rice.md`).
    CCSDS_121 = 13;
    /// Runs of equal symbols (`docs/format/rle.md`).
    RLE = 14;
    /// Huffman codes of bytes or byte planes (`docs/format/huffman.md`).
    HUFFMAN = 15;
    /// Shannon-Fano codes in the same layout.
    SHANNON_FANO = 16;
    /// An LZO1X stream (`docs/format/lzo.md`).
    LZO1X = 17;
    /// LZ77 blocks (`docs/format/lz77.md`).
    LZ77 = 18;
    /// Interleaved lanes of 64-bit floats with DFCM's drift rule (`docs/format/dfcm.md`, section 10).
    DFCM_LANES_F64 = 19;
    /// Interleaved lanes of 32-bit floats, by the same construction.
    DFCM_LANES_F32 = 20;
    /// Blocks of a long message, each coded independently (`docs/format/frame.md`).
    BLOCKS = 21;
    /// The first chunk of a long message sent in chunks (`docs/format/frame.md`).
    STREAM = 22;
    /// Frames of Zstandard, preceded by their length (`docs/format/zstd.md`).
    ZSTD = 23;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_assigned_id_is_one_for_others() {
        assert!(CodecId::ASSIGNED.is_sorted_by(|a, b| a < b));
        assert!(CodecId::ASSIGNED.iter().all(|id| !id.is_private()));
        assert!((0..=u8::MAX).all(|id| CodecId(id).is_private() == CodecId::PRIVATE.contains(&id)));
    }
}
