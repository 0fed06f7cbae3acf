//! Constants of the wire format of interleaved lanes: `docs/format/dfcm.md`, section 10.
#![forbid(unsafe_code)]

/// Byte 0 of the header (section 10.2).
pub(super) const VERSION: u8 = 1;
/// Bytes of the header (section 10.2).
pub(super) const HEADER: usize = 2;
/// Byte 1 of the header: lanes above the fewest, which are as many as a group has words.
pub(super) const LANES_MASK: u8 = 0x1f;
/// Byte 1 of the header: above this bit stands the raw length modulo 8.
pub(super) const RAW_LEN_SHIFT: u32 = 5;
/// The most lanes less the fewest (section 10.2).
pub(super) const MORE_LANES: usize = 24;

/// Most significant bits in which two differences have to agree (section 10.3).
pub(super) const AGREEMENT: u32 = crate::format::TOP_BITS;
/// Elements of a lane that a prediction looks back at (section 10.3).
pub(super) const ORDER: usize = 3;

/// Raw bytes of a group, which is a vector (section 10.4).
pub(crate) const GROUP: usize = 64;
/// Groups of a full block (section 10.4).
pub(super) const GROUPS: usize = 8;
/// Raw bytes of a full block (section 10.4).
pub(super) const BLOCK: usize = GROUPS * GROUP;
/// Bits of a group's width code (section 10.5).
pub(super) const CODE_BITS: usize = 6;
