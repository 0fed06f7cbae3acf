//! Messages on the wire: raw, in a frame, or as a stream of chunks; and what they need to know about the job, its communicators and datatypes.

pub(crate) mod agreed;
pub(crate) mod context;
pub(crate) mod datatypes;
pub(crate) mod elements;
pub(crate) mod error;
pub(crate) mod peers;
pub(crate) mod posted;
pub(crate) mod receive_memory;
pub(crate) mod recorder;
mod recording;
pub(crate) mod streams;
pub(crate) mod uncompressed;
pub(crate) mod wire;
