//! The Run-time Adaptive Strategy.

use mpress_codec::Kind;
use mpress_selector::{Behaviour, Choice, Level, Link, Offered, Ras, Speed, Transfer};

const LEN: usize = 200_000;
const FAST: Speed = Speed { start_us: 0.2, mb_s: 6000.0, cold_us: 0.0 };
const SLOW: Speed = Speed { start_us: 0.5, mb_s: 2000.0, cold_us: 0.0 };

fn link(mb_s: f64) -> Link {
    Link { latency_us: 10.0, bandwidth_mb_s: mb_s }
}

/// A strategy for messages of doubles and two codecs.
fn ras(mb_s: f64) -> Ras {
    let behaviour = |codec, ratio, speed| {
        let (kind, level) = (Kind::F64, Level::Unknown);
        Behaviour { kind, level, codec, ratio, encode: speed, decode: speed }
    };
    let known = [behaviour("fast", 1.3, FAST), behaviour("small", 1.5, SLOW)];
    let offered = ["fast", "small"].map(|name| Offered { name, kinds: &[Kind::F64] });
    Ras::new(&offered, &known, link(mb_s), Transfer::Serial)
}

/// Sends a message that a codec compresses to this length. Returns whether it was inside the
/// window.
fn send(ras: &mut Ras, message: &[u8], wire_len: usize) -> bool {
    let Some(admitted) = ras.admit(Kind::F64, message.len()) else { return false };
    let decision = ras.weigh(admitted, message);
    assert_ne!(decision.choice, Choice::Raw);
    ras.encoded(&decision, wire_len, FAST.time_ns(message.len()));
    true
}

/// PRAcTICaL-MPI, section 3: between two thresholds by the heuristics, outside raw.
#[test]
fn the_run_time_adaptive_strategy_goes_by_heuristics_and_a_window() {
    let mut ras = ras(400.0);
    let message = vec![0x5a_u8; LEN];
    for _ in 0..10 {
        let decision = ras.decide(Kind::F64, &message);
        assert_eq!(decision.choice, Choice::Encode(0));
        ras.encoded(&decision, LEN * 3 / 4, FAST.time_ns(LEN));
    }
    assert_eq!(ras.window(Kind::F64).0.smallest, 1024);
    // Messages of this length no longer gain.
    for _ in 0..4 {
        let decision = ras.decide(Kind::F64, &message);
        ras.encoded(&decision, LEN, FAST.time_ns(LEN));
    }
    assert!(ras.admit(Kind::F64, LEN).is_none() && ras.admit(Kind::F64, LEN / 2).is_some());
    // If the heuristics predict no gain, lengths leave the window at once.
    ras.set_link(link(12_000.0));
    (0..4).for_each(|_| assert!(ras.decide(Kind::F64, &message[..1024]).choice == Choice::Raw));
    assert!(ras.admit(Kind::F64, 1024).is_none());
    assert_eq!(ras.window(Kind::F64).0.smallest, 1536);
}

#[test]
fn it_uses_chunks_where_its_heuristics_expect_them_to_be_faster() {
    let transfer = Transfer::Pipelined { chunk: 63 << 10, from: 128 << 10 };
    let message = vec![0x5a_u8; 1 << 20];
    let mut serial = ras(118.0);
    let decision = serial.decide(Kind::F64, &message);
    assert_eq!(serial.chunk_of(&decision), None);
    serial.set_transfer(transfer);
    let chunk = serial.chunk_of(&decision).unwrap();
    assert!(chunk.abs_diff((63 << 10) * 7 / 8 * 3 / 2) <= 8, "a fraction of two thirds: {chunk}");
    let raw = ras(50_000.0).decide(Kind::F64, &message);
    assert_eq!((raw.choice, serial.chunk_of(&raw)), (Choice::Raw, None));
}

#[test]
fn sizes_that_do_not_gain_shut_and_open_again() {
    let (mut ras, message) = (ras(50.0), vec![0; 1 << 26]);
    for len in [1024, 1536, 1 << 26] {
        assert!((0..4).all(|_| send(&mut ras, &message[..len], len)), "{len}");
        assert!(ras.admit(Kind::F64, len).is_none(), "{len}");
    }
    let thresholds = ras.window(Kind::F64).0;
    assert_eq!((thresholds.smallest, thresholds.end), (2048, 1 << 26));
    assert!(ras.admit(Kind::F64, 5000).is_some());
    let again = (1..).find(|_| send(&mut ras, &message[..1024], 1024));
    assert!(again.is_some_and(|messages| messages <= 128), "{again:?}");
    assert!((0..3).all(|_| send(&mut ras, &message[..1024], 1024)));
    assert!(!send(&mut ras, &message[..1024], 1024));
    let again = (1..).find(|_| send(&mut ras, &message[..1024], 512));
    assert!(again.is_some_and(|messages| messages > 128), "{again:?}");
    assert!(ras.admit(Kind::F64, 1024).is_some());
    assert_eq!(ras.window(Kind::F64).0.smallest, 1024);
}

#[test]
fn a_hole_is_outside() {
    let (mut ras, message) = (ras(50.0), [0; 4096]);
    (0..4).for_each(|_| assert!(send(&mut ras, &message, 4096)));
    assert!(ras.admit(Kind::F64, 4096).is_none());
    assert!(ras.admit(Kind::F64, 2048).is_some() && ras.admit(Kind::F64, 8192).is_some());
    assert_eq!(ras.window(Kind::F64).0.smallest, 1024);
}

#[test]
fn history_is_bounded() {
    let (mut ras, message) = (ras(50.0), [0; 1024]);
    for _ in 0..1000 {
        (0..4).for_each(|_| assert!(send(&mut ras, &message, 1024)));
        ras.set_link(link(50.0));
    }
    let (_, history) = ras.window(Kind::F64);
    assert!((16..=32).contains(&history.len()), "{history:?}");
    assert!(history.is_sorted_by_key(|thresholds| thresholds.messages));
}
