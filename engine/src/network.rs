//! A quick measurement of the network at the start of a job.
//!
//! All processes of every second node send at the same time to processes on other nodes, which then send in turn, so the result is the bandwidth of a
//! process while the others of its node send too. In both directions at once, some MPIs send one message after the other or not, as chance has it, so
//! that the time of one exchange says little. This takes some milliseconds, and each process sends at most four MiB.

use mpress_selector::Link;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The version of the measurement: which messages ranks exchange, and when they end. Raise it with each change, because ranks of different versions
/// would wait for each other.
pub(crate) const VERSION: u32 = 3;

/// The length of the messages for measuring the latency, and their number.
const SHORT: usize = 8;
const SHORT_ROUNDS: u32 = 9;
/// The length of the first messages for measuring the bandwidth.
const LONG: usize = 16 << 10;
/// The maximum number of bytes that a process sends in such messages.
const MOST: usize = 4 << 20;
/// The number of messages of a length. Links and their queues let some bytes pass at once, and connections start slowly: the first two do not count.
const LONG_ROUNDS: usize = 5;
/// The minimum time of a message that shows the bandwidth: this one, and this number of latencies. Longer messages are not more exact: their times
/// depend on when the ranks of a core take turns.
const ENOUGH: Duration = Duration::from_micros(400);
const LATENCIES: f64 = 8.0;

/// The messages of a measurement, over any message layer.
pub trait Exchange {
    /// Why a message failed.
    type Error;

    /// Sends `len` bytes to one rank.
    ///
    /// # Errors
    /// If that fails.
    fn send(&mut self, to: usize, len: usize) -> Result<(), Self::Error>;

    /// Receives `len` bytes from another.
    ///
    /// # Errors
    /// If that fails.
    fn receive(&mut self, from: usize, len: usize) -> Result<(), Self::Error>;

    /// The sums of two numbers over all processes, all of which must call this.
    ///
    /// # Errors
    /// As above.
    fn sums(&mut self, numbers: [u64; 2]) -> Result<[u64; 2], Self::Error>;
}

/// The ranks of each node, in order. `nodes` has the node of each rank.
#[must_use]
pub fn by_node(nodes: &[i32]) -> Vec<Vec<usize>> {
    let mut ranks = BTreeMap::<i32, Vec<usize>>::new();
    for (rank, node) in nodes.iter().enumerate() {
        ranks.entry(*node).or_default().push(rank);
    }
    ranks.into_values().collect()
}

/// The part of a rank in a measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// The ranks to which it sends and from which it receives: those at the same index on the next and on the previous node. Only nodes with at least
    /// half as many ranks as the fullest one take part, or all nodes if only one has, and an even number of them, since they take turns. `None`: this
    /// node does not take part, or another one has no such index.
    pub partners: Option<(usize, usize)>,
    /// Whether it sends first, then receives: every second node does.
    pub leads: bool,
    /// The number of ranks with partners.
    pub measuring: usize,
    /// The number of ranks on the fullest node per rank with partners: they share the measured bandwidth.
    pub crowd: f64,
}

impl Part {
    /// The part of a rank; `None` if there is only one node. `nodes` has the node of each rank.
    #[must_use]
    pub fn of(nodes: &[i32], rank: usize) -> Option<Self> {
        let all = by_node(nodes);
        let most = all.iter().map(Vec::len).max()?;
        if all.len() < 2 {
            return None;
        }
        // A rank alone gets more than its share of a full node.
        let full: Vec<_> = all.iter().filter(|ranks| 2 * ranks.len() >= most).cloned().collect();
        let mut nodes = if full.len() < 2 { all } else { full };
        nodes.truncate(nodes.len() & !1);
        let fewest = nodes.iter().map(Vec::len).min()?;
        let (count, crowd) = (nodes.len(), most as f64 / fewest as f64);
        let measuring = fewest * count;
        let node = nodes.iter().position(|ranks| ranks.contains(&rank));
        let leads = node.is_some_and(|node| node % 2 == 0);
        let partners = node.and_then(|node| {
            let place = nodes.get(node)?.iter().position(|&other| other == rank)?;
            let on = |node: usize| nodes.get(node % count)?.get(place).copied();
            on(node + 1).zip(on(node + count - 1)).filter(|_| place < fewest)
        });
        Some(Self { partners, leads, measuring, crowd })
    }
}

/// Measures the network; all processes must call this.
///
/// # Errors
/// Those of the messages.
pub fn measure<X: Exchange>(part: &Part, messages: &mut X) -> Result<Link, X::Error> {
    let start = Instant::now();
    measure_by(|_| start.elapsed(), part, messages)
}

/// The same by a clock, which may be that of an emulated network.
fn measure_by<X: Exchange>(
    clock: impl Fn(&X) -> Duration,
    part: &Part,
    messages: &mut X,
) -> Result<Link, X::Error> {
    let short = latency(&clock, part, messages)?;
    let (mut len, mut left) = (LONG, MOST);
    loop {
        let long = train(&clock, part, messages, len)?;
        left -= len * LONG_ROUNDS;
        // All ranks compute the same numbers, and so take the same next step.
        let sums = messages.sums([short, long].map(|seconds| (seconds * 1e9).round() as u64))?;
        let [latency, time] = sums.map(|ns| ns as f64 * 1e-9 / part.measuring as f64);
        let enough = ENOUGH.as_secs_f64().max(LATENCIES * latency);
        let longest = left / LONG_ROUNDS;
        if time >= enough || longest <= len {
            // If latency dominates, only a lower bound of the bandwidth is known.
            let net = (time - latency).max(time / LATENCIES).max(1e-9) * part.crowd;
            return Ok(Link { latency_us: latency * 1e6, bandwidth_mb_s: len as f64 / net * 1e-6 });
        }
        len = longest.min(len * growth(len, enough / time));
    }
}

/// How many times longer the next messages are, if those of this length must last this many times longer. The first messages tell little, because
/// they may have passed at once: after them, a large step would take long on a slow network.
fn growth(len: usize, lack: f64) -> usize {
    match lack {
        4.0.. if len > LONG => 8,
        2.0.. if len > LONG => 4,
        _ => 2,
    }
}

/// The time of a short message in seconds: half of the median time of sending and receiving one.
fn latency<X: Exchange>(
    clock: &impl Fn(&X) -> Duration,
    part: &Part,
    messages: &mut X,
) -> Result<f64, X::Error> {
    let Some(partners) = part.partners else { return Ok(0.0) };
    let mut times = Vec::new();
    for _ in 0..SHORT_ROUNDS {
        let start = clock(messages);
        in_turn(part.leads, partners, messages, |messages, partner| match partner {
            Partner::To(to) => messages.send(to, SHORT),
            Partner::From(from) => messages.receive(from, SHORT),
        })?;
        times.push(clock(messages).saturating_sub(start).as_secs_f64() / 2.0);
    }
    Ok(median(times.split_off(1)))
}

/// The time of a long message in seconds: the median time between two of several that arrive one after the other. The least would be that of a message
/// that had arrived before this rank asked for it; the greatest one at which a rank was interrupted.
fn train<X: Exchange>(
    clock: &impl Fn(&X) -> Duration,
    part: &Part,
    messages: &mut X,
    len: usize,
) -> Result<f64, X::Error> {
    let Some(partners) = part.partners else { return Ok(0.0) };
    let mut arrived = Vec::new();
    in_turn(part.leads, partners, messages, |messages, partner| {
        for _ in 0..LONG_ROUNDS {
            match partner {
                Partner::To(to) => messages.send(to, len)?,
                Partner::From(from) => {
                    messages.receive(from, len)?;
                    arrived.push(clock(messages));
                }
            }
        }
        Ok(())
    })?;
    let between = arrived.windows(2).skip(1).map(|pair| pair[1].saturating_sub(pair[0]));
    Ok(median(between.map(|time| time.as_secs_f64()).collect()))
}

/// Which partner it is.
#[derive(Clone, Copy)]
enum Partner {
    To(usize),
    From(usize),
}

/// Sends to one partner, and receives from the other, in this rank's order.
fn in_turn<X: Exchange>(
    leads: bool,
    (to, from): (usize, usize),
    messages: &mut X,
    mut with: impl FnMut(&mut X, Partner) -> Result<(), X::Error>,
) -> Result<(), X::Error> {
    let (to, from) = (Partner::To(to), Partner::From(from));
    let [first, second] = if leads { [to, from] } else { [from, to] };
    with(messages, first)?;
    with(messages, second)
}

/// The median; 0 if there are no values.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.get(values.len().saturating_sub(1) / 2..=values.len() / 2).unwrap_or(&values);
    middle.iter().sum::<f64>() / middle.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(nodes: &[i32]) -> Vec<Option<Part>> {
        (0..nodes.len()).map(|rank| Part::of(nodes, rank)).collect()
    }

    #[test]
    fn medians() {
        let medians =
            [vec![], vec![3.0], vec![4.0, 1.0], vec![9.0, 1.0, 2.0], vec![1.0, 2.0, 4.0, 9.0]].map(median);
        assert_eq!(medians, [0.0, 3.0, 2.5, 2.0, 3.0]);
    }

    #[test]
    fn ranks_of_the_same_place_are_partners() {
        let partners = |part: &Option<Part>| part.and_then(|part| part.partners);
        let even = parts(&[0, 0, 2, 2, 4, 4]);
        let expected = [Some((2, 2)), Some((3, 3)), Some((0, 0)), Some((1, 1)), None, None];
        assert_eq!(even.iter().map(partners).collect::<Vec<_>>(), expected, "an even number of nodes");
        assert!(even.iter().flatten().all(|part| (part.measuring, part.crowd) == (4, 1.0)));
        let four = parts(&[0, 1, 2, 3]);
        let expected = [(1, 3), (2, 0), (3, 1), (0, 2)].map(Some);
        assert_eq!(four.iter().map(partners).collect::<Vec<_>>(), expected);
        assert_eq!(
            four.iter().flatten().map(|part| part.leads).collect::<Vec<_>>(),
            [true, false, true, false]
        );
        let uneven = parts(&[0, 0, 0, 3]);
        assert_eq!(uneven.iter().map(partners).collect::<Vec<_>>(), [Some((3, 3)), None, None, Some((0, 0))]);
        assert!(uneven.iter().flatten().all(|part| (part.measuring, part.crowd) == (2, 3.0)));
        let alone = parts(&[0, 1, 1, 1, 4, 4]);
        let expected = [None, Some((4, 4)), Some((5, 5)), None, Some((1, 1)), Some((2, 2))];
        assert_eq!(alone.iter().map(partners).collect::<Vec<_>>(), expected);
        assert!(alone.iter().flatten().all(|part| (part.measuring, part.crowd) == (4, 1.5)));
        assert!(parts(&[0, 0]).iter().all(Option::is_none));
        assert_eq!(Part::of(&[], 0), None);
    }

    /// A network on which a rank is interrupted during one of its short exchanges.
    struct Interrupted {
        exchanges: u32,
        now: Duration,
    }

    impl Exchange for Interrupted {
        type Error = ();

        fn send(&mut self, _: usize, len: usize) -> Result<(), ()> {
            self.exchanges += 1;
            let is_long = len > SHORT || self.exchanges == 3;
            self.now += if is_long { Duration::from_millis(10) } else { Duration::from_micros(40) };
            Ok(())
        }

        fn receive(&mut self, from: usize, len: usize) -> Result<(), ()> {
            self.send(from, len)
        }

        fn sums(&mut self, numbers: [u64; 2]) -> Result<[u64; 2], ()> {
            Ok(numbers)
        }
    }

    #[test]
    fn an_interrupted_rank_is_not_taken_for_a_slow_network() {
        let part = Part { partners: Some((1, 2)), leads: true, measuring: 1, crowd: 1.0 };
        let mut messages = Interrupted { exchanges: 0, now: Duration::ZERO };
        let link = measure_by(|messages| messages.now, &part, &mut messages).unwrap();
        assert!((link.latency_us - 40.0).abs() < 1e-6, "{link:?}");
    }

    /// A network of 100 MB/s for a single process; all three ranks behave like it.
    struct Slow {
        bytes: usize,
        /// The bytes that pass at once before the link is limited to its rate.
        burst: usize,
        now: Duration,
    }

    impl Exchange for Slow {
        type Error = ();

        fn send(&mut self, to: usize, len: usize) -> Result<(), ()> {
            assert_eq!(to, 1);
            self.bytes += len;
            self.now += Duration::from_nanos(len as u64 * 10);
            Ok(())
        }

        fn receive(&mut self, from: usize, len: usize) -> Result<(), ()> {
            assert_eq!(from, 2);
            let free = len.min(self.burst);
            self.burst -= free;
            self.now += Duration::from_nanos((len - free) as u64 * 10);
            Ok(())
        }

        fn sums(&mut self, numbers: [u64; 2]) -> Result<[u64; 2], ()> {
            Ok(numbers.map(|n| n * 3))
        }
    }

    #[test]
    fn a_link_is_measured_after_its_burst() {
        let part = Part { partners: Some((1, 2)), leads: true, measuring: 3, crowd: 2.0 };
        for burst in [0, 64 << 10] {
            let mut messages = Slow { bytes: 0, burst, now: Duration::ZERO };
            let link = measure_by(|messages| messages.now, &part, &mut messages).unwrap();
            // Two ranks share what one has measured; the latency is part of the time of both lengths.
            assert!((49.9..50.1).contains(&link.bandwidth_mb_s), "{link:?} {burst}");
            assert!(messages.bytes <= MOST + SHORT * SHORT_ROUNDS as usize);
        }
    }

    #[test]
    fn what_is_sent_is_bounded_whatever_the_times() {
        /// All ranks report this time for each long message, in nanoseconds; the bytes are counted.
        struct Steady(u64, usize);
        impl Exchange for Steady {
            type Error = ();
            fn send(&mut self, _: usize, len: usize) -> Result<(), ()> {
                self.1 += len;
                Ok(())
            }
            fn receive(&mut self, _: usize, _: usize) -> Result<(), ()> {
                Ok(())
            }
            fn sums(&mut self, _: [u64; 2]) -> Result<[u64; 2], ()> {
                Ok([100, self.0])
            }
        }
        let part = Part { partners: Some((1, 2)), leads: true, measuring: 1, crowd: 1.0 };
        for micros in [0, 20, 60, 120, 190, 300, 390] {
            let mut messages = Steady(1000 * micros, 0);
            measure(&part, &mut messages).unwrap();
            let sent = messages.1 - SHORT * SHORT_ROUNDS as usize;
            // Only messages that are too short show nothing; then more is sent.
            assert!((MOST / 2..=MOST).contains(&sent), "{micros} {sent}");
        }
    }

    #[test]
    fn who_has_no_partner_hears_of_it() {
        /// The sums are the measurements of the others: a round takes a millisecond.
        struct Heard;
        impl Exchange for Heard {
            type Error = ();
            fn send(&mut self, _: usize, _: usize) -> Result<(), ()> {
                Err(())
            }
            fn receive(&mut self, _: usize, _: usize) -> Result<(), ()> {
                Err(())
            }
            fn sums(&mut self, numbers: [u64; 2]) -> Result<[u64; 2], ()> {
                assert_eq!(numbers, [0, 0]);
                Ok([20_000, 2_020_000])
            }
        }
        let part = Part { partners: None, leads: true, measuring: 2, crowd: 4.0 };
        let link = measure(&part, &mut Heard).unwrap();
        assert!((link.latency_us - 10.0).abs() < 1e-6, "{link:?}");
        // A millisecond, in which four ranks of the node would send.
        assert!((link.bandwidth_mb_s - LONG as f64 * 1e-6 / 4e-3).abs() < 1e-6, "{link:?}");
    }
}
