//! Which codec a message goes to. A fixed rule for now; the selector takes this place.

use crate::settings::SameNode;
use mpress_codec::{CodecId, Kind};

/// Where a message goes, as far as compression is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// A process that shares memory with this one.
    SameNode,
    /// A process on another node.
    OtherNode,
}

/// The codec for a message of at least [`FLOOR`](crate::FLOOR) bytes (cMPI, section 2.4 gives the threshold): numbers
/// for another node are compressed, all else travels raw.
pub(crate) fn choose(kind: Kind, to: Destination, same_node: SameNode) -> CodecId {
    if to == Destination::SameNode && same_node == SameNode::Pass {
        return CodecId::RAW;
    }
    match kind {
        Kind::F64 | Kind::Int64 => CodecId::DIFFPACK_64,
        Kind::F32 | Kind::Int32 => CodecId::DIFFPACK_32,
        // Pairs of bytes: not what it was made for, but zeros and slow changes are found.
        Kind::Int16 | Kind::Int8 => CodecId::DIFFPACK_16,
        Kind::Other => CodecId::RAW,
    }
}
