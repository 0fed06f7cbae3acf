//! Constants of the wire format of interleaved lanes: `docs/format/dfcm.md`, section 10.
#![forbid(unsafe_code)]

/// Byte 0 of the header (section 10.2).
pub(super) const VERSION: u8 = 2;
/// Bytes of the header before the length: the version, and the number of lanes minus the minimum (section 10.2).
pub(super) const HEADER: usize = 2;
/// The maximum number of lanes minus the minimum, which is the number of words in a group (section 10.2).
pub(super) const MORE_LANES: usize = 24;

/// The number of most significant bits in which two differences must agree (section 10.3).
pub(super) const AGREEMENT: u32 = crate::format::TOP_BITS;
/// The number of a lane's last elements that a prediction uses (section 10.3).
pub(super) const ORDER: usize = 3;

/// Raw bytes of a group, which is a vector (section 10.4).
pub(crate) const GROUP: usize = 64;
/// Groups of a full block (section 10.4).
pub(super) const GROUPS: usize = 8;
/// Raw bytes of a full block (section 10.4).
pub(super) const BLOCK: usize = GROUPS * GROUP;
/// Bits of a group's width code (section 10.5).
pub(super) const CODE_BITS: usize = 6;
