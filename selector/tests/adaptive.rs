//! The selector in a simulated world that changes.

#![allow(clippy::unwrap_used, reason = "tests")]

use mpress_codec::Kind;
use mpress_selector::{
    Behaviour, Choice, Decision, Guided, Level, Link, Offered, Packed, Selector, Speed, Transfer,
};
use proptest::prelude::*;

const FAST: Speed = Speed { start_us: 0.2, mb_s: 6000.0, cold_us: 0.0 };
const SLOW: Speed = Speed { start_us: 0.5, mb_s: 2000.0, cold_us: 0.0 };
const OFFERED: [Offered<'_>; 2] =
    [Offered { name: "fast", kinds: &[Kind::F64] }, Offered { name: "small", kinds: &[Kind::F64] }];

fn behaviours() -> [Behaviour<'static>; 2] {
    let behaviour = |codec, ratio, speed| Behaviour {
        kind: Kind::F64,
        level: Level::Unknown,
        codec,
        ratio,
        encode: speed,
        decode: speed,
    };
    [behaviour("fast", 1.3, FAST), behaviour("small", 1.5, SLOW)]
}

fn link(mb_s: f64) -> Link {
    Link { latency_us: 10.0, bandwidth_mb_s: mb_s }
}

/// The actual properties of the world.
#[derive(Clone, Copy)]
struct World {
    link: Link,
    /// The fractions of the two codecs; 1 is raw.
    fractions: [f64; 2],
    speeds: [Speed; 2],
    transfer: Transfer,
}

impl World {
    fn new(mb_s: f64) -> Self {
        let (link, fractions, speeds) = (link(mb_s), [0.77, 0.67], [FAST, SLOW]);
        Self { link, fractions, speeds, transfer: Transfer::Serial }
    }

    fn with_noise(self) -> Self {
        Self { fractions: [1.0, 1.0], ..self }
    }

    /// Codecs take ten times as long.
    fn with_slow_codecs(self) -> Self {
        Self { speeds: self.speeds.map(|speed| Speed { mb_s: speed.mb_s / 10.0, ..speed }), ..self }
    }

    /// Decides about a message of doubles, and encodes the probes that this requires.
    fn decide(&self, selector: &mut Selector, message: &[u8]) -> Decision {
        let mut decision = selector.decide(Kind::F64, message);
        while let Some(probe) = decision.probe() {
            let (offer, len) = (usize::from(probe.offer), probe.window.len());
            let wire_len = (len as f64 * self.fractions[offer]) as usize;
            decision = selector.probed(&decision, wire_len, self.speeds[offer].time_ns(len), message);
        }
        decision
    }

    /// Sends a message as decided, and reports the outcome. Returns its time, and its raw time.
    fn send(&self, selector: &mut Selector, decision: &Decision, len: usize) -> (f64, f64) {
        let raw_ns = self.link.time_ns(len as f64);
        let mut ns = 0.0;
        let wire_len = match decision.choice {
            Choice::Raw => {
                ns += raw_ns;
                len
            }
            Choice::Encode(offer) => {
                let (fraction, speed) = (self.fractions[usize::from(offer)], self.speeds[usize::from(offer)]);
                let encode_ns = speed.time_ns(len);
                let decode_ns = if fraction < 1.0 { encode_ns } else { 0.0 };
                ns += Packed { fraction, encode_ns, decode_ns }.time_ns(self.transfer, &self.link, len);
                selector.encoded(decision, (len as f64 * fraction) as usize, encode_ns);
                if fraction < 1.0 {
                    selector.decoded(Kind::F64, offer, len, decode_ns);
                }
                (len as f64 * fraction) as usize
            }
        };
        let net_ns = wire_len as f64 * 1e3 / self.link.bandwidth_mb_s;
        selector.arrived(wire_len, (net_ns, 0.0), 0.0);
        (ns, raw_ns)
    }

    /// Sends this number of messages. Returns the time relative to sending all of them raw, and the last choice.
    fn run(&self, selector: &mut Selector, messages: usize) -> (f64, Choice) {
        let message = vec![0x5a_u8; LEN];
        let (mut time, mut raw, mut last) = (0.0, 0.0, Choice::Raw);
        for _ in 0..messages {
            let decision = self.decide(selector, &message);
            last = decision.choice;
            let (ns, raw_ns) = self.send(selector, &decision, message.len());
            time += ns;
            raw += raw_ns;
        }
        (time / raw, last)
    }

    /// The number of messages until ten in a row have the wanted choice.
    fn adapts(&self, selector: &mut Selector, wanted: impl Fn(Choice) -> bool) -> usize {
        let message = vec![0x5a_u8; LEN];
        let mut right = 0;
        for at in 0..5000 {
            let decision = self.decide(selector, &message);
            right = if wanted(decision.choice) { right + 1 } else { 0 };
            self.send(selector, &decision, message.len());
            if right == 10 {
                return at - 9;
            }
        }
        5000
    }
}

const LEN: usize = 200_000;

fn selector(mb_s: f64) -> Selector {
    Selector::new(&OFFERED, &behaviours(), link(mb_s), Transfer::Serial)
}

fn is_raw(choice: Choice) -> bool {
    choice == Choice::Raw
}

#[test]
fn what_was_slow_for_a_while_is_used_again() {
    let (world, mut selector) = (World::new(270.0), selector(270.0));
    assert_ne!(world.run(&mut selector, 50).1, Choice::Raw);
    // Another job shares the processors, then those of the receiver.
    assert_eq!(world.with_slow_codecs().run(&mut selector, 200).1, Choice::Raw);
    assert_ne!(world.run(&mut selector, 3000).1, Choice::Raw);
    (0..40).for_each(|at| selector.decoded(Kind::F64, at % 2, LEN, 1e9));
    assert_ne!(world.run(&mut selector, 5000).1, Choice::Raw);
}

#[test]
fn each_network_gets_its_codec() {
    for (mb_s, wanted) in [(12.0, Choice::Encode(1)), (400.0, Choice::Encode(0)), (12_000.0, Choice::Raw)] {
        let mut selector = selector(mb_s);
        let (time, last) = World::new(mb_s).run(&mut selector, 200);
        assert_eq!(last, wanted, "{mb_s} MB/s");
        assert!(time < 1.001, "{mb_s} MB/s: {time}");
    }
}

#[test]
fn conditions_change_and_the_selector_follows() {
    let world = World::new(200.0);
    let mut selector = selector(200.0);
    let (time, _) = world.run(&mut selector, 100);
    assert!(time < 1.0, "{time}");
    // The data become random.
    let off = world.with_noise().adapts(&mut selector, is_raw);
    // And compressible again.
    let on = world.adapts(&mut selector, |choice| !is_raw(choice));
    // The bandwidth drops tenfold, so that the better ratio pays.
    let slower = World::new(20.0).adapts(&mut selector, |choice| choice == Choice::Encode(1));
    // It then rises so far that no codec pays.
    let faster = World::new(12_000.0).adapts(&mut selector, is_raw);
    println!("messages until it adapts: random {off}, back {on}, slower {slower}, faster {faster}");
    assert!(off <= 8 && on <= 300 && slower <= 200 && faster <= 32, "{off} {on} {slower} {faster}");
}

#[test]
fn wrong_heuristics_are_found_out() {
    // The codecs are ten times slower than the heuristics say, and the first compresses nothing.
    let world = World { fractions: [1.0, 0.67], ..World::new(900.0) }.with_slow_codecs();
    let mut selector = selector(900.0);
    let (first, _) = world.run(&mut selector, 2000);
    let (later, _) = world.run(&mut selector, 2000);
    assert!(first < 1.02 && later < 1.005, "{first} {later}");
}

#[test]
fn a_codec_that_is_slower_than_known_is_not_used_for_many_long_messages() {
    // With chunks, the second codec should be the best, but it is ten times slower than the heuristics say.
    let transfer = Transfer::Pipelined { chunk: 1 << 18, from: 0 };
    let speeds = [FAST, Speed { mb_s: SLOW.mb_s / 10.0, ..SLOW }];
    let world = World { fractions: [0.77, 0.5], speeds, transfer, ..World::new(600.0) };
    let (mut selector, message) = (selector(600.0), vec![0x5a_u8; 4 << 20]);
    selector.set_transfer(transfer);
    let choices: Vec<_> = (0..100)
        .map(|_| {
            let decision = world.decide(&mut selector, &message);
            world.send(&mut selector, &decision, message.len());
            decision.choice
        })
        .collect();
    let with = |wanted| choices.iter().filter(|&&choice| choice == wanted).count();
    assert!(with(Choice::Encode(1)) <= 2 && with(Choice::Raw) <= 2, "{choices:?}");
}

#[test]
fn incompressible_data_costs_next_to_nothing() {
    for mb_s in [12.0, 120.0, 1200.0, 12_000.0] {
        let mut selector = selector(mb_s);
        let (time, _) = World::new(mb_s).with_noise().run(&mut selector, 2000);
        assert!(time < 1.003, "{mb_s} MB/s: {time}");
    }
}

#[test]
fn data_that_always_turns_against_the_choice_is_bounded() {
    let mut selector = selector(400.0);
    let message = vec![0x5a_u8; LEN];
    let world = World::new(400.0);
    let (mut time, mut raw) = (0.0, 0.0);
    for _ in 0..20_000 {
        let decision = world.decide(&mut selector, &message);
        // Messages chosen for compression are random, all others are not.
        let world = if is_raw(decision.choice) { world } else { world.with_noise() };
        let (ns, raw_ns) = world.send(&mut selector, &decision, LEN);
        time += ns;
        raw += raw_ns;
    }
    assert!(time / raw < 1.01, "{}", time / raw);
}

#[test]
fn one_mistake_does_not_stop_later_gains() {
    // A long message does not get shorter and takes long; the gain of each short one is smaller than that cost.
    let (mut selector, message) = (selector(100.0), vec![0x5a_u8; 16 * LEN]);
    let world = World::new(100.0);
    let decision = world.decide(&mut selector, &message);
    assert!(!is_raw(decision.choice));
    selector.encoded(&decision, message.len(), 1e9);
    let raw = (0..100).filter(|_| {
        let decision = world.decide(&mut selector, &message[..LEN]);
        world.send(&mut selector, &decision, LEN);
        is_raw(decision.choice)
    });
    let raw = raw.count();
    assert!(raw <= 10, "{raw}");
}

#[test]
fn codecs_that_never_succeed_and_are_slower_than_known_are_found_out() {
    // Fifty times slower than the heuristics say; neither probes nor messages ever get shorter.
    let slow = Speed { start_us: 10.0, mb_s: 120.0, cold_us: 0.0 };
    for (mb_s, len) in [(100.0, LEN), (400.0, LEN), (2000.0, LEN), (400.0, 2000), (1000.0, 8000)] {
        let world = World { speeds: [slow; 2], ..World::new(mb_s).with_noise() };
        let (mut selector, message) = (selector(mb_s), vec![0x5a_u8; len]);
        let mut lost = [0.0, 0.0];
        for (half, at) in [(0, 2000), (1, 50_000)] {
            let (mut time, mut raw) = (0.0, 0.0);
            for _ in 0..at {
                let decision = world.decide(&mut selector, &message);
                let (ns, raw_ns) = world.send(&mut selector, &decision, len);
                time += ns;
                raw += raw_ns;
            }
            lost[half] = time / raw - 1.0;
        }
        assert!(lost[0] < 0.025 && lost[1] < 0.006, "{mb_s} MB/s, {len} bytes: {lost:?}");
    }
}

#[test]
fn what_was_chosen_is_chosen_again_by_its_record() {
    let mut selector = selector(50.0);
    World::new(50.0).run(&mut selector, 100);
    let tally = selector.tally();
    let record: Vec<_> = tally.most_chosen().collect();
    assert_eq!(record.len(), 1);
    let guided = Guided::new(record.iter().map(|(guide, _)| *guide));
    assert_eq!(guided.decide(Kind::F64, LEN), Choice::Encode(1));
    assert_eq!(guided.decide(Kind::F64, LEN + LEN / 4), Choice::Encode(1), "next to it");
    assert_eq!(guided.decide(Kind::F64, 10 * LEN), Choice::Raw);
    assert_eq!(guided.decide(Kind::F32, LEN), Choice::Raw);
}

#[derive(Clone, Debug)]
enum Event {
    Send { kind: Kind, len: usize, wire: usize, ns: f64 },
    Received { kind: Kind, offer: u8, len: usize, ns: f64 },
    Transferred { bytes: usize, ns: f64 },
    Link { link: Link },
}

fn any_event() -> impl Strategy<Value = Event> {
    let kind = || (0..7_u8).prop_map(|kind| Kind::from_wire(kind).unwrap());
    let len = || prop_oneof![0..5000_usize, Just(100_000), Just(1 << 20)];
    let ns = || prop_oneof![Just(0.0), Just(f64::NAN), Just(f64::INFINITY), Just(-1.0), 1.0..1e9_f64];
    prop_oneof![
        8 => (kind(), len(), len(), ns())
            .prop_map(|(kind, len, wire, ns)| Event::Send { kind, len, wire, ns }),
        1 => (kind(), any::<u8>(), len(), ns())
            .prop_map(|(kind, offer, len, ns)| Event::Received { kind, offer, len, ns }),
        1 => (len(), ns()).prop_map(|(bytes, ns)| Event::Transferred { bytes, ns }),
        1 => (ns(), ns()).prop_map(|(latency_us, bandwidth_mb_s)| Event::Link {
            link: Link { latency_us, bandwidth_mb_s },
        }),
    ]
}

proptest! {
    /// Whatever it is told, it does not panic, chooses only codecs that were offered for the kind, and gives the same results for the same calls.
    #[test]
    fn nothing_confuses_it(events in prop::collection::vec(any_event(), 1..200)) {
        let offered = [
            Offered { name: "a", kinds: &[Kind::F64, Kind::Int32] },
            Offered { name: "unheard of", kinds: &[Kind::F64] },
            Offered { name: "b", kinds: &[Kind::Other, Kind::F64] },
        ];
        let behaviours = behaviours().map(|b| Behaviour { codec: "a", ratio: f64::NAN, ..b });
        let new = || Selector::new(&offered, &behaviours, link(f64::NAN), Transfer::Serial);
        let mut selectors = [new(), new()];
        let bytes: Vec<u8> = (0..1 << 20).map(|i: u32| (i.wrapping_mul(i) >> 7) as u8).collect();
        for event in events {
            let mut choices = Vec::new();
            for selector in &mut selectors {
                match event.clone() {
                    Event::Send { kind, len, wire, ns } => {
                        let mut decision = selector.decide(kind, &bytes[..len]);
                        while let Some(probe) = decision.probe() {
                            prop_assert!(offered[usize::from(probe.offer)].kinds.contains(&kind));
                            prop_assert!(probe.window.end <= len);
                            decision = selector.probed(&decision, wire, ns, &bytes[..len]);
                        }
                        if let Choice::Encode(offer) = decision.choice {
                            prop_assert!(offered[usize::from(offer)].kinds.contains(&kind));
                        }
                        selector.encoded(&decision, wire, ns);
                        choices.push(decision.choice);
                    }
                    Event::Received { kind, offer, len, ns } => selector.decoded(kind, offer, len, ns),
                    Event::Transferred { bytes, ns } => {
                        selector.arrived(bytes, (ns, 0.0), if bytes % 2 == 0 { 0.0 } else { ns });
                        selector.passed(bytes / 2, ns, 2.0 * ns);
                    }
                    Event::Link { link } => selector.set_link(link),
                }
                prop_assert!(selector.link().is_sane());
                let gain = selector.gain();
                let all = [gain.expected_ns, gain.measured_ns, gain.raw_ns];
                prop_assert!(all.iter().all(|ns| ns.is_finite()), "{gain:?}");
            }
            prop_assert!(choices.len() != 2 || choices[0] == choices[1]);
        }
    }
}

#[test]
fn an_interrupted_rank_goes_on_compressing() {
    // On a machine with more ranks than processors, another rank sometimes runs for some milliseconds while a message is encoded, occasionally twice
    // in a row.
    for (mb_s, len, interruptions, ns) in [(60.0, 13_000, 1, 4e6), (100.0, 4 << 20, 2, 100e6)] {
        let (world, message) = (World::new(mb_s), vec![0x5a_u8; len]);
        let mut selector = selector(mb_s);
        let raw = (0..200).filter(|at| {
            let decision = world.decide(&mut selector, &message);
            if let (Choice::Encode(offer), true) = (decision.choice, at % 20 < interruptions) {
                let wire_len = len as f64 * world.fractions[usize::from(offer)];
                selector.encoded(&decision, wire_len as usize, ns);
            } else {
                world.send(&mut selector, &decision, len);
            }
            is_raw(decision.choice)
        });
        let raw = raw.count();
        assert!(raw <= 6, "{len} bytes: {raw}");
    }
}

#[test]
fn messages_that_are_too_short_are_not_read() {
    // 12 us of reading and 0.4 us of coding correspond to 0.75 KiB; 1 KiB is the shortest class.
    let mut selector = selector(60.0);
    assert_eq!(selector.shortest(Kind::F64), 1024);
    assert!(selector.admit(Kind::F64, 1023).is_none());
    assert_eq!(selector.shortest(Kind::F32), usize::MAX, "there is no codec");
    selector.set_link(link(12_000.0));
    assert_eq!(selector.shortest(Kind::F64), usize::MAX);
    // At 105 MB/s it is 1.4 KiB.
    (0..16).for_each(|_| selector.arrived(1 << 20, (1e7, 0.0), 0.0));
    assert_eq!(selector.shortest(Kind::F64), 1536);
}

#[test]
fn frames_that_cannot_be_shorter_are_known() {
    // A codec that compresses anything to almost nothing; frames have at least a kilobyte.
    let speed = Speed { start_us: 0.5, mb_s: 2000.0, cold_us: 0.0 };
    let known = [Behaviour {
        kind: Kind::F64,
        level: Level::Unknown,
        codec: "fast",
        ratio: 50.0,
        encode: speed,
        decode: speed,
    }];
    let free = Selector::new(&OFFERED[..1], &known, link(60.0), Transfer::Serial);
    let mut selector = free.clone().with_shortest_frame(1000);
    assert!(free.shortest(Kind::F64) <= 1024 && selector.shortest(Kind::F64) > 1024);
    // The times of short messages are no reason to expect less of long ones.
    let expected = |selector: &mut Selector, len: usize| {
        let message = vec![0; len];
        let mut decision = selector.decide(Kind::F64, &message);
        while let Some(probe) = decision.probe() {
            let part = probe.window.len();
            decision = selector.probed(&decision, part / 50, speed.time_ns(part), &message);
        }
        assert_eq!(decision.choice, Choice::Encode(0));
        decision.expected_gain_ns()
    };
    let before = expected(&mut selector, 40_000);
    for _ in 0..50 {
        let decision = selector.decide(Kind::F64, &[0; 2048]);
        assert_eq!(decision.choice, Choice::Encode(0));
        selector.encoded(&decision, 1000, speed.time_ns(2048));
    }
    assert!(expected(&mut selector, 40_000) >= 0.99 * before);
}

#[test]
fn a_codec_of_which_nothing_is_known_is_tried() {
    let mut selector = Selector::new(&OFFERED[..1], &[], link(115.0), Transfer::Serial);
    let decision = selector.decide(Kind::F64, &vec![0; 1 << 20]);
    assert!(decision.probe().is_some());
}

#[test]
fn a_probe_is_no_frame_and_says_what_it_is() {
    // Expected to compress to a fiftieth; a part of a message, shorter than a frame may be, shows a fifth.
    let known = behaviours().map(|known| Behaviour { ratio: 50.0, ..known });
    let mut selector =
        Selector::new(&OFFERED[..1], &known, link(115.0), Transfer::Serial).with_shortest_frame(1000);
    let message = vec![0; 1 << 20];
    let decision = selector.decide(Kind::F64, &message);
    let part = decision.probe().unwrap().window.len();
    let decision = selector.probed(&decision, part / 5, FAST.time_ns(part), &message);
    let expected = 1.0 - decision.expected_gain_ns() / link(115.0).time_ns(message.len() as f64);
    assert!(decision.probe().is_none() && (0.1..0.3).contains(&expected), "{expected}");
}

#[test]
fn a_codec_that_takes_long_is_not_tried() {
    // At 10 Gbit/s, 128 KiB take 0.11 ms, and coding takes 0.03 ms. If the codec were as much better as may be hoped, it would gain.
    let speed = Speed { start_us: 8.0, mb_s: 20_000.0, cold_us: 0.0 };
    let slow = behaviours().map(|known| Behaviour { ratio: 1.0, encode: speed, decode: speed, ..known });
    let mut selector = Selector::new(&OFFERED, &slow, link(1250.0), Transfer::Serial);
    for _ in 0..100 {
        let decision = selector.decide(Kind::F64, &vec![0x5a; 128 << 10]);
        assert!(is_raw(decision.choice) && decision.probe().is_none());
    }
}

#[test]
fn of_messages_that_do_not_gain_few_are_read_until_one_gains() {
    let mut selector = selector(120.0);
    let (noise, zeros) = (World::new(120.0).with_noise(), World::new(120.0));
    let read = |selector: &mut Selector, world: &World, len: usize| {
        let message = vec![0x5a_u8; len];
        let read = (0..1000).filter(|_| {
            let decision = world.decide(selector, &message);
            world.send(selector, &decision, len);
            decision.level().is_some()
        });
        read.count()
    };
    assert!(read(&mut selector, &noise, 8 << 10) < 150);
    assert_eq!(read(&mut selector, &noise, 1 << 20), 1000, "reading takes almost no time by comparison");
    // All messages are counted, including those that were not read.
    let all: u64 = selector.tally().as_words().iter().sum();
    assert!((1900..2100).contains(&all), "{all}");
    let before = read(&mut selector, &zeros, 8 << 10);
    assert!(before > 600, "{before}");
    assert_eq!(read(&mut selector, &zeros, 8 << 10), 1000);
}

#[test]
fn the_content_decides_before_the_history_does() {
    // By the heuristics only messages with much redundancy gain.
    let of = |level, ratio| Behaviour { level, ratio, ..behaviours()[0].clone() };
    let known = [of(Level::None, 1.0), of(Level::Extreme, 4.0)];
    let mut selector = Selector::new(&OFFERED[..1], &known, link(120.0), Transfer::Serial);
    let noise: Vec<u8> = (0..LEN as u64)
        .map(|at| {
            at.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_mul(at | 1).to_be_bytes()[1]
        })
        .collect();
    let (zeros, mut wrong) = (vec![0; LEN], 0);
    for _ in 0..100 {
        for (message, fraction) in [(&noise, 1.0), (&zeros, 0.25)] {
            let world = World { fractions: [fraction; 2], ..World::new(120.0) };
            let decision = world.decide(&mut selector, message);
            selector.encoded(&decision, (LEN as f64 * fraction) as usize, FAST.time_ns(LEN));
            wrong += usize::from(is_raw(decision.choice) != (fraction == 1.0));
        }
    }
    assert!(wrong <= 6, "{wrong} of 200");
}
