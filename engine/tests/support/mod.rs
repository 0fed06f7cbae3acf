//! What the tests of the engine share: engines, messages, and the way of a frame from one to the other.

#![allow(dead_code, clippy::unwrap_used, reason = "tests, not every one of which needs all of it")]

use mpress::{
    CodecId, Destination, Engine, Frame, FrameError, HEADER_LEN, Incoming, Kind, Knowledge, SameNode,
    Settings,
};
use mpress_codec::frame::Header;
use std::mem::MaybeUninit;

/// An engine that compresses all messages for other nodes with one codec.
pub(crate) fn fixed() -> Engine {
    by("fixed:diffpack-balanced", SameNode::Pass)
}

pub(crate) fn by(strategy: &str, same_node: SameNode) -> Engine {
    let settings = Settings { strategy: strategy.parse().unwrap(), same_node, ..Settings::default() };
    Engine::new(&settings, &Knowledge::default(), None)
}

/// The frame as it travels.
pub(crate) fn wire(frame: &Frame, raw: &[u8]) -> Vec<u8> {
    match frame {
        Frame::Raw(header) => [header, raw].concat(),
        Frame::Packed(buffer) => buffer.to_vec(),
    }
}

/// Receives a frame into a buffer that held something else before.
pub(crate) fn receive(engine: &Engine, wire: &[u8]) -> Result<Vec<u8>, FrameError> {
    let (header, body) = wire.split_first_chunk::<HEADER_LEN>().unwrap();
    let incoming = Incoming::open(header, body)?;
    if incoming.raw_len() > 1 << 26 {
        return Err(FrameError::Codec(CodecId(255))); // as a receiver refuses what its buffer cannot hold
    }
    let mut out = vec![MaybeUninit::new(0xee); incoming.raw_len()];
    engine.decode(&incoming, body, &mut out)?;
    // SAFETY: decode filled all of it.
    Ok(out.into_iter().map(|byte| unsafe { byte.assume_init() }).collect())
}

/// A frame with this payload of doubles.
pub(crate) fn frame(codec: CodecId, raw_len: usize, payload: &[u8]) -> Vec<u8> {
    let header = Header { codec, kind: Kind::F64, raw_len: raw_len as u64, padding: 0, check: 0 };
    let mut crc = crc32fast::Hasher::new();
    crc.update(&header.to_bytes());
    crc.update(payload);
    let header = Header { check: crc.finalize(), ..header };
    [&header.to_bytes()[..], payload].concat()
}

pub(crate) fn smooth(len: usize) -> Vec<u8> {
    (0..len.div_ceil(8)).flat_map(|i| (2.0 + (i as f64 * 0.003).sin()).to_le_bytes()).take(len).collect()
}

pub(crate) fn noise(len: usize) -> Vec<u8> {
    let mut state = 1_u64;
    (0..len)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        })
        .collect()
}

pub(crate) fn codec_of(engine: &Engine, raw: &[u8], kind: Kind, to: Destination) -> CodecId {
    CodecId(wire(&engine.encode(raw, kind, to).unwrap(), raw)[1])
}
