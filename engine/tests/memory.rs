//! Messages that refer to earlier ones: what arrives is what was sent, in whatever order frames are decoded, and whatever is lost.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

use mpress::{Channel, Destination, Engine, Kind, Outgoing, Pieces};
use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::mpsc;
use support::channel::{CHUNK, engine, exchange, field, pair, receive_long, refers, send, send_long};
use support::receive;

#[test]
fn a_step_later_frames_are_shorter() {
    let lens = exchange(&pair(1 << 20), 3, 8000, 0..20);
    // The first is not kept, the second is, the third says so.
    assert!(lens[..3].iter().all(|len| *len > 6000) && lens[3..].iter().all(|len| *len < 2500), "{lens:?}");
}

#[test]
fn the_adaptive_strategy_refers() {
    let engines = [0, 1].map(|rank| engine("adaptive", rank, 1 << 20));
    let lens = exchange(&engines, 0, 80_000, 0..300);
    assert!(lens[250..].iter().all(|len| *len < 25_000), "{lens:?}");
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
    assert!(referring > 2400, "{referring}");
    // Channels that are no longer used make room.
    let referring = |steps: std::ops::Range<u64>| exchange(&engines, 100, 3000, steps).pop().unwrap() < 1500;
    assert!(!referring(0..10) && referring(10..5000));
}

#[test]
fn frames_that_cannot_get_shorter_refer_seldom() {
    for (len, some) in [(1060, 100..200), (4000, 990..1000)] {
        let engines = pair(1 << 20);
        let mut referring = 0;
        for step in 0..1000 {
            let raw = field(0, step, len);
            let wires = [1, 0].map(|to: u32| send(&engines[1 - to as usize], to, 0, &raw));
            referring += usize::from(refers(&wires[0]));
            for (engine, wire) in engines.iter().rev().zip(&wires) {
                assert!(wire.len() < len);
                assert_eq!(receive(engine, wire).unwrap(), raw);
            }
        }
        assert!(some.contains(&referring), "{len} bytes: {referring}");
    }
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
    assert_eq!(referring(&engines, 1, 400..410), 10);
    // What is released by a lost frame stays.
    let lost = pair(64 << 20);
    exchange(&lost, 0, 8000, 0..5);
    for step in (5..1500).step_by(10) {
        // Also what a frame says of others is lost with it.
        for from in [0, 1] {
            send(&lost[from], 1 - from as u32, 0, &field(0, step, 8000));
        }
        assert_eq!(referring(&lost, 0, step + 1..step + 10), 9, "step {step}");
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
        assert!(referring > 900, "{strategy}: {referring}");
    }
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

/// A message, and the number of its bytes that were read.
struct Read<'a>(&'a [u8], Cell<usize>);

impl Pieces for Read<'_> {
    fn fill(&self, range: Range<usize>, out: &mut [u8]) -> bool {
        self.1.set(self.1.get() + out.len());
        out.copy_from_slice(&self.0[range]);
        true
    }
}

#[test]
fn only_what_is_kept_is_copied() {
    let len = 40_000;
    for gains in [true, false] {
        let (engines, mut read) = (pair(1 << 20), Vec::new());
        for step in 0..7 {
            let raw = if gains { field(0, step, len) } else { field(step as i32, 0, len) };
            for (me, to) in [(0, 1), (1, 0)] {
                let (engine, pieces) = (&engines[me], Read(&raw, Cell::new(0)));
                let considered = engine.consider(None, Kind::F64, Destination::OtherNode, len).unwrap();
                let considered = considered.on(Channel { peer: to, context: 0, tag: 0 });
                let Ok(Outgoing::Stream(head, mut tail)) =
                    engine.begin_pieces(considered, &pieces, 7, Some(CHUNK))
                else {
                    panic!("no stream in step {step}")
                };
                read.push(pieces.1.get());
                let mut wires = vec![head.to_vec()];
                while tail.due().is_some() {
                    wires.push(engine.next_piece(&mut tail, &pieces).unwrap().to_vec());
                }
                assert_eq!(receive_long(&engines[1 - me], &wires, usize::MAX).unwrap(), raw);
            }
        }
        // The first chunk of each, and a copy of those that are kept. The answer to the second one comes before the third; four say whether to go on.
        let rest = if gains { len } else { 0 };
        let expected = [0, len, len, len, len, len, rest].map(|copied| CHUNK + copied);
        assert_eq!(read.into_iter().step_by(2).collect::<Vec<_>>(), expected);
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
