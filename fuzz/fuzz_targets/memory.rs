//! Two processes exchange messages of a few channels that refer to earlier ones. Messages come in any order, some are lost or refused, and frames are
//! changed and given a check that holds. Without a changed frame, each message arrives as it was sent; with one, others may be refused or differ.
//! What is kept never exceeds its bound.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mpress::{
    Channel, Destination, Engine, FrameError, HEADER_LEN, Kind, Knowledge, Outgoing, Settings, Stream, Tail,
};
use mpress_fuzz::seal;
use std::mem::MaybeUninit;

/// The lengths of messages in bytes, the last of which is sent in chunks of this length.
const LENGTHS: [usize; 4] = [1500, 1501, 4096, 9000];
const CHUNK: usize = 4096;

/// A message under way.
struct Message {
    raw: Vec<u8>,
    /// The message itself, its frame, or the head of its stream.
    wire: Vec<u8>,
    /// The chunks after that head; each is encoded when it is received.
    tail: Option<Box<Tail>>,
    is_changed: bool,
    /// What has come of it: at first its wire, which is all of a raw message. The stream, once its head has come.
    came: Vec<u8>,
    stream: Option<Stream>,
}

impl Message {
    fn send(engine: &Engine, peer: u32, what: u8, step: u64) -> Self {
        let (tag, len) = (i32::from(what % 4), LENGTHS[usize::from(what / 4) % LENGTHS.len()]);
        let raw = field(tag, step, len);
        let considered = engine.consider(None, Kind::F64, Destination::OtherNode, len).expect("a strategy");
        let considered = considered.on(Channel { peer, context: 0, tag });
        let (wire, tail) = match engine.begin(considered, &raw, step as u32, Some(CHUNK)) {
            Outgoing::Raw => (raw.clone(), None),
            Outgoing::Frame(frame) => (frame.to_vec(), None),
            Outgoing::Stream(head, tail) => (head.to_vec(), Some(tail)),
        };
        let came = wire.clone();
        Self { raw, wire, tail, is_changed: false, came, stream: None }
    }

    /// Receives the next part of it, and returns whether that was the last one.
    fn receive(&mut self, [from, to]: [&Engine; 2]) -> Result<bool, FrameError> {
        if let Some((tail, stream)) = self.tail.as_mut().zip(self.stream) {
            let index = self.came.len().div_ceil(stream.range(0).len());
            let chunk = tail.due().and_then(|due| from.next_chunk(tail, &self.raw[due])).expect("a chunk");
            let decode = |out: &mut _| to.decode_chunk(&stream, index, &chunk, out);
            self.came.extend(filled(stream.range(index).len(), decode)?);
            return Ok(tail.due().is_none());
        }
        if !to.is_frame(&self.wire) {
            return Ok(true);
        }
        let incoming = to.open(&self.wire)?;
        self.stream = incoming.stream();
        self.came = match self.stream {
            Some(stream) => filled(stream.range(0).len(), |out| to.decode_head(&incoming, out))?,
            None => filled(incoming.raw_len(), |out| to.decode(&incoming, out))?,
        };
        Ok(self.stream.is_none())
    }

    /// Refuses it, or the rest of its stream.
    fn refuse(&self, to: &Engine) {
        _ = to.open(&self.wire).map(|incoming| to.refuse(&incoming));
    }

    /// Changes bytes of its frame, counted from its note or from its payload, and the length of its note, before it is received.
    fn change(&mut self, at: usize, of_note: bool, [length, bytes @ ..]: [u8; 4]) {
        if self.wire.len() < self.raw.len() && self.stream.is_none() {
            let before = self.wire.clone();
            // See the format of frames.
            let (end, after) = (u16::from_le_bytes([before[30], before[31]]), before.len() - HEADER_LEN);
            let note = after.saturating_sub(usize::from(end % 1024 + end / 1024));
            let at = HEADER_LEN + (at + if of_note { note } else { 0 }) % after;
            self.wire[31] ^= length << 2;
            self.wire[at..].iter_mut().zip(bytes).for_each(|(byte, other)| *byte ^= other);
            seal(&mut self.wire);
            self.is_changed |= self.wire != before;
        }
    }
}

/// The result of a decoder that fills this number of bytes.
fn filled(
    len: usize,
    decode: impl FnOnce(&mut [MaybeUninit<u8>]) -> Result<(), FrameError>,
) -> Result<Vec<u8>, FrameError> {
    let mut out = vec![MaybeUninit::new(0); len];
    decode(&mut out)?;
    // SAFETY: initialised at its creation.
    Ok(out.into_iter().map(|byte| unsafe { byte.assume_init() }).collect())
}

/// Doubles between 1 and 2 that no predictor finds, each of which changes a little with each step.
fn field(tag: i32, step: u64, len: usize) -> Vec<u8> {
    let value = |i: u64| {
        let word = (i + 1 + (u64::from(tag.unsigned_abs()) << 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let word = (word ^ word >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (0x3ff << 52) | ((word >> 12) + step * (word & 0x3f)) & ((1 << 52) - 1)
    };
    (0..len.div_ceil(8) as u64).flat_map(|i| value(i).to_le_bytes()).take(len).collect()
}

fuzz_target!(|data: &[u8]| {
    let Some((sizes, mut rest)) = data.split_first_chunk::<2>() else { return };
    let most = sizes.map(|size| usize::from(size) << 9);
    let strategy = "fixed:diffpack-fast".parse().expect("a strategy");
    let settings = most.map(|memory| Settings { strategy, memory, clock: false, ..Settings::default() });
    let engine = |settings| Engine::new(settings, &Knowledge::default(), None);
    let engines = [0, 1].map(|rank| engine(&settings[rank]).with_memory(&settings[rank], rank as u32, 2));
    let mut under_way: [Vec<Message>; 2] = Default::default();
    let mut is_sound = true;
    for step in 0..400 {
        let Some(([what, with], next)) = rest.split_first_chunk() else { break };
        rest = next;
        let (me, peer) = (usize::from(what & 1), usize::from(!what & 1));
        let (what, queue) = (what >> 1 & 15, &mut under_way[peer]);
        // Most often the oldest message.
        let at = usize::from(with.saturating_sub(0x80)).checked_rem(queue.len()).unwrap_or_default();
        match what {
            0..=5 => under_way[me].push(Message::send(&engines[me], peer as u32, *with, step)),
            _ if queue.is_empty() => {}
            6 => drop(queue.remove(at)),
            7 => {
                let message = queue.remove(at);
                is_sound &= !message.is_changed;
                message.refuse(&engines[me]);
            }
            8 => {
                let Some((&[low, high, ref bytes @ ..], next)) = rest.split_first_chunk::<6>() else { break };
                rest = next;
                let place = usize::from(u16::from_le_bytes([low, high & 0x7f]));
                queue[at].change(place, high >> 7 == 1, *bytes);
            }
            _ => {
                is_sound &= !queue[at].is_changed;
                let part = queue[at].receive([&engines[peer], &engines[me]]);
                assert!(part.is_ok() || !is_sound, "refused for nothing: {part:?}");
                if part != Ok(false) {
                    let message = queue.remove(at);
                    assert!(!is_sound || message.came == message.raw, "not what was sent");
                    // After it has come, this changes nothing.
                    message.refuse(&engines[me]);
                }
            }
        }
        let within = [0, 1].map(|rank| engines[rank].kept_bytes().into_iter().max() <= Some(most[rank] / 2));
        assert!(within == [true; 2], "keeps more than it may");
    }
});
