//! Compares the predictors of the paper with a literal reading of its text: each prediction is recomputed from all calls so far.

use mpress_predict::{
    Predictor, Replace, SingleCycle, Tag, TagBettercycle, TagCycle, Tagging, TwoLevel, Window,
};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

type Message = u8;
type Call = (Tag, Message);

/// The place where a cycle that began at `head` closes: where its head recurs.
fn back<T: PartialEq>(calls: &[T], head: usize) -> Option<usize> {
    (head + 1..calls.len()).find(|at| calls[*at] == calls[head])
}

/// The behaviour with a given cycle whose head recurred at `from`: the place of the first miss, or the predicted next call.
fn follow<T: PartialEq + Copy>(calls: &[T], cycle: &[T], from: usize) -> Result<usize, T> {
    let expected = |at: usize| cycle[(at - from) % cycle.len()];
    (from..calls.len()).find(|at| calls[*at] != expected(*at)).ok_or(expected(calls.len()))
}

/// The prediction of a cycle discovery after some calls, and the lengths of the cycles that it found.
struct Found<T> {
    offered: Option<T>,
    lengths: Vec<usize>,
}

/// 6.1, from a head on; with `kept` 6.4: the cycles of all heads are kept.
fn cycles<T: Ord + Copy>(calls: &[T], kept: bool, first: Option<(Vec<T>, usize)>) -> Found<T> {
    let mut lengths = Vec::new();
    let mut by_head: BTreeMap<T, Vec<T>> = BTreeMap::new();
    let mut following = first;
    let mut head = 0;
    loop {
        let (cycle, from) = match following.take() {
            Some(cycle) => {
                lengths.push(cycle.0.len());
                cycle
            }
            None if kept && calls.get(head).is_some_and(|head| by_head.contains_key(head)) => {
                (by_head[&calls[head]].clone(), head)
            }
            None => {
                // No cycle yet: "the previously requested message destination is offered".
                let closed = if calls.is_empty() { None } else { back(calls, head) };
                let Some(closed) = closed else { return Found { offered: calls.last().copied(), lengths } };
                lengths.push(closed - head);
                (calls[head..closed].to_vec(), closed)
            }
        };
        by_head.insert(cycle[0], cycle.clone());
        match follow(calls, &cycle, from) {
            Ok(miss) => head = miss,
            Err(next) => return Found { offered: Some(next), lengths },
        }
    }
}

/// 6.1.1: the first call whose message occurred more than five calls before, and the last of those places.
fn first_cycle<T: PartialEq>(messages: &[T]) -> Option<(usize, usize)> {
    (0..messages.len()).find_map(|at| {
        let head = (0..at.saturating_sub(5)).rev().find(|head| messages[*head] == messages[at])?;
        Some((head, at))
    })
}

fn messages(calls: &[Call]) -> Vec<Message> {
    calls.iter().map(|(_, message)| *message).collect()
}

fn single_cycle<T: Ord + Copy>(calls: &[T], phase: bool) -> Found<T> {
    if !phase {
        return cycles(calls, false, None);
    }
    match first_cycle(calls) {
        Some((head, at)) => cycles(calls, false, Some((calls[head..at].to_vec(), at))),
        None => Found { offered: None, lengths: Vec::new() },
    }
}

/// 6.3 and 6.4 at a tag: the prediction from the calls at the tag, starting with the first cycle.
fn per_tag(calls: &[Call], tag: Tag, phase: bool, kept: bool) -> Found<Message> {
    let from = match (phase, first_cycle(&messages(calls))) {
        (false, _) => 0,
        (true, Some((head, _))) => head,
        (true, None) => return Found { offered: None, lengths: Vec::new() },
    };
    let here: Vec<_> = calls[from..].iter().filter(|call| call.0 == tag).map(|call| call.1).collect();
    cycles(&here, kept, None)
}

fn per_tag_memory(calls: &[Call], phase: bool, kept: bool) -> usize {
    let tags: BTreeSet<_> = calls.iter().map(|call| call.0).collect();
    let found: Vec<_> = tags.iter().map(|tag| per_tag(calls, *tag, phase, kept).lengths).collect();
    // The head counts at both ends of a cycle.
    let longest = found.iter().flatten().max().map_or(0, |longest| longest + 1);
    let heads = found.iter().map(|lengths| if kept { lengths.len() } else { lengths.len().min(1) }).max();
    tags.len() * longest * heads.unwrap_or(0)
}

fn tagging(calls: &[Call], tag: Tag) -> Option<Message> {
    calls.iter().rev().find(|call| call.0 == tag).map(|call| call.1)
}

/// Nested loops, with calls in between that belong to none.
fn calls() -> impl Strategy<Value = Vec<Call>> {
    let call = (0..4_u64, 0..8_u8);
    let body = vec(call.clone(), 1..14);
    let looped = (body, 1..12_usize).prop_map(|(body, times)| body.repeat(times));
    let part = prop_oneof![3 => looped, 1 => vec(call, 0..5)];
    (vec(part, 0..5), 1..3_usize).prop_map(|(parts, times)| parts.concat().repeat(times))
}

/// Compares a predictor with a model at every call, and its memory at the end.
fn compare(
    calls: &[Call],
    predictor: &mut dyn Predictor<Message>,
    model: &dyn Fn(&[Call], Tag) -> Option<Message>,
    memory: &dyn Fn(&[Call]) -> usize,
) -> Result<(), TestCaseError> {
    for (at, (tag, message)) in calls.iter().enumerate() {
        for asked in 0..4 {
            prop_assert_eq!(
                predictor.predict(Some(asked)),
                model(&calls[..at], asked),
                "call {} at {}",
                at,
                asked
            );
        }
        predictor.observe(*tag, *message);
    }
    prop_assert_eq!(predictor.memory(), memory(calls));
    Ok(())
}

fn single_memory<T: Ord + Copy>(calls: &[T], phase: bool) -> usize {
    single_cycle(calls, phase).lengths.into_iter().max().map_or(0, |longest| longest + 1)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn single_cycle_is_that_of_the_text(calls in calls(), phase: bool) {
        compare(
            &calls,
            &mut SingleCycle::new(phase),
            &|before, _| single_cycle(&messages(before), phase).offered,
            &|calls| single_memory(&messages(calls), phase),
        )?;
    }

    #[test]
    fn tagging_is_that_of_the_text(calls in calls()) {
        let tags = |calls: &[Call]| calls.iter().map(|call| call.0).collect::<BTreeSet<_>>().len();
        compare(&calls, &mut Tagging::default(), &tagging, &tags)?;
    }

    #[test]
    fn tag_cycle_is_that_of_the_text(calls in calls(), phase: bool) {
        compare(
            &calls,
            &mut TagCycle::new(phase),
            &|before, tag| per_tag(before, tag, phase, false).offered,
            &|calls| per_tag_memory(calls, phase, false),
        )?;
    }

    #[test]
    fn tag_bettercycle_is_that_of_the_text(calls in calls(), phase: bool) {
        compare(
            &calls,
            &mut TagBettercycle::new(phase),
            &|before, tag| per_tag(before, tag, phase, true).offered,
            &|calls| per_tag_memory(calls, phase, true),
        )?;
    }

    #[test]
    fn two_levels_are_one_on_the_other(calls in calls(), phase: bool) {
        // The message at a tag is the tag after it.
        let follow = |calls: &[Call]| calls.windows(2).map(|two| (two[0].0, two[1].0 as Message)).collect::<Vec<_>>();
        let tag = |before: &[Call]| per_tag(&follow(before), before.last()?.0, phase, true).offered;
        let tags = |calls: &[Call]| calls.iter().map(|call| call.0).collect::<BTreeSet<_>>().len();
        compare(
            &calls,
            &mut TwoLevel::new(TagBettercycle::new(phase), Tagging::default()),
            &|before, _| tagging(before, tag(before)?.into()),
            &|calls| tags(calls) + per_tag_memory(&follow(calls), phase, true),
        )?;
    }

    #[test]
    fn sets_are_those_of_the_names(calls in calls(), size in 1..7_usize) {
        let calls = messages(&calls);
        let mut windows = [Replace::LeastRecentlyUsed, Replace::FirstIn].map(|replace| Window::new(replace, size));
        let mut misses = Vec::new();
        for (at, message) in calls.iter().enumerate() {
            // The last distinct messages; the messages of the last misses.
            let mut used = Vec::new();
            calls[..at].iter().rev().for_each(|used_before| if !used.contains(used_before) { used.push(*used_before) });
            let lru = used.iter().take(size).any(|member| member == message);
            let fifo = misses.iter().rev().take(size).any(|member| member == message);
            if !fifo {
                misses.push(*message);
            }
            prop_assert_eq!(windows.each_mut().map(|window| window.observe(*message)), [lru, fifo]);
        }
    }

    #[test]
    fn the_least_frequently_used_is_replaced(calls in calls(), size in 1..7_usize) {
        let calls = messages(&calls);
        let mut window = Window::new(Replace::LeastFrequentlyUsed, size);
        // The places, and when each got its message.
        let mut places: Vec<usize> = Vec::new();
        for (at, message) in calls.iter().enumerate() {
            let hit = places.iter().any(|since| calls[*since] == *message);
            prop_assert_eq!(window.observe(*message), hit);
            let used = |since: usize| calls[since..at].iter().filter(|used| **used == calls[since]).count();
            if hit {
            } else if places.len() < size {
                places.push(at);
            } else {
                let least = (0..size).min_by_key(|place| used(places[*place])).unwrap();
                places[least] = at;
            }
        }
    }
}

/// Figure 7: calls 1, 3, 5 and 6 never recur; the first cycle is 4, 7 to 12.
#[test]
fn the_initialisation_phase_skips_what_never_comes_again() {
    let start = [1, 3, 5, 6];
    let cycle = [4, 7, 8, 9, 10, 11, 12];
    let mut with = SingleCycle::new(true);
    let mut without = SingleCycle::new(false);
    for message in start.iter().chain(&cycle).chain(&cycle[..1]) {
        assert_eq!(with.predict(None), None);
        with.observe(0, *message);
        without.observe(0, *message);
    }
    for message in cycle[1..].iter().chain(&cycle) {
        assert_eq!(with.predict(None), Some(*message));
        assert_ne!(without.predict(None), Some(*message));
        with.observe(0, *message);
        without.observe(0, *message);
    }
    assert_eq!((with.memory(), without.memory()), (8, 0));
}

/// Formula (3) multiplies by the number of tags of formula (2), which has no phase.
#[test]
fn tags_of_skipped_calls_are_tags() {
    let skipped = [(1, 1), (2, 3), (2, 5)];
    let cycle = [4, 7, 8, 9, 10, 11].map(|message| (3, message));
    let calls = [&skipped[..], &cycle, &cycle].concat();
    let memory = |mut predictor: Box<dyn Predictor<Message>>| {
        calls.iter().for_each(|(tag, message)| predictor.observe(*tag, *message));
        predictor.memory()
    };
    assert_eq!(memory(Box::<Tagging<_>>::default()), 3);
    assert_eq!(memory(Box::new(TagCycle::new(true))), 3 * 7);
    assert_eq!(memory(Box::new(TagBettercycle::new(true))), 3 * 7);
}
