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

/// The codec for a message of at least [`FLOOR`](crate::FLOOR) bytes: floats for another node are compressed
/// (cMPI, section 2.4 gives the threshold), all else travels raw.
pub(crate) fn choose(kind: Kind, to: Destination, same_node: SameNode) -> CodecId {
    if to == Destination::SameNode && same_node == SameNode::Pass {
        return CodecId::RAW;
    }
    match kind {
        Kind::F64 => CodecId::DFCM_F64,
        Kind::F32 => CodecId::DFCM_F32,
        _ => CodecId::RAW,
    }
}
