//! The tournament predictor is better than those of the paper on programs of many kinds, in bounded memory.

mod programs;

use mpress_predict::{Envelope, Predictor, SingleCycle, TagBettercycle, TagCycle, Tagging, Tournament, hits};
use programs::{Call, PROGRAMS, Random};
use proptest::prelude::*;

fn ratio(predictor: &mut dyn Predictor<Envelope>, tagged: bool, calls: &[Call]) -> f64 {
    hits(predictor, tagged, calls.iter().copied()) as f64 / calls.len() as f64
}

/// The predictors of the paper, with the initialisation phase and without.
fn of_the_paper() -> Vec<(&'static str, Box<dyn Predictor<Envelope>>)> {
    let mut all: Vec<(_, Box<dyn Predictor<Envelope>>)> = vec![("tagging", Box::new(Tagging::default()))];
    for phase in [true, false] {
        all.push(("single-cycle", Box::new(SingleCycle::new(phase))));
        all.push(("tag-cycle", Box::new(TagCycle::new(phase))));
        all.push(("tag-bettercycle", Box::new(TagBettercycle::new(phase))));
    }
    all
}

/// Its hit rate with and without tags, and the best of the paper's.
fn compared(name: &str, calls: &[Call]) -> (f64, f64, f64) {
    let of_paper = of_the_paper().into_iter().map(|(name, mut of)| (ratio(&mut *of, true, calls), name));
    let (best, which) = of_paper.fold((0.0, ""), |best, next| if next.0 > best.0 { next } else { best });
    let tagged = ratio(&mut Tournament::new(), true, calls);
    let untagged = ratio(&mut Tournament::new(), false, calls);
    println!(
        "{name:16} {:6} calls: {tagged:.4} tagged, {untagged:.4} untagged; {best:.4} {which}",
        calls.len()
    );
    (tagged, untagged, best)
}

#[test]
fn it_is_better_than_the_predictors_of_the_paper_on_programs_of_many_kinds() {
    for (name, program) in PROGRAMS {
        let (tagged, _, best) = compared(name, &program());
        assert!(tagged >= best, "{name}: {tagged} is less than {best}");
    }
}

#[test]
fn it_knows_what_no_message_before_was_like() {
    let (_, untagged, best) = compared("counted tags", &programs::counted_tags());
    assert!(best < 0.01 && untagged > 0.99, "{untagged}, {best} of the paper");
}

/// The calls after the next one are predicted too, up to the end of a step.
#[test]
fn it_looks_a_step_ahead() {
    for (name, program, step) in [
        ("wavefront", programs::wavefront as programs::Program, 128),
        ("counted tags", programs::counted_tags, 8),
    ] {
        let calls = program();
        let mut predictor = Tournament::new();
        for (at, (site, message)) in calls.iter().enumerate() {
            predictor.observe(*site, *message);
            let ahead: Vec<_> = predictor.ahead().collect();
            assert_eq!(ahead.first().copied(), predictor.predict(None), "{name}, call {at}");
            assert!(ahead.len() <= 4096);
            if at > 3 * step && at + step < calls.len() {
                let next = calls[at + 1..].iter().map(|call| call.1);
                assert!(
                    ahead.len() >= step && next.zip(ahead).take(step).all(|(a, b)| a == b),
                    "{name}, call {at}"
                );
            }
        }
    }
}

/// Every second message is randomly one of seven: only the others can be predicted.
#[test]
fn chance_does_not_spoil_what_can_be_known() {
    let (tagged, untagged, _) = compared("master", &programs::master());
    let possible = 0.5 + 0.5 / 7.0;
    assert!((tagged - possible).abs() < 0.02 && (untagged - possible).abs() < 0.02, "{tagged}, {untagged}");
}

#[test]
fn its_memory_is_bounded_whatever_comes() {
    let mut random = Random::new(9);
    let mut predictor = Tournament::new();
    let before = predictor.bytes();
    for call in 0..20_000 {
        let message = Envelope {
            buffer: random.below(1 << 30),
            count: random.below(1 << 30),
            source: random.below(5000) as i32 - 2,
            tag: call,
            datatype: random.below(1 << 20) as u32,
            comm: random.below(1 << 20) as u32,
        };
        let site = random.below(10_000);
        predictor.predict(Some(site));
        predictor.observe(site, message);
    }
    assert_eq!(predictor.bytes(), before);
    assert!(before <= 64 << 10, "{before} bytes");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Predictions depend on the calls only, not on the queries.
    #[test]
    fn asking_changes_nothing(calls in proptest::collection::vec((0..5_u64, 0..9_u64), 0..300)) {
        let mut asked = Tournament::new();
        let mut not = Tournament::new();
        for (site, message) in calls {
            for site in 0..6 {
                asked.predict(Some(site));
            }
            prop_assert_eq!(asked.predict(None), not.predict(None));
            let message = Envelope { buffer: message, ..Envelope::default() };
            asked.observe(site, message);
            not.observe(site, message);
        }
    }

    /// A cycle is known after its first occurrence, with a few exceptions, for as long as it continues.
    #[test]
    fn a_cycle_is_known_at_once(len in 1..600_u64) {
        let mut predictor = Tournament::new();
        let mut misses = 0;
        for call in 0..3 * len + 40 {
            let message = Envelope { buffer: (call % len) * 4096, source: (call % len) as i32 % 7, ..Envelope::default() };
            misses += u64::from(call >= len + 2 && predictor.predict(None) != Some(message));
            predictor.observe(call % len % 5, message);
        }
        prop_assert!(misses <= 6 + len / 50, "{} misses of a cycle of {}", misses, len);
    }
}
