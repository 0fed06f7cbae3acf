//! Two processes that keep messages, and messages of which each resembles the one before.

use super::{MARK, receive, sealed};
use mpress::selector::Link;
use mpress::{Channel, Destination, Engine, FrameError, Kind, Knowledge, Outgoing, SHORTEST, Settings};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Raw bytes of a chunk of a long message.
pub(crate) const CHUNK: usize = 2048;

pub(crate) fn engine(strategy: &str, rank: u32, memory: usize) -> Engine {
    let strategy = strategy.parse().unwrap();
    let settings = Settings { strategy, memory, clock: false, ..Settings::default() };
    // The adaptive strategy decides by time. On a link this slow, even a busy machine gains.
    let knowledge =
        Knowledge { link: Link { latency_us: 1.0, bandwidth_mb_s: 0.01 }, ..Knowledge::default() };
    Engine::new(&settings, &knowledge, None).with_mark(MARK).with_memory(&settings, rank, 2)
}

pub(crate) fn pair(memory: usize) -> [Engine; 2] {
    [0, 1].map(|rank| engine("fixed:diffpack-fast", rank, memory))
}

pub(crate) fn mixed(i: u64) -> u64 {
    let x = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// A field of doubles between 1 and 2 that no predictor finds, of which each value changes a little with each step.
pub(crate) fn field(tag: i32, step: u64, len: usize) -> Vec<u8> {
    let value = |i: u64| {
        let word = mixed(i + (u64::from(tag.unsigned_abs()) << 32));
        (0x3ff << 52) | ((word >> 12) + step * (word & 0x3f)) & ((1 << 52) - 1)
    };
    (0..len.div_ceil(8) as u64).flat_map(|i| value(i).to_le_bytes()).take(len).collect()
}

/// What is sent of a message to the other one of two processes.
pub(crate) fn send(engine: &Engine, peer: u32, tag: i32, raw: &[u8]) -> Vec<u8> {
    let considered = engine.consider(None, Kind::F64, Destination::OtherNode, raw.len()).unwrap();
    let frame = engine.encode_considered(considered.on(Channel { peer, context: 0, tag }), raw);
    frame.map_or(raw.to_vec(), |frame| frame.to_vec())
}

/// The same in chunks, if it is long.
pub(crate) fn send_long(engine: &Engine, peer: u32, tag: i32, raw: &[u8]) -> Vec<Vec<u8>> {
    let considered = engine.consider(None, Kind::F64, Destination::OtherNode, raw.len()).unwrap();
    match engine.begin(considered.on(Channel { peer, context: 0, tag }), raw, 7, Some(CHUNK)) {
        Outgoing::Raw => vec![raw.to_vec()],
        Outgoing::Frame(frame) => vec![frame.to_vec()],
        Outgoing::Stream(head, mut tail) => {
            let mut wires = vec![head.to_vec()];
            while let Some(range) = tail.due() {
                wires.push(engine.next_chunk(&mut tail, &raw[range]).unwrap().to_vec());
            }
            wires
        }
    }
}

/// Receives that, or only this number of its parts.
pub(crate) fn receive_long(engine: &Engine, wires: &[Vec<u8>], parts: usize) -> Result<Vec<u8>, FrameError> {
    let Some(stream) = Some(&wires[0])
        .filter(|head| engine.is_frame(head))
        .and_then(|head| engine.open(head).unwrap().stream())
    else {
        return receive(engine, &wires[0]);
    };
    let mut whole = Vec::new();
    for (index, wire) in wires.iter().enumerate().take(parts) {
        let mut out = vec![MaybeUninit::new(0xee); stream.range(index).len()];
        match index {
            0 => engine.decode_head(&engine.open(wire).unwrap(), &mut out)?,
            _ => engine.decode_chunk(&stream, index, wire, &mut out)?,
        }
        // SAFETY: decoding filled all of it.
        whole.extend(out.into_iter().map(|byte| unsafe { byte.assume_init() }));
    }
    if parts < wires.len() {
        engine.refuse_stream(&stream);
    }
    Ok(whole)
}

/// The place of a frame's note, which is empty if there is none.
pub(crate) fn note(frame: &[u8]) -> Range<usize> {
    let both = usize::from(u16::from_le_bytes([frame[30], frame[31]]));
    let end = frame.len() - both % 1024;
    end - both / 1024..end
}

/// The same frame with this note.
pub(crate) fn noted(frame: &[u8], bytes: &[u8]) -> Vec<u8> {
    let mut frame = [&frame[..note(frame).start], bytes].concat();
    let len = (frame.len().max(SHORTEST)..).find(|len| len % 8 == 5).unwrap();
    let both = len - frame.len() + 1024 * bytes.len();
    frame[30..32].copy_from_slice(&u16::try_from(both).unwrap().to_le_bytes());
    frame.resize(len, 0);
    sealed(&frame)
}

/// Whether this is a frame that refers to an earlier message: the third number of its note says to which.
pub(crate) fn refers(wire: &[u8]) -> bool {
    let third =
        |note: &[u8]| note.split_inclusive(|byte| *byte < 0x80).nth(2).is_some_and(|back| *back != [0]);
    wire.starts_with(&MARK.0) && third(&wire[note(wire)])
}

/// The lengths of the frames of a process that exchanges a message of this channel with another one in each of some steps.
pub(crate) fn exchange(
    engines: &[Engine; 2],
    tag: i32,
    len: usize,
    steps: std::ops::Range<u64>,
) -> Vec<usize> {
    let step = |step| {
        let raw = field(tag, step, len);
        let wires = [1, 0].map(|to: u32| send(&engines[1 - to as usize], to, tag, &raw));
        for (engine, wire) in engines.iter().rev().zip(&wires) {
            assert_eq!(receive(engine, wire).unwrap(), raw);
        }
        wires[0].len()
    };
    steps.map(step).collect()
}
