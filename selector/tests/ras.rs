//! The Run-time Adaptive Strategy.

use mpress_codec::Kind;
use mpress_selector::{Behaviour, Choice, Level, Link, Offered, Ras, Speed, Transfer};

const LEN: usize = 200_000;
const FAST: Speed = Speed { start_us: 0.2, mb_s: 6000.0, cold_us: 0.0 };
const SLOW: Speed = Speed { start_us: 0.5, mb_s: 2000.0, cold_us: 0.0 };

fn link(mb_s: f64) -> Link {
    Link { latency_us: 10.0, bandwidth_mb_s: mb_s }
}

/// PRAcTICaL-MPI, section 3: between two thresholds by the heuristics, outside raw.
#[test]
fn the_run_time_adaptive_strategy_goes_by_heuristics_and_a_window() {
    let behaviour = |codec, ratio, speed| {
        let (kind, level) = (Kind::F64, Level::Unknown);
        Behaviour { kind, level, codec, ratio, encode: speed, decode: speed }
    };
    let known = [behaviour("fast", 1.3, FAST), behaviour("small", 1.5, SLOW)];
    let offered = ["fast", "small"].map(|name| Offered { name, kinds: &[Kind::F64] });
    let mut ras = Ras::new(&offered, &known, link(400.0), Transfer::Serial);
    let message = vec![0x5a_u8; LEN];
    for _ in 0..10 {
        let decision = ras.decide(Kind::F64, &message);
        assert_eq!(decision.choice, Choice::Encode(0));
        ras.encoded(&decision, LEN * 3 / 4, FAST.time_ns(LEN));
    }
    assert_eq!(ras.window(Kind::F64).0.smallest, 1024);
    // Messages of this length do not gain any more.
    for _ in 0..4 {
        let decision = ras.decide(Kind::F64, &message);
        ras.encoded(&decision, LEN, FAST.time_ns(LEN));
    }
    assert!(ras.admit(Kind::F64, LEN).is_none() && ras.admit(Kind::F64, LEN / 2).is_some());
    // Without a gain by the heuristics, lengths leave the window at once.
    ras.set_link(link(12_000.0));
    (0..4).for_each(|_| assert!(ras.decide(Kind::F64, &message[..1024]).choice == Choice::Raw));
    assert!(ras.admit(Kind::F64, 1024).is_none());
    assert_eq!(ras.window(Kind::F64).0.smallest, 1536);
}
