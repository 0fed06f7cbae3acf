//! A received message is raw, a frame or damaged. There is never a panic, and a frame never decodes to a length other than it states. An engine
//! whose decoders have seen all previous frames decodes each frame as a new engine does. The input is a frame's fields and payload; a valid mark and
//! check are added, so that codecs, blocks, heads of streams and notes are reached.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mpress::{Destination, Engine, FLOOR, HEADER_LEN, Header, Kind, Mark, frame_len};
use mpress_codec::CodecId;
use mpress_fuzz::seal;
use std::mem::MaybeUninit;
use std::sync::LazyLock;

const MARK: Mark = Mark(*b"fuzzmark");

/// The receivers' maximum room.
const ROOM: usize = 3 << 20;

/// Its pooled decoders have seen the frames of all previous inputs.
static ENGINE: LazyLock<Engine> = LazyLock::new(new);

fn new() -> Engine {
    Engine::default().with_mark(MARK)
}

fuzz_target!(|data: &[u8]| {
    let _ = ENGINE.open(data);
    let [codec, kind, note, a, b, c, payload @ ..] = data else { return };
    let raw_len = u64::from_le_bytes([*a, *b, *c, 0, 0, 0, 0, 0]);
    let kind = Kind::ALL[usize::from(*kind) % Kind::ALL.len()];
    let _ = decode(&frame(CodecId(*codec), kind, raw_len, note % 64, payload));

    // A frame of a message with a part of its payload replaced.
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
    let _ = decode(&frame(CodecId(packed[9]), kind, message.len() as u64, 0, &damaged));
});

/// The result of a receiver, which must be the same with a new engine.
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
    // SAFETY: initialised at its creation.
    Some(out.into_iter().map(|byte| unsafe { byte.assume_init() }).collect())
}

/// A frame with a valid mark, length and check. The last `note` bytes of its payload are its note.
fn frame(codec: CodecId, kind: Kind, raw_len: u64, note: u8, payload: &[u8]) -> Vec<u8> {
    let len = frame_len(payload.len());
    let padding = (len - HEADER_LEN - payload.len()) as u16;
    let header = Header { mark: MARK, codec, kind, setting: 0, raw_len, note, padding, check: 0 };
    let mut frame = header.to_bytes().expect("a length of 24 bits").to_vec();
    frame.extend_from_slice(payload);
    frame.resize(len, 0);
    seal(&mut frame);
    frame
}
