//! Messages that refer to earlier ones, sent, received, lost and refused in any order.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

use mpress::Engine;
use proptest::prelude::{ProptestConfig, any, prop, prop_assert, proptest};
use support::channel::{field, pair, receive_long, refers, send, send_long};

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
        prop_assert!(run(&pair(1 << 20), steps) > 400);
    }
}
