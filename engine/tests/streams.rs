//! Messages in chunks: what arrives is what was sent, or an error.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

use mpress::{
    Codec, CodecId, Destination, Engine, FLOOR, HEADER_LEN, Kind, Outgoing, Pieces, Settings, Strategy,
    Stream, Streams, frame_len, selector::Link,
};
use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq, proptest};
use std::mem::MaybeUninit;
use std::ops::Range;
use support::{MARK, fixed, frame, noise, receive, smooth};

/// The time at which a chunk of a tail was sent, which no check covers, as it is written last.
const SENT: Range<usize> = 12..16;

fn new() -> Engine {
    Engine::default().with_mark(MARK)
}

/// The messages that a message becomes, by a strategy that compresses it.
fn send(engine: &Engine, codec: Codec, kind: Kind, raw: &[u8], chunk: usize) -> Vec<Vec<u8>> {
    let strategy = Some(Strategy::Fixed(codec));
    let Some(considered) = engine.consider(strategy, kind, Destination::OtherNode, raw.len()) else {
        return vec![raw.to_vec()];
    };
    match engine.begin(considered, raw, 7, Some(chunk)) {
        Outgoing::Raw => vec![raw.to_vec()],
        Outgoing::Frame(frame) => vec![frame.to_vec()],
        Outgoing::Stream(head, mut tail) => {
            let mut messages = vec![head.to_vec()];
            while let Some(range) = tail.due() {
                messages.push(engine.next_chunk(&mut tail, &raw[range]).unwrap().to_vec());
            }
            assert_eq!(messages.len(), tail.stream().chunks());
            assert!(engine.next_chunk(&mut tail, &[]).is_none(), "there is no more");
            messages
        }
    }
}

/// The stream whose head this is.
fn stream(engine: &Engine, head: &[u8]) -> Option<Stream> {
    engine.is_frame(head).then(|| engine.open(head).unwrap().stream())?
}

/// What a receiver makes of all messages of a stream.
fn reassemble(engine: &Engine, messages: &[Vec<u8>]) -> Result<Vec<u8>, mpress::FrameError> {
    let incoming = engine.open(&messages[0])?;
    let stream = incoming.stream().unwrap();
    let mut raw = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let mut out = vec![MaybeUninit::new(0xee); stream.range(index).len()];
        if index == 0 {
            engine.decode_head(&incoming, &mut out)?;
        } else {
            engine.decode_chunk(&stream, index, message, &mut out)?;
        }
        // SAFETY: initialised when it was made.
        raw.extend(out.into_iter().map(|byte| unsafe { byte.assume_init() }));
    }
    Ok(raw)
}

/// Smooth doubles, with noise in a part of them.
fn message(len: usize, rough: bool) -> Vec<u8> {
    let mut raw = smooth(len);
    if rough {
        raw[len / 3..].copy_from_slice(&noise(len - len / 3));
    }
    raw
}

fn balanced() -> Codec {
    Codec::named("diffpack-balanced").unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_arrives_is_what_was_sent(
        codec in 0..64_usize, kind in 0..7_u8, len in FLOOR..40_000, chunk in 1..1000_usize, rough in any::<bool>(),
    ) {
        let codecs: Vec<_> = Codec::all().collect();
        let (codec, kind) = (codecs[codec % codecs.len()], Kind::from_wire(kind).unwrap());
        let (raw, engine) = (message(len, rough), new());
        let messages = send(&engine, codec, kind, &raw, chunk * 8);
        if let Some(stream) = stream(&engine, &messages[0]) {
            prop_assert_eq!(stream.chunks(), messages.len());
            prop_assert!(messages[0].len() < raw.len());
            prop_assert!(messages[1..].iter().all(|message| message.len() <= stream.longest()));
            prop_assert_eq!(reassemble(&engine, &messages), Ok(raw));
        } else {
            prop_assert_eq!(messages.len(), 1);
            prop_assert_eq!(receive(&engine, &messages[0]), Ok(raw));
        }
    }

    #[test]
    fn damage_is_an_error(at in any::<usize>(), bit in 0..8_u8, cut in any::<bool>()) {
        let (raw, engine) = (message(10_000, true), new());
        let mut messages = send(&engine, balanced(), Kind::F64, &raw, 2048);
        let which = at % messages.len();
        let damaged = &mut messages[which];
        // Damage to the first mark of a head is found by the second, and by what the check covers.
        let place = at / 8 % damaged.len();
        if cut { damaged.truncate(place) } else { damaged[place] ^= 1 << bit }
        let result = reassemble(&engine, &messages);
        if which > 0 && SENT.contains(&place) && !cut {
            prop_assert_eq!(result, Ok(raw));
        } else {
            prop_assert!(result.is_err());
        }
    }

    #[test]
    fn any_head_with_a_right_check_is_harmless(
        payload in proptest::collection::vec(any::<u8>(), 0..3000), raw_len in 0..10_000_usize, codec in 1..21_u8, chunk in 0..400_u32,
    ) {
        let mut payload = payload;
        if payload.len() >= 12 && !payload[0].is_multiple_of(4) {
            payload[..4].copy_from_slice(&[codec, 0, 0, 0]);
            payload[8..12].copy_from_slice(&(chunk * 8).to_le_bytes());
        }
        let head = frame(CodecId::STREAM, raw_len, &payload);
        let engine = new();
        if let Ok(incoming) = engine.open(&head) {
            let stream = incoming.stream().unwrap();
            prop_assert!(stream.chunks() > 1 && stream.raw_len() == raw_len);
            let mut out = vec![MaybeUninit::new(0xee); stream.range(0).len()];
            let _either = engine.decode_head(&incoming, &mut out);
        }
    }
}

#[test]
fn a_long_message_goes_in_chunks_and_gets_shorter() {
    let (raw, engine) = (smooth(1 << 20), new());
    let messages = send(&engine, balanced(), Kind::F64, &raw, 64_512);
    assert_eq!(messages.len(), 17);
    assert!(messages.iter().map(Vec::len).sum::<usize>() < raw.len() / 2);
    assert_eq!(reassemble(&engine, &messages).unwrap(), raw);
    let total: mpress::Line = engine.stats().total();
    assert_eq!((total.messages, total.raw_bytes), (1, raw.len() as u64));
    assert_eq!(total.wire_bytes, messages.iter().map(|message| message.len() as u64).sum::<u64>());
    assert_eq!((total.decoded, total.decoded_bytes), (1, raw.len() as u64));
    let lines: Vec<_> = engine.stats().lines().map(|(_, codec, _)| codec).collect();
    assert_eq!(lines, ["diffpack-balanced"], "received as sent");
}

#[test]
fn a_chunk_that_does_not_shrink_goes_as_it_is() {
    let engine = new();
    let raw = message(300_000, true);
    let messages = send(&engine, balanced(), Kind::F64, &raw, 64_512);
    let stream = stream(&engine, &messages[0]).unwrap();
    assert_eq!(messages[2].len(), stream.longest());
    assert!(messages[1].len() < stream.longest());
    assert_eq!(reassemble(&engine, &messages).unwrap(), raw);
    // In a head, too: a receiver knows its stream, also if it is damaged.
    let mut head = send(&engine, balanced(), Kind::F64, &[noise(64_512), smooth(100_000)].concat(), 64_512);
    head[0][100] ^= 1;
    assert!(engine.open(&head[0]).is_err() && head[0].len() > 64_512);
    assert_eq!(engine.torn(&head[0]).map(|stream| stream.id()), Some(7));
}

#[test]
fn incompressible_and_short_messages_make_no_stream() {
    let engine = new();
    assert_eq!(send(&engine, balanced(), Kind::F64, &noise(300_000), 64_512), [noise(300_000)]);
    for chunk in [0, 12, 2048, 4096, (1 << 20) + 8] {
        let messages = send(&engine, balanced(), Kind::F64, &smooth(2048), chunk);
        assert_eq!(messages.len(), 1);
        assert_eq!(receive(&engine, &messages[0]).unwrap(), smooth(2048));
    }
}

#[test]
fn a_head_is_no_whole_message() {
    let engine = fixed();
    let messages = send(&engine, balanced(), Kind::F64, &smooth(10_000), 2048);
    let head = engine.open(&messages[0]).unwrap();
    assert_eq!(head.raw_len(), 10_000);
    for len in [2048, 10_000] {
        assert!(engine.decode(&head, &mut vec![MaybeUninit::uninit(); len]).is_err());
    }
    for len in [0, 2047, 2049, 10_000] {
        assert!(engine.decode_head(&head, &mut vec![MaybeUninit::uninit(); len]).is_err());
    }
    let whole = send(&engine, balanced(), Kind::F64, &smooth(10_000), 1 << 20);
    let whole = engine.open(&whole[0]).unwrap();
    assert!(whole.stream().is_none());
    assert!(engine.decode_head(&whole, &mut vec![MaybeUninit::uninit(); 10_000]).is_err());
}

#[test]
fn chunks_are_taken_in_their_order_from_their_stream() {
    let engine = fixed();
    let raw = smooth(10_000);
    let messages = send(&engine, balanced(), Kind::F64, &raw, 2048);
    let stream = stream(&engine, &messages[0]).unwrap();
    let mut out = vec![MaybeUninit::uninit(); 2048];
    assert!(engine.decode_chunk(&stream, 1, &messages[2], &mut out).is_err());
    assert!(engine.decode_chunk(&stream, 0, &messages[1], &mut out).is_err());
    assert!(engine.decode_chunk(&stream, 5, &messages[4], &mut out).is_err(), "there is none");
    assert!(engine.decode_chunk(&stream, usize::MAX, &messages[1], &mut []).is_err());
    assert!(engine.decode_chunk(&stream, 1, &messages[1], &mut out).is_ok());
    let other = engine.with_mark(mpress::Mark(*b"another."));
    assert!(other.decode_chunk(&stream, 1, &messages[1], &mut out).is_err());
}

#[test]
fn a_stream_within_blocks_or_a_stream_is_refused() {
    let engine = new();
    for (outer, payload) in [
        (CodecId::BLOCKS, [&[22_u8, 0, 0, 0, 1, 0, 0, 0][..], &[0; 1]].concat()),
        (CodecId::STREAM, [&[22_u8, 0, 0, 0, 1, 0, 0, 0, 0, 8, 0, 0][..], &[0; 1]].concat()),
        (CodecId::STREAM, [&[21_u8, 0, 0, 0, 1, 0, 0, 0, 0, 8, 0, 0][..], &[0; 1]].concat()),
    ] {
        let head = frame(outer, 5000, &payload);
        assert!(head.len() == frame_len(payload.len()) && head.len() > HEADER_LEN);
        assert!(receive(&engine, &head).is_err());
    }
}

/// A message of which parts are produced on demand.
struct Parts<'a>(&'a [u8]);

impl Pieces for Parts<'_> {
    fn fill(&self, range: Range<usize>, out: &mut [u8]) -> bool {
        self.0.get(range).map(|part| out.copy_from_slice(part)).is_some()
    }
}

/// What an engine makes of a long message on a link of this bandwidth, whole and from pieces: the length of chunks, or 0 for one frame.
fn way(streams: Streams, mb_s: f64) -> [usize; 2] {
    let settings = Settings { streams, ..Settings::default() };
    let engine = new().with_streams(&settings);
    engine.set_link(Link { latency_us: 10.0, bandwidth_mb_s: mb_s });
    let raw = message(1 << 20, true);
    [false, true].map(|is_whole| {
        let strategy = Some(Strategy::Fixed(balanced()));
        let considered = engine.consider(strategy, Kind::F64, Destination::OtherNode, raw.len()).unwrap();
        let outgoing = match is_whole {
            true => engine.begin(considered, &raw, 7, None),
            false => engine.begin_pieces(considered, &Parts(&raw), 7, None).unwrap(),
        };
        match outgoing {
            Outgoing::Raw => panic!("not compressed"),
            Outgoing::Frame(frame) => {
                assert_eq!(receive(&engine, &frame), Ok(raw.clone()));
                0
            }
            Outgoing::Stream(head, mut tail) => {
                let chunk = tail.stream().range(0).len();
                let mut messages = vec![head.to_vec()];
                while let Some(range) = tail.due() {
                    let next = match is_whole {
                        true => engine.next_chunk(&mut tail, &raw[range]),
                        false => engine.next_piece(&mut tail, &Parts(&raw)),
                    };
                    messages.push(next.unwrap().to_vec());
                }
                assert_eq!(reassemble(&engine, &messages), Ok(raw.clone()));
                chunk
            }
        }
    })
}

#[test]
fn long_messages_go_the_faster_way() {
    let [slow, pieces] = way(Streams::Auto, 100.0);
    assert!(slow == pieces && (1..=63 << 10).contains(&slow), "{slow} {pieces}");
    assert_eq!(way(Streams::Auto, 20_000.0), [0, 0], "one frame");
    assert_eq!(way(Streams::Off, 100.0), [0, 0]);
    assert_eq!(way(Streams::From(4096), 20_000.0), [63 << 10; 2], "as the settings say");
}
