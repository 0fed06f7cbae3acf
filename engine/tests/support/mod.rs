//! What the tests of the engine share: engines, messages, and the way of a frame from one to the other.

#![allow(dead_code, clippy::unwrap_used, reason = "tests, not every one of which needs all of it")]

pub(crate) mod channel;

use mpress::Header;
use mpress::{
    Buffer, CodecId, Destination, Engine, FrameError, HEADER_LEN, Kind, Knowledge, Mark, SHORTEST, SameNode,
    Settings,
};
use std::mem::MaybeUninit;

/// An engine that compresses all messages for other nodes with one codec.
pub(crate) fn fixed() -> Engine {
    by("fixed:diffpack-balanced", SameNode::Pass)
}

/// Without trials by the clock, in which all messages go raw at times: whether one begins during a test depends on how fast this machine is.
pub(crate) fn by(strategy: &str, same_node: SameNode) -> Engine {
    let strategy = strategy.parse().unwrap();
    let settings = Settings { strategy, same_node, clock: false, ..Settings::default() };
    Engine::new(&settings, &Knowledge::default(), None).with_mark(MARK)
}

/// The mark of the tests' job.
pub(crate) const MARK: Mark = Mark(*b"testmark");

/// What is sent of a message: its frame, or itself.
pub(crate) fn wire(frame: Option<&Buffer>, raw: &[u8]) -> Vec<u8> {
    frame.map_or(raw, |frame| frame).to_vec()
}

/// Sends a message of doubles to another node.
pub(crate) fn send(engine: &Engine, raw: &[u8]) -> Vec<u8> {
    wire(engine.encode(raw, Kind::F64, Destination::OtherNode).as_ref(), raw)
}

/// Receives what was sent into a buffer that held something else before.
pub(crate) fn receive(engine: &Engine, wire: &[u8]) -> Result<Vec<u8>, FrameError> {
    if !engine.is_frame(wire) {
        return Ok(wire.to_vec());
    }
    let incoming = engine.open(wire)?;
    if incoming.raw_len() > 1 << 26 {
        return Err(FrameError::Codec(CodecId(255))); // as a receiver refuses what its buffer cannot hold
    }
    let mut out = vec![MaybeUninit::new(0xee); incoming.raw_len()];
    engine.decode(&incoming, &mut out)?;
    // SAFETY: decode filled all of it.
    Ok(out.into_iter().map(|byte| unsafe { byte.assume_init() }).collect())
}

/// A frame with this payload of doubles, whether or not there is such a frame.
pub(crate) fn frame(codec: CodecId, raw_len: usize, payload: &[u8]) -> Vec<u8> {
    let end = HEADER_LEN + payload.len();
    let len = (end.max(SHORTEST)..).find(|len| len % 8 == 5).unwrap();
    let padding = u16::try_from(len - end).unwrap();
    let header = Header {
        mark: MARK,
        codec,
        kind: Kind::F64,
        setting: 0,
        raw_len: raw_len as u64,
        note: 0,
        padding,
        check: 0,
    };
    sealed(&[&header.to_bytes().unwrap(), payload, &vec![0; len - end]].concat())
}

/// The same frame with a check that holds.
pub(crate) fn sealed(frame: &[u8]) -> Vec<u8> {
    let mut frame = frame.to_vec();
    frame[12..16].fill(0);
    let check = crc32fast::hash(&frame);
    frame[12..16].copy_from_slice(&check.to_le_bytes());
    frame
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
    engine.encode(raw, kind, to).map_or(CodecId::RAW, |frame| CodecId(frame[9]))
}
