//! When the messages of a channel are kept, and refer to earlier ones.

use mpress_selector::{DEFAULT_LINK, Link, Recall, Recalled};

const GIGABIT: Link = DEFAULT_LINK;
/// The number of messages from one decision to the next, and of those that are not kept after the first decision without gain.
const TURN: usize = 4;
const SHORT_REST: usize = 2;
/// The number of rests of 1,000 messages without gain: each is twice as long as the one before.
const RESTS: usize = 9;

/// How many of 1,000 messages refer to an earlier one, and how many are kept, if references make wires this much shorter.
fn referring(saved: impl Fn(usize) -> usize, link: Link) -> (usize, usize) {
    let (mut recall, mut refer, mut kept) = (Recall::default(), 0, 0);
    // Of the messages since the last rest, two are kept before one can refer to them.
    let mut since = 0;
    for i in 0..1000 {
        let what = recall.next(since > 1);
        since = if what == Recalled::Nothing { 0 } else { since + 1 };
        kept += since.min(1);
        if what == Recalled::Referring {
            refer += 1;
            recall.referred([10_000, 6000 - saved(i), saved(i)], false, Some(link));
        }
    }
    (refer, kept)
}

#[test]
fn what_gains_refers_and_what_does_not_rests() {
    assert_eq!(referring(|_| 3000, GIGABIT), (998, 1000));
    for saved in [0, 50] {
        let (refer, kept) = referring(|_| saved, GIGABIT);
        // Before each rest, messages to refer to, and those that showed no gain.
        assert!(refer <= RESTS * TURN && kept < RESTS * (3 + TURN), "{refer} {kept}");
    }
}

#[test]
fn what_gains_later_refers_soon() {
    let (refer, _) = referring(|i| if i < 50 { 0 } else { 3000 }, GIGABIT);
    assert!(refer > 880, "{refer}");
    let (refer, _) = referring(|i| if i < 50 { 3000 } else { 0 }, GIGABIT);
    assert!(refer < 100, "{refer}");
}

#[test]
fn fields_that_gain_by_turns_refer() {
    assert_eq!(referring(|i| if i % 8 < 4 { 3000 } else { 0 }, GIGABIT), (998, 1000));
}

#[test]
fn messages_of_the_minimum_length_say_little() {
    let refer_until_rest = |is_least: bool| {
        let mut recall = Recall::default();
        let mut refer = || {
            let refers = recall.next(true) == Recalled::Referring;
            recall.referred([4000, 1021, 0], is_least, Some(GIGABIT));
            refers
        };
        (0..100).take_while(|_| refer()).count()
    };
    assert_eq!([false, true].map(refer_until_rest), [TURN, 4 * TURN]);
}

#[test]
fn a_late_report_ends_no_rest_and_makes_it_no_longer() {
    for late in [0, 3000] {
        let mut recall = Recall::default();
        assert!((0..=TURN).all(|_| recall.next(true) == Recalled::Referring));
        for saved in [0; TURN].into_iter().chain([late]) {
            recall.referred([10_000, 6000 - saved, saved], false, Some(GIGABIT));
        }
        let resting = (0..100).take_while(|_| recall.next(true) == Recalled::Nothing).count();
        assert_eq!(resting, SHORT_REST, "{late}");
    }
}

#[test]
fn on_a_fast_link_copies_cost_more_than_bytes() {
    let fast = Link { bandwidth_mb_s: 100.0 * GIGABIT.bandwidth_mb_s, ..GIGABIT };
    assert!(referring(|_| 1000, GIGABIT).0 > 950 && referring(|_| 1000, fast).0 <= RESTS * TURN);
}

#[test]
fn a_channel_without_answers_rests() {
    let mut recall = Recall::default();
    let kept = (0..1000).filter(|_| recall.next(false) == Recalled::Kept).count();
    assert!(kept < 100, "{kept}");
}
