//! Codec ids: the wire byte that names a codec.
#![forbid(unsafe_code)]

/// The wire byte that names a codec. Ids are never reused; an id unknown to a build is still a valid value,
/// so that the decoder can say what it met.
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
}
