//! What a selector learns from messages that refer to earlier ones.

use mpress_codec::Kind;
use mpress_selector::{Behaviour, Choice, DEFAULT_LINK, Decision, Level, Offered, Selector, Speed, Transfer};

const LEN: usize = 200_000;
const SPEED: Speed = Speed { start_us: 0.5, mb_s: 2000.0, cold_us: 0.0 };

/// The next decision, after this number of messages that became two thirds of their length.
fn decide(selector: &mut Selector, messages: usize) -> Decision {
    let message = vec![0x5a_u8; LEN];
    for at in 0.. {
        let mut decision = selector.decide(Kind::F64, &message);
        while let Some(probe) = decision.probe() {
            let len = probe.window.len();
            decision = selector.probed(&decision, len * 2 / 3, SPEED.time_ns(len), &message);
        }
        assert_eq!(decision.choice, Choice::Encode(0));
        if at == messages {
            return decision;
        }
        selector.encoded(&decision, LEN * 2 / 3, SPEED.time_ns(LEN));
    }
    unreachable!("there are enough numbers");
}

/// A selector that knows a codec, and the same after this number of messages that became a tenth of their length, because they referred to earlier ones,
/// in `times` times the usual time.
fn selectors(messages: usize, times: f64) -> [Selector; 2] {
    let offers = [Offered { name: "packer", kinds: &[Kind::F64] }];
    let (kind, level, codec) = (Kind::F64, Level::Unknown, "packer");
    let behaviour = Behaviour { kind, level, codec, ratio: 1.5, encode: SPEED, decode: SPEED };
    let mut usual = Selector::new(&offers, &[behaviour], DEFAULT_LINK, Transfer::Serial);
    decide(&mut usual, 20);
    let (mut referring, message) = (usual.clone(), vec![0x5a_u8; LEN]);
    for at in 0..messages {
        let mut decision = referring.decide(kind, &message);
        assert!(decision.choice == Choice::Encode(0) && !decision.refers, "message {at}: {decision:?}");
        decision.refers = true;
        referring.encoded(&decision, LEN / 10, times * SPEED.time_ns(LEN));
    }
    [usual, referring]
}

#[test]
fn their_lengths_say_nothing_about_other_messages() {
    let [mut usual, mut referring] = selectors(20, 1.0);
    assert!(referring.gain().measured_ns > usual.gain().measured_ns, "it is a gain");
    let [usual, referring] = [&mut usual, &mut referring].map(|one| decide(one, 0).expected_gain_ns());
    assert!((referring / usual - 1.0).abs() < 1e-3, "{referring} {usual}");
}

#[test]
fn they_show_the_time_that_a_codec_takes_and_keep_it_known() {
    let [usual, referring] = selectors(2000, 3.0).map(|mut one| decide(&mut one, 0).expected_gain_ns());
    let slower = (usual - referring) / SPEED.time_ns(LEN);
    assert!((1.9..2.05).contains(&slower), "{slower}");
}
