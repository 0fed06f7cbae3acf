//! Trials by the clock, through the selector.

#![allow(clippy::unwrap_used, reason = "tests")]

use mpress_codec::Kind;
use mpress_selector::{
    Behaviour, Choice, Level, Link, Offered, PEER_CLASSES, PeerClass, Selector, Speed, Transfer,
};

const LEN: usize = 100_000;
const LINK: Link = Link { latency_us: 10.0, bandwidth_mb_s: 100.0 };

fn selector() -> Selector {
    let speed = Speed { start_us: 0.2, mb_s: 2000.0 };
    let known = Behaviour {
        kind: Kind::F64,
        level: Level::Unknown,
        codec: "packer",
        ratio: 2.0,
        encode: speed,
        decode: speed,
    };
    let offered = [Offered { name: "packer", kinds: &[Kind::F64] }];
    Selector::new(&offered, &[known], &[LINK; PEER_CLASSES], Transfer::Serial)
}

/// Sends messages of these kinds in turn for some seconds; those of doubles are compressed to half. Whatever the estimates, a compressed message
/// takes `factor` times as long as a raw one. Returns the number of compressed messages.
fn run(selector: &mut Selector, kinds: &[Kind], seconds: f64, factor: f64, now_ns: &mut f64) -> usize {
    let message = vec![0x5a_u8; LEN];
    let (end, mut compressed) = (*now_ns + seconds * 1e9, 0);
    for kind in kinds.iter().cycle() {
        if *now_ns >= end {
            break;
        }
        let mut ns = LINK.time_ns(LEN as f64);
        if let Some(admitted) = selector.admit_at(*kind, PeerClass::NETWORK, LEN, *now_ns as u64) {
            let decision = selector.weigh(admitted, &message);
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
fn messages_outside_the_window_count_in_both_ways() {
    // No codec is offered for half of the messages. If they counted only in raw epochs, raw messages would seem to be twice as fast.
    let (mut selector, mut now) = (selector(), 0.0);
    let kinds = [Kind::F64, Kind::Int8];
    let of = run(&mut selector, &kinds, 300.0, 0.8, &mut now);
    let rest = run(&mut selector, &kinds, 60.0, 0.8, &mut now);
    assert!(of > 5 * 15 * rest / 16, "{rest} in the last minute, {of} in five");
    let clock = selector.by_the_clock().unwrap();
    assert!(clock.tells && (clock.speedup - 1.0 / 0.9).abs() < 3.0 * clock.error.max(0.003), "{clock:?}");
}

#[test]
fn where_raw_messages_are_faster_the_record_says_raw() {
    let (mut selector, mut now) = (selector(), 0.0);
    run(&mut selector, &[Kind::F64], 10.0, 1.2, &mut now);
    let choices = |selector: &Selector| -> Vec<_> {
        selector.tally().most_chosen().map(|(guide, messages)| (guide.choice, messages)).collect()
    };
    let before = choices(&selector);
    assert!(matches!(before[..], [(Choice::Encode(0), _)]), "{before:?}");
    let early = run(&mut selector, &[Kind::F64], 30.0, 1.2, &mut now);
    assert!(early > 0);
    let late = run(&mut selector, &[Kind::F64], 60.0, 1.2, &mut now);
    let all = 60e9 / LINK.time_ns(LEN as f64);
    assert!((late as f64) * 20.0 < all, "compression was not given up: {late} of {all}");
    let after = choices(&selector);
    assert!(matches!(after[..], [(Choice::Raw, messages)] if messages > before[0].1), "{after:?}");
}

#[test]
fn raw_epochs_leave_the_window_alone() {
    let (mut selector, mut now) = (selector(), 0.0);
    run(&mut selector, &[Kind::Int8], 1.0, 1.0, &mut now);
    let messages = |selector: &Selector| selector.window(Kind::Int8, PeerClass::NETWORK).0.messages;
    let mut on_trial = 0;
    for _ in 0..100_000 {
        now += 1e6;
        let (trial, before) = (selector.is_on_trial(now as u64), messages(&selector));
        selector.admit_at(Kind::Int8, PeerClass::NETWORK, LEN, now as u64);
        on_trial += usize::from(trial);
        assert_eq!(messages(&selector) == before, trial);
    }
    assert!((2000..5000).contains(&on_trial), "{on_trial} of 100 000");
}
