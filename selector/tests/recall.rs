//! When the messages of a channel are kept, and refer to earlier ones.

use mpress_selector::{DEFAULT_LINK, Link, Recall, Recalled};

const GIGABIT: Link = DEFAULT_LINK;
/// The number of messages of a trial, and of those that are not kept after one without gain.
const TRIALS: usize = 4;
const SHORT_REST: usize = 2;

/// How many of 1,000 messages refer to an earlier one, and how many are kept, if references make wires this much shorter.
fn referring(saved: impl Fn(usize) -> usize, link: Link) -> (usize, usize) {
    let (mut recall, mut refer, mut kept) = (Recall::default(), 0, 0);
    // Of the messages since the last rest, two are kept before one can refer to them.
    let mut since = 0;
    for i in 0..1000 {
        let what = recall.next(since > 1);
        since = if what == Recalled::Nothing { 0 } else { since + 1 };
        kept += since.min(1);
        let tried = what == Recalled::Trial && recall.tried(10_000, [6000, 6000 - saved(i)], Some(link));
        refer += usize::from(tried || what == Recalled::Referring);
    }
    (refer, kept)
}

#[test]
fn what_gains_refers_and_what_does_not_rests() {
    assert_eq!(referring(|_| 3000, GIGABIT), (998, 1000));
    for saved in [0, 50] {
        let (refer, kept) = referring(|_| saved, GIGABIT);
        // Nine rests, and before each, messages to refer to and a trial.
        assert!(refer == 0 && kept < 9 * (3 + TRIALS), "{kept}");
    }
}

#[test]
fn what_gains_later_refers_soon() {
    let (refer, _) = referring(|i| if i < 50 { 0 } else { 3000 }, GIGABIT);
    assert!(refer > 880, "{refer}");
    let (refer, _) = referring(|i| if i < 50 { 3000 } else { 0 }, GIGABIT);
    assert!(refer < 520, "{refer}");
}

#[test]
fn a_late_report_ends_no_rest_and_makes_it_no_longer() {
    for late in [0, 3000] {
        let mut recall = Recall::default();
        assert!((0..=TRIALS).all(|_| recall.next(true) == Recalled::Trial));
        let mut tried = |saved: usize| recall.tried(10_000, [6000, 6000 - saved], Some(GIGABIT));
        assert!((0..TRIALS).all(|_| !tried(0)) && !tried(late));
        let resting = (0..100).take_while(|_| recall.next(true) == Recalled::Nothing).count();
        assert_eq!(resting, SHORT_REST, "{late}");
    }
}

#[test]
fn on_a_fast_link_copies_cost_more_than_bytes() {
    let fast = Link { bandwidth_mb_s: 100.0 * GIGABIT.bandwidth_mb_s, ..GIGABIT };
    assert!(referring(|_| 1000, GIGABIT).0 > 950 && referring(|_| 1000, fast).0 == 0);
}

#[test]
fn a_channel_without_answers_rests() {
    let mut recall = Recall::default();
    let kept = (0..1000).filter(|_| recall.next(false) == Recalled::Kept).count();
    assert!(kept < 100, "{kept}");
}
