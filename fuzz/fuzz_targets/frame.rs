//! What arrives is a message, a frame or damage: never a panic, and never a frame that decodes to another length than it says. An
//! engine whose decoders have seen all frames before decodes each as a new engine does.
//! The input is a frame's fields and payload, after a mark and a check that hold, so that codecs, blocks and heads of streams are reached.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mpress::{Destination, Engine, FLOOR, HEADER_LEN, Kind, Mark, frame_len};
use mpress_codec::CodecId;
use mpress_codec::frame::{CHECK, Header};
use std::mem::MaybeUninit;
use std::sync::LazyLock;

const MARK: Mark = Mark(*b"fuzzmark");

/// No receiver has room for more here.
const ROOM: usize = 3 << 20;

/// Its pooled decoders have seen the frames of all inputs before.
static ENGINE: LazyLock<Engine> = LazyLock::new(new);

fn new() -> Engine {
    Engine::default().with_mark(MARK)
}

fuzz_target!(|data: &[u8]| {
    let _ = ENGINE.open(data);
    let [codec, kind, a, b, c, payload @ ..] = data else { return };
    let raw_len = u64::from_le_bytes([*a, *b, *c, 0, 0, 0, 0, 0]);
    let kind = Kind::ALL[usize::from(*kind) % Kind::ALL.len()];
    let _ = decode(&frame(CodecId(*codec), kind, raw_len, payload));

    // A frame of a message, with a part of its payload replaced.
    let strategy = mpress::Codec::at(usize::from(*codec)).map(mpress::Strategy::Fixed);
    let message: Vec<u8> = payload.iter().copied().cycle().take(FLOOR.max(payload.len())).collect();
    if payload.is_empty() {
        return;
    }
    let considered = ENGINE.consider(strategy, kind, Destination::OtherNode, message.len());
    let Some(packed) = considered.and_then(|considered| ENGINE.encode_considered(considered, &message))
    else {
        return;
    };
    assert!(packed.len() < message.len() && ENGINE.is_frame(&packed));
    assert_eq!(decode(&packed).as_ref(), Some(&message), "not what was sent");
    let mut damaged = packed[HEADER_LEN..].to_vec();
    let at = usize::from(*b) * damaged.len() / 256;
    for (byte, other) in damaged[at..].iter_mut().zip(&payload[payload.len() / 2..]) {
        *byte ^= other;
    }
    let _ = decode(&frame(CodecId(packed[9]), kind, message.len() as u64, &damaged));
});

/// What a receiver makes of it, be its engine new or not.
fn decode(frame: &[u8]) -> Option<Vec<u8>> {
    let received = decode_by(&ENGINE, frame);
    assert!(received == decode_by(&new(), frame), "a used engine does not decode as a new one");
    received
}

fn decode_by(engine: &Engine, frame: &[u8]) -> Option<Vec<u8>> {
    let incoming = engine.open(frame).ok().filter(|incoming| incoming.raw_len() <= ROOM)?;
    let first = incoming.stream().map(|stream| stream.range(0).len());
    let mut out = vec![MaybeUninit::new(0); first.unwrap_or(incoming.raw_len())];
    if first.is_some() {
        engine.decode_head(&incoming, &mut out).ok()?;
    } else {
        engine.decode(&incoming, &mut out).ok()?;
    }
    // SAFETY: initialised when it was made.
    Some(out.into_iter().map(|byte| unsafe { byte.assume_init() }).collect())
}

/// A frame whose mark, length and check hold.
fn frame(codec: CodecId, kind: Kind, raw_len: u64, payload: &[u8]) -> Vec<u8> {
    let len = frame_len(payload.len());
    let padding = (len - HEADER_LEN - payload.len()) as u16;
    let header = Header { mark: MARK, codec, kind, setting: 0, raw_len, padding, check: 0 };
    let mut frame = header.to_bytes().expect("a length of 24 bits").to_vec();
    frame.extend_from_slice(payload);
    frame.resize(len, 0);
    let check = crc32fast::hash(&frame);
    frame[CHECK].copy_from_slice(&check.to_le_bytes());
    frame
}
