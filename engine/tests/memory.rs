//! Messages that refer to earlier ones: what arrives is what was sent, in whatever order frames are decoded, and whatever is lost.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

use mpress::{
    Channel, CodecId, Destination, Engine, FrameError, Kind, Knowledge, Outgoing, SHORTEST, Settings,
};
use proptest::prelude::{ProptestConfig, any, prop, prop_assert, prop_assert_eq, proptest};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::mpsc;
use support::{MARK, frame, receive, sealed};

/// Raw bytes of a chunk of a long message.
const CHUNK: usize = 2048;

fn engine(strategy: &str, rank: u32, memory: usize) -> Engine {
    let strategy = strategy.parse().unwrap();
    let settings = Settings { strategy, memory, clock: false, ..Settings::default() };
    Engine::new(&settings, &Knowledge::default(), None).with_mark(MARK).with_memory(&settings, rank, 2)
}

fn pair(memory: usize) -> [Engine; 2] {
    [0, 1].map(|rank| engine("fixed:diffpack-fast", rank, memory))
}

fn mixed(i: u64) -> u64 {
    let x = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// A field of doubles between 1 and 2 that no predictor finds, of which each value changes a little with each step.
fn field(tag: i32, step: u64, len: usize) -> Vec<u8> {
    let value = |i: u64| {
        let word = mixed(i + (u64::from(tag.unsigned_abs()) << 32));
        (0x3ff << 52) | ((word >> 12) + step * (word & 0x3f)) & ((1 << 52) - 1)
    };
    (0..len.div_ceil(8) as u64).flat_map(|i| value(i).to_le_bytes()).take(len).collect()
}

/// What is sent of a message to the other one of two processes.
fn send(engine: &Engine, peer: u32, tag: i32, raw: &[u8]) -> Vec<u8> {
    let considered = engine.consider(None, Kind::F64, Destination::OtherNode, raw.len()).unwrap();
    let frame = engine.encode_considered(considered.on(Channel { peer, context: 0, tag }), raw);
    frame.map_or(raw.to_vec(), |frame| frame.to_vec())
}

/// The same in chunks, if it is long.
fn send_long(engine: &Engine, peer: u32, tag: i32, raw: &[u8]) -> Vec<Vec<u8>> {
    let considered = engine.consider(None, Kind::F64, Destination::OtherNode, raw.len()).unwrap();
    match engine.begin(considered.on(Channel { peer, context: 0, tag }), raw, 7, CHUNK) {
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
fn receive_long(engine: &Engine, wires: &[Vec<u8>], parts: usize) -> Result<Vec<u8>, FrameError> {
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
fn note(frame: &[u8]) -> Range<usize> {
    let both = usize::from(u16::from_le_bytes([frame[30], frame[31]]));
    let end = frame.len() - both % 1024;
    end - both / 1024..end
}

/// The same frame with this note.
fn noted(frame: &[u8], bytes: &[u8]) -> Vec<u8> {
    let mut frame = [&frame[..note(frame).start], bytes].concat();
    let len = (frame.len().max(SHORTEST)..).find(|len| len % 8 == 5).unwrap();
    let both = len - frame.len() + 1024 * bytes.len();
    frame[30..32].copy_from_slice(&u16::try_from(both).unwrap().to_le_bytes());
    frame.resize(len, 0);
    sealed(&frame)
}

/// Whether this is a frame that refers to an earlier message: the third number of its note says to which.
fn refers(wire: &[u8]) -> bool {
    let third =
        |note: &[u8]| note.split_inclusive(|byte| *byte < 0x80).nth(2).is_some_and(|back| *back != [0]);
    wire.starts_with(&MARK.0) && third(&wire[note(wire)])
}

/// The lengths of the frames of a process that exchanges a message of this channel with another one in each of some steps.
fn exchange(engines: &[Engine; 2], tag: i32, len: usize, steps: std::ops::Range<u64>) -> Vec<usize> {
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

#[test]
fn a_step_later_frames_are_shorter() {
    let lens = exchange(&pair(1 << 20), 3, 8000, 0..20);
    // The first is not kept, the second is, the third says so.
    assert!(lens[..3].iter().all(|len| *len > 6000) && lens[3..].iter().all(|len| *len < 2500), "{lens:?}");
}

#[test]
fn a_note_is_short() {
    let engines = pair(1 << 20);
    for step in 0..300 {
        let raw = field(0, step, 8000);
        let wires = [1, 0].map(|to: u32| send(&engines[1 - to as usize], to, 0, &raw));
        assert!(wires.iter().all(|wire| note(wire).len() <= 10), "step {step}");
        for (engine, wire) in engines.iter().rev().zip(&wires) {
            assert_eq!(receive(engine, wire).unwrap(), raw);
        }
    }
}

#[test]
fn the_adaptive_strategy_refers_where_that_gains() {
    let engines = [0, 1].map(|rank| engine("adaptive", rank, 1 << 20));
    let lens = exchange(&engines, 0, 80_000, 0..300);
    assert!(lens[250..].iter().filter(|len| **len < 25_000).count() > 40, "{lens:?}");
}

#[test]
fn nothing_refers_to_what_nobody_has_said_to_keep() {
    for memory in [0, 1 << 20] {
        let engines = [engine("fixed:diffpack-fast", 0, 1 << 20), engine("fixed:diffpack-fast", 1, memory)];
        for step in 0..200 {
            let raw = field(0, step, 5000);
            let wire = send(&engines[0], 1, 0, &raw);
            assert!(!refers(&wire));
            assert_eq!(receive(&engines[1], &wire).unwrap(), raw);
            if memory == 0 {
                let back = send(&engines[1], 0, 0, &raw);
                assert_eq!(receive(&engines[0], &back).unwrap(), raw);
            }
        }
        assert!(engines[0].kept_bytes()[0] <= 4 * 5000 * 5 / 4);
    }
}

#[test]
fn a_reference_that_is_not_there_is_an_error() {
    let engines = pair(1 << 20);
    exchange(&engines, 0, 8000, 0..12);
    let raw = field(0, 12, 8000);
    let wire = send(&engines[0], 1, 0, &raw);
    assert!(refers(&wire));
    for other in [engine("off", 1, 1 << 20), engine("off", 1, 0)] {
        assert!(matches!(receive(&other, &wire), Err(FrameError::Reference(number)) if number > 0));
    }
    let [from, number, back, ref rest @ ..] = wire[note(&wire)] else { panic!("no reference") };
    let changed = |first: &[u8]| receive(&engines[1], &noted(&wire, &[first, rest].concat())).err().unwrap();
    assert_eq!(changed(&[from, number, number - 1]), FrameError::Reference(1));
    for first in [
        &[from, number, number][..],
        &[from, number, 90],
        &[2, number, back],
        &[from, 1, back],
        &[from, 0xff, 0xff, 0xff, 0xff, 0x0f, back], // 2^32 - 1
    ] {
        assert!(matches!(changed(first), FrameError::Damaged(_)), "{first:?}");
    }
    assert_eq!(receive(&engines[1], &wire).unwrap(), raw, "after all that");
}

#[test]
fn what_is_kept_has_a_bound() {
    let (most, len) = (128 << 10, 4000);
    let engines = pair(most);
    let mut referring = 0;
    for step in 0..400 {
        // More channels than there is room for, some of which are used more often.
        for tag in (0..20).filter(|tag| *tag < 3 || step % 10 == u64::try_from(*tag).unwrap() % 10) {
            let raw = field(tag, step, len);
            let wires = [1, 0].map(|to: u32| send(&engines[1 - to as usize], to, tag, &raw));
            referring += wires.iter().filter(|wire| refers(wire)).count();
            for (engine, wire) in engines.iter().rev().zip(&wires) {
                assert_eq!(receive(engine, wire).unwrap(), raw);
                assert!(engine.kept_bytes().into_iter().all(|bytes| bytes <= most / 2));
            }
        }
    }
    assert!(referring > 1000, "{referring}");
    // Channels that are no longer used make room.
    let referring = |steps: std::ops::Range<u64>| exchange(&engines, 100, 3000, steps).pop().unwrap() < 1500;
    assert!(!referring(0..10) && referring(10..5000));
}

#[test]
fn new_tags_for_all_messages_keep_nothing() {
    let engines = pair(1 << 20);
    for step in 0..10_000 {
        exchange(&engines, step, 1100, 0..1);
    }
    assert_eq!(engines[0].kept_bytes(), [0; 2]);
}

#[test]
fn a_refused_message_is_not_waited_for() {
    let engines = pair(1 << 20);
    exchange(&engines, 0, 8000, 0..5);
    for step in 5..300 {
        let wire = send(&engines[0], 1, 0, &field(0, step, 8000));
        engines[1].refuse(&engines[1].open(&wire).unwrap());
        receive(&engines[0], &send(&engines[1], 0, 0, &field(0, step, 8000))).unwrap();
    }
    let lens = exchange(&engines, 0, 8000, 300..310);
    assert!(lens[6..].iter().all(|len| *len < 2500), "{lens:?}");
}

/// Messages that refer to others, of `steps` exchanged ones of this channel.
fn referring(engines: &[Engine; 2], tag: i32, steps: std::ops::Range<u64>) -> usize {
    exchange(engines, tag, 8000, steps).into_iter().filter(|len| *len < 4000).count()
}

#[test]
fn late_and_lost_messages_stop_nothing() {
    let engines = pair(1 << 20);
    exchange(&engines, 0, 8000, 0..5);
    let mut late = Vec::new();
    for step in 5..400 {
        if step % 4 == 0 {
            // One in two of these is received after more than 64 others, the others never.
            late.push((step, send(&engines[0], 1, 0, &field(0, step, 8000))));
        }
        if step % 80 == 0 {
            for (step, wire) in late.drain(..).step_by(2) {
                assert_eq!(receive(&engines[1], &wire).unwrap(), field(0, step, 8000));
            }
        }
        exchange(&engines, 0, 8000, step..step + 1);
        exchange(&engines, 1, 8000, step..step + 1);
    }
    assert!(referring(&engines, 1, 400..410) > 5);
    // What is released by a lost frame stays.
    let lost = pair(64 << 20);
    exchange(&lost, 0, 8000, 0..5);
    for step in (5..1500).step_by(10) {
        // Also what a frame says of others is lost with it.
        for from in [0, 1] {
            send(&lost[from], 1 - from as u32, 0, &field(0, step, 8000));
        }
        assert!(referring(&lost, 0, step + 1..step + 10) > 3, "step {step}");
    }
}

#[test]
fn a_channel_without_answers_leaves_its_room_to_others() {
    for strategy in ["fixed:diffpack-fast", "adaptive"] {
        let engines = [0, 1].map(|rank| engine(strategy, rank, 1 << 20));
        let mut referring = 0;
        for step in 0..1500 {
            // Takes all the room, and no frame goes back.
            let raw = field(7, step, 120_000);
            let considered = engines[0].consider(None, Kind::F64, Destination::OtherNode, raw.len()).unwrap();
            engines[0].encode_considered(considered.on(Channel { peer: 1, context: 0, tag: 7 }), &raw);
            if step >= 500 {
                let len = exchange(&engines, 0, 80_000, step..step + 1)[0];
                referring += usize::from(len < 25_000);
            }
        }
        assert!(referring > 300, "{strategy}: {referring}");
    }
}

#[test]
fn the_length_in_a_frame_takes_no_memory() {
    let engines = pair(1 << 20);
    let payload = [&[3, 0, 0, 0, 9, 0, 0, 0, 0, 0, 16, 0][..], &[0; 1000]].concat();
    // From rank 0, its message 1, which refers to none, and none has come the other way.
    let head = noted(&frame(CodecId::STREAM, 1 << 40, &payload), &[0, 1, 0, 1]);
    let incoming = engines[1].open(&head).unwrap();
    let mut out = vec![MaybeUninit::uninit(); incoming.stream().unwrap().range(0).len()];
    let _ = engines[1].decode_head(&incoming, &mut out);
    engines[1].refuse(&incoming);
    assert_eq!(engines[1].kept_bytes(), [0; 2]);
}

#[test]
fn what_came_in_part_or_twice_is_not_kept() {
    let engines = pair(1 << 20);
    for step in 0..8 {
        let raw = field(1, step, 9000);
        let wires = [1, 0].map(|to: u32| send_long(&engines[1 - to as usize], to, 1, &raw));
        let [ref there, ref back] = wires;
        let head = engines[1].open(&there[0]).unwrap();
        let stream = head.stream().unwrap();
        let mut out = [MaybeUninit::uninit(); CHUNK];
        // The head again, and chunks that are missing.
        for _ in 0..1 + step % 2 {
            let _ = engines[1].decode_head(&head, &mut out);
        }
        let last = there.len() - 1;
        let _ = engines[1].decode_chunk(&stream, last, &there[last], &mut out[..stream.range(last).len()]);
        assert_eq!(receive_long(&engines[0], back, usize::MAX).unwrap(), raw);
    }
    assert_eq!(engines[1].kept_bytes()[1], 0);
    let raw = field(1, 9, 9000);
    let wires = send_long(&engines[0], 1, 1, &raw);
    assert_eq!(receive_long(&engines[1], &wires, usize::MAX).unwrap(), raw);
}

#[test]
fn chunks_refer_to_those_at_their_place() {
    let engines = pair(1 << 20);
    for step in 0..20 {
        let raw = field(1, step, 20_001);
        let wires = [1, 0].map(|to: u32| send_long(&engines[1 - to as usize], to, 1, &raw));
        for (engine, wires) in engines.iter().rev().zip(&wires) {
            assert_eq!(receive_long(engine, wires, usize::MAX).unwrap(), raw);
        }
        let len: usize = wires[0].iter().map(Vec::len).sum();
        assert!(step < 3 && len > 15_000 || step >= 3 && len < 7000, "{len} bytes in step {step}");
    }
}

#[test]
fn threads_share_a_memory() {
    let engines = pair(256 << 10);
    std::thread::scope(|scope| {
        for tag in 0..4 {
            let engines = &engines;
            let ((to_b, at_b), (to_a, at_a)) = (mpsc::channel::<Vec<u8>>(), mpsc::channel::<Vec<u8>>());
            for (me, to, from) in [(0, to_b, at_a), (1, to_a, at_b)] {
                scope.spawn(move || {
                    for step in 0..300 {
                        let raw = field(tag, step, 6000);
                        to.send(send(&engines[me], 1 - me as u32, tag, &raw)).unwrap();
                        assert_eq!(receive(&engines[me], &from.recv().unwrap()).unwrap(), raw);
                    }
                });
            }
        }
    });
}

/// Steps of a schedule of two processes: which one, of which channel, and what happens to a frame.
#[derive(Clone, Copy, Debug)]
enum Step {
    Send,
    Receive,
    Lose,
    Refuse,
}

fn step(number: u8) -> Step {
    match number {
        0..=9 => Step::Send,
        10..=30 => Step::Receive,
        31 => Step::Lose,
        _ => Step::Refuse,
    }
}

/// Runs a schedule; returns how many of the messages referred to others.
fn run(engines: &[Engine; 2], steps: impl IntoIterator<Item = (u8, bool, i32, usize)>) -> usize {
    type Sent = Vec<(Vec<u8>, Vec<Vec<u8>>)>;
    let mut under_way: [Sent; 2] = Default::default();
    let (mut now, mut referring) = (0, 0);
    for (what, side, tag, any) in steps {
        let (me, peer) = (usize::from(side), u32::from(!side));
        now += 1;
        let from = &mut under_way[1 - me];
        match step(what) {
            Step::Send => {
                let raw = field(tag, now, [1500, 1501, 4096, 9000][any % 4]);
                let wires = match raw.len() {
                    9000 => send_long(&engines[me], peer, tag, &raw),
                    _ => vec![send(&engines[me], peer, tag, &raw)],
                };
                referring += usize::from(refers(&wires[0]));
                under_way[me].push((raw, wires));
            }
            _ if from.is_empty() => {}
            what => {
                // Most often the oldest one.
                let at = if any % 4 > 0 { 0 } else { any % from.len() };
                let (raw, wires) = from.remove(at);
                match what {
                    Step::Receive => {
                        assert_eq!(receive_long(&engines[me], &wires, usize::MAX).unwrap(), raw);
                    }
                    Step::Refuse if wires.len() > 1 => {
                        receive_long(&engines[me], &wires, any % wires.len()).unwrap();
                    }
                    Step::Refuse => engines[me].refuse(&engines[me].open(&wires[0]).unwrap()),
                    Step::Lose | Step::Send => {}
                }
            }
        }
    }
    referring
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 2 } else { 400 }, ..ProptestConfig::default() })]

    #[test]
    fn schedules_of_any_kind(
        steps in prop::collection::vec((0_u8..33, any::<bool>(), 0_i32..4, any::<usize>()), 0..400),
        memory in 1024_usize..100_000,
    ) {
        let engines = pair(memory);
        run(&engines, steps);
        prop_assert!(engines.iter().all(|engine| engine.kept_bytes().into_iter().all(|b| b <= memory / 2)));
    }

    #[test]
    fn schedules_without_losses_refer(
        steps in prop::collection::vec((0_u8..31, any::<bool>(), 0_i32..2, any::<usize>()), 2000..2001),
    ) {
        prop_assert!(run(&pair(1 << 20), steps) > 50);
    }

    #[test]
    fn notes_of_any_bytes_give_an_error_or_the_message(
        changes in prop::collection::vec((0_usize..20, any::<u8>()), 0..6),
        long in any::<bool>(),
    ) {
        let engines = pair(1 << 20);
        exchange(&engines, 0, 3000, 0..4);
        let raw = field(0, 4, 3000);
        let wire = send(&engines[0], 1, 0, &raw);
        let mut bytes = wire[note(&wire)].to_vec();
        for (at, byte) in changes {
            let byte = if long { byte } else { byte % 8 };
            match bytes.get_mut(at) {
                Some(old) => *old = byte,
                None => bytes.push(byte),
            }
        }
        // What it refers to may be another one that is here.
        if let Ok(message) = receive(&engines[1], &noted(&wire, &bytes)) {
            prop_assert_eq!(message.len(), raw.len());
        }
        let raw = field(0, 5, 3000);
        let _ = receive(&engines[1], &send(&engines[0], 1, 0, &raw));
        let back = send(&engines[1], 0, 0, &raw);
        prop_assert_eq!(receive(&engines[0], &back).unwrap(), raw);
    }
}
