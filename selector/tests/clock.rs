//! Trials by the clock, through the selector.

#![allow(clippy::unwrap_used, reason = "tests")]

use mpress_codec::Kind;
use mpress_selector::{Behaviour, Choice, Level, Link, Offered, Selector, Speed, Transfer};

const LEN: usize = 100_000;
const LINK: Link = Link { latency_us: 10.0, bandwidth_mb_s: 100.0 };

fn selector() -> Selector {
    let speed = Speed { start_us: 0.2, mb_s: 2000.0, cold_us: 0.0 };
    let known = Behaviour {
        kind: Kind::F64,
        level: Level::Unknown,
        codec: "packer",
        ratio: 2.0,
        encode: speed,
        decode: speed,
    };
    let offered = [Offered { name: "packer", kinds: &[Kind::F64] }];
    Selector::new(&offered, &[known], LINK, Transfer::Serial)
}

/// Sends messages of these kinds in turn for some seconds; messages of doubles are compressed to half. Whatever the estimates, a compressed message
/// takes `factor` times as long as a raw one. Returns the number of compressed messages.
fn run(selector: &mut Selector, kinds: &[Kind], seconds: f64, factor: f64, now_ns: &mut f64) -> usize {
    let message = vec![0x5a_u8; LEN];
    let (end, mut compressed) = (*now_ns + seconds * 1e9, 0);
    for kind in kinds.iter().cycle() {
        if *now_ns >= end {
            break;
        }
        let mut ns = LINK.time_ns(LEN as f64);
        if let Some(admitted) = selector.admit_at(*kind, LEN, *now_ns as u64) {
            let mut decision = selector.weigh(admitted, &message);
            while let Some(probe) = decision.probe() {
                let len = probe.window.len();
                decision = selector.probed(&decision, len / 2, len as f64 / 4.0, &message);
            }
            if let Choice::Encode(_) = decision.choice {
                selector.encoded(&decision, LEN / 2, 50e3);
                ns *= factor;
                compressed += 1;
            }
        }
        *now_ns += ns;
    }
    compressed
}

#[test]
fn messages_that_are_not_read_count_in_both_ways() {
    // No codec is offered for half of the messages. If they counted only in raw epochs, raw messages would seem to be twice as fast.
    let (mut selector, mut now) = (selector(), 0.0);
    let kinds = [Kind::F64, Kind::Int8];
    let of = run(&mut selector, &kinds, 300.0, 0.8, &mut now);
    let rest = run(&mut selector, &kinds, 60.0, 0.8, &mut now);
    assert!(of > 5 * 15 * rest / 16, "{rest} in the last minute, {of} in five");
    let clock = selector.trial_result().unwrap();
    assert!(
        clock.is_conclusive && (clock.speedup - 1.0 / 0.9).abs() < 3.0 * clock.variance.sqrt().max(0.003),
        "{clock:?}"
    );
}

#[test]
fn where_raw_messages_are_faster_the_record_says_raw() {
    let (mut selector, mut now) = (selector(), 0.0);
    run(&mut selector, &[Kind::F64], 0.2, 1.2, &mut now);
    let choices = |selector: &Selector| -> Vec<_> {
        selector.tally().most_chosen().map(|(guide, messages)| (guide.choice, messages)).collect()
    };
    let before = choices(&selector);
    assert!(matches!(before[..], [(Choice::Encode(0), _)]), "{before:?}");
    let early = run(&mut selector, &[Kind::F64], 30.0, 1.2, &mut now);
    assert!(early > 0);
    let late = run(&mut selector, &[Kind::F64], 60.0, 1.2, &mut now);
    let all = 60e9 / LINK.time_ns(LEN as f64);
    assert!((late as f64) * 20.0 < all, "compression did not stop: {late} of {all}");
    let after = choices(&selector);
    assert!(matches!(after[..], [(Choice::Raw, messages)] if messages > before[0].1), "{after:?}");
    // Of the next minute, all but trials.
    let raw = (0..60_000).filter(|ms| selector.sends_raw(now as u64 + ms * 1_000_000)).count();
    assert!((57_000..60_000).contains(&raw), "{raw} ms");
}

/// Two ranks exchange long messages over a fast network for 30 seconds. The arguments give the nanoseconds of an exchange if both compress, if
/// neither does, and if one does. Returns the number of exchanges in which both compress, and in which neither does, after the 8 seconds with many
/// trials.
fn exchange(ns: [f64; 3]) -> (usize, usize) {
    const LEN: usize = 1 << 20;
    const WIRE: usize = LEN * 5 / 7;
    let speed = |mb_s| Speed { start_us: 0.2, mb_s, cold_us: 0.0 };
    let (kind, encode, decode) = (Kind::F64, speed(7000.0), speed(12e3));
    let known = [Behaviour { kind, level: Level::Unknown, codec: "packer", ratio: 1.4, encode, decode }];
    let link = Link { latency_us: 10.0, bandwidth_mb_s: 400.0 };
    let transfer = Transfer::Pipelined { chunk: 63 << 10, from: 128 << 10 };
    let offered = [Offered { name: "packer", kinds: &[kind] }];
    let mut ranks = [(); 2].map(|()| Selector::new(&offered, &known, link, transfer));
    let message = vec![0x5a_u8; LEN];
    let (mut now, mut both, mut none) = (0.0, 0, 0);
    while now < 30e9 {
        let compressed = [0, 1].map(|rank| {
            let selector: &mut Selector = &mut ranks[rank];
            let Some(admitted) = selector.admit_at(kind, LEN, now as u64) else { return false };
            let mut decision = selector.weigh(admitted, &message);
            while let Some(probe) = decision.probe() {
                let len = probe.window.len();
                decision = selector.probed(&decision, len / 2, len as f64 / 4.0, &message);
            }
            if decision.choice == Choice::Raw {
                return false;
            }
            selector.encoded(&decision, WIRE, 150e3);
            ranks[1 - rank].decoded(kind, 0, LEN, 87e3);
            true
        });
        now += match compressed {
            [true, true] => ns[0],
            [false, false] => ns[1],
            _ => ns[2],
        };
        let counts = now > 8e9;
        both += usize::from(counts && compressed == [true, true]);
        none += usize::from(counts && compressed == [false, false]);
    }
    (both, none)
}

#[test]
fn ranks_that_exchange_messages_go_the_faster_way_together() {
    let (both, none) = exchange([476e3, 545e3, 690e3]);
    assert!(both > 19 * none, "both compress {both} times, none {none} times");
    let (both, none) = exchange([640e3, 545e3, 690e3]);
    assert!(none > 5 * both, "both compress {both} times, none {none} times");
}
