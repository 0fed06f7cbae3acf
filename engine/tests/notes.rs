//! Notes of frames: how long they are, and what is refused.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

use mpress::{CodecId, FrameError};
use proptest::prelude::{ProptestConfig, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest};
use proptest::strategy::Strategy;
use std::mem::MaybeUninit;
use support::channel::{engine, exchange, field, note, noted, pair, refers, send};
use support::{frame, noise, receive};

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
fn news_without_room_keep_no_message_from_its_frame() {
    let (engines, plain) = (pair(1 << 20), engine("fixed:diffpack-fast", 0, 0));
    let (mut tight, mut roomy) = (0, 0);
    for at in 0..60 {
        // So that there is news for the other process.
        exchange(&engines, 0, 8000, at..at + 1);
        let compressible = field(1, 0, 16 * at as usize);
        let raw = [noise(1040 - compressible.len()), compressible].concat();
        let [with, without] = [&engines[0], &plain].map(|engine| send(engine, 1, 1 + at as i32, &raw));
        assert_eq!(with.len() < raw.len(), without.len() < raw.len(), "{at}");
        if with.len() < raw.len() {
            *if note(&with).is_empty() { &mut tight } else { &mut roomy } += 1;
        }
        assert_eq!(receive(&engines[1], &with).unwrap(), raw);
    }
    assert!(tight > 0 && roomy > 0, "{tight} {roomy}");
}

/// Other numbers at some places of a note, or other bytes.
#[derive(Clone, Debug)]
enum Change {
    Numbers(Vec<Option<u64>>),
    Bytes(Vec<(usize, u8)>),
}

fn any_change() -> impl Strategy<Value = Change> {
    let number = prop_oneof![4 => 0..8_u64, 1 => any::<u32>().prop_map(u64::from), 1 => any::<u64>()];
    let numbers = prop::collection::vec(prop::option::weighted(0.3, number), 8);
    let bytes = prop::collection::vec((0..20_usize, any::<u8>()), 0..6);
    prop_oneof![3 => numbers.prop_map(Change::Numbers), 1 => bytes.prop_map(Change::Bytes)]
}

/// The numbers of a note; 0 for those that are omitted.
fn numbers(note: &[u8]) -> Vec<u64> {
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |sum, byte| sum << 7 | u64::from(byte & 0x7f));
    let mut all: Vec<_> = note.split_inclusive(|byte| *byte < 0x80).map(number).collect();
    all.resize(8, 0);
    all
}

/// A note of these numbers, of which as many bytes are left as a frame may have.
fn encoded(numbers: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for mut number in numbers.iter().copied() {
        while number > 0x7f {
            bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        bytes.push(number as u8);
    }
    bytes.truncate(63);
    bytes
}

fn reference(numbers: &[u64]) -> Option<u64> {
    numbers[1].checked_sub(numbers[2]).filter(|_| numbers[2] > 0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 2 } else { 400 }, ..ProptestConfig::default() })]

    #[test]
    fn any_note_gives_an_error_or_a_message_with_its_reference(change in any_change()) {
        let engines = pair(1 << 20);
        exchange(&engines, 0, 3000, 0..4);
        let raw = field(0, 4, 3000);
        let wire = send(&engines[0], 1, 0, &raw);
        let mut bytes = wire[note(&wire)].to_vec();
        let before = numbers(&bytes);
        match change {
            Change::Numbers(changes) => {
                let all = before.iter().zip(changes).map(|(old, new)| new.unwrap_or(*old));
                bytes = encoded(&all.collect::<Vec<_>>());
            }
            Change::Bytes(changes) => {
                for (at, byte) in changes {
                    match bytes.get_mut(at) {
                        Some(old) => *old = byte,
                        None => bytes.push(byte),
                    }
                }
            }
        }
        let after = numbers(&bytes);
        if let Ok(message) = receive(&engines[1], &noted(&wire, &bytes)) {
            // What it refers to may be another one that is here.
            prop_assert!(reference(&after).is_some(), "{after:?}");
            prop_assert!(message == raw || reference(&after) != reference(&before), "{after:?}");
        }
        let raw = field(0, 5, 3000);
        if let Ok(message) = receive(&engines[1], &send(&engines[0], 1, 0, &raw)) {
            prop_assert_eq!(&message, &raw);
        }
        let back = send(&engines[1], 0, 0, &raw);
        prop_assert_eq!(receive(&engines[0], &back).unwrap(), raw);
    }
}
