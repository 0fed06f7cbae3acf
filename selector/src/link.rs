//! The knowledge of links to other processes: latency and effective bandwidth.

use crate::nodes::Nodes;
use crate::trains::{LUCKY, SAMPLES, Samples, Train};

/// The maximum number of peer classes.
pub const PEER_CLASSES: usize = 4;

/// The class of processes that are reached over the same kind of link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerClass(u8);

impl PeerClass {
    /// Processes on the same node.
    pub const SAME_NODE: Self = Self(0);
    /// Processes on other nodes.
    pub const NETWORK: Self = Self(1);

    /// The class with this number, if it exists.
    #[must_use]
    pub const fn new(number: u8) -> Option<Self> {
        if (number as usize) < PEER_CLASSES { Some(Self(number)) } else { None }
    }

    /// All classes.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..PEER_CLASSES as u8).map(Self)
    }

    /// Its number, below [`PEER_CLASSES`].
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// A short name for files and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        ["same-node", "network", "network-2", "network-3"][self.index()]
    }
}

/// Where a message goes, or where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The class of the process.
    pub class: PeerClass,
    /// A number of its node, if that is known: nodes that are unlike most of their class have an estimate of their own.
    pub node: Option<u32>,
}

impl From<PeerClass> for Peer {
    fn from(class: PeerClass) -> Self {
        Self { class, node: None }
    }
}

/// The link to a class of processes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Link {
    /// The fixed time of a message in microseconds.
    pub latency_us: f64,
    /// The bandwidth of one rank while the ranks around it send too, in MB/s (10^6 bytes a second).
    pub bandwidth_mb_s: f64,
}

impl Link {
    /// Nanoseconds until this number of bytes has arrived.
    #[inline]
    #[must_use]
    pub fn time_ns(&self, bytes: f64) -> f64 {
        self.latency_us * 1e3 + bytes * 1e3 / self.bandwidth_mb_s
    }

    /// Whether both values are plausible for a network.
    #[must_use]
    pub fn is_sane(&self) -> bool {
        (0.0..1e7).contains(&self.latency_us) && is_bandwidth(self.bandwidth_mb_s)
    }
}

/// Whether a network may have this bandwidth, in MB/s.
pub(crate) fn is_bandwidth(mb_s: f64) -> bool {
    (1e-3..1e7).contains(&mb_s)
}

/// If the other side is late, a rank waits at most this many times longer for a message than the network needs: this is assumed for the fourth
/// shortest of sixteen waits.
const LATE: f64 = 4.0;

/// The bandwidth that the waits suggest, after they have refuted what was believed. Ranks may also have been late: tests tell.
#[derive(Clone, Copy, Debug)]
struct Suspicion {
    mb_s: f64,
    /// The number of tests that are still to be sent.
    tests: u32,
    /// The number of passages since.
    age: u32,
}

/// The number of messages that test a suspicion: they are sent raw in chunks, and their trains show the bandwidth, from the eighth on. Some do not,
/// as their receiver computes meanwhile.
const TESTS: u32 = 24;
/// The next suspicion must be less by this factor, or this number of passages must lie between. So a program whose ranks are always late has few tests.
const WORSE: f64 = 2.0;
const AGED: u32 = 256;

/// The latest transfers, with the total time.
#[derive(Clone, Copy, Debug, Default)]
struct Passages {
    /// Numbers of bytes, and the nanoseconds that they took.
    latest: [(f64, f64); SAMPLES],
    seen: usize,
}

impl Passages {
    /// Adds a transfer; returns the bandwidth of all the latest ones together, in MB/s. A single one would be misleading: the program may have
    /// received in a moment the messages that arrived while it computed.
    fn add(&mut self, bytes: f64, ns: f64) -> f64 {
        self.latest[self.seen % SAMPLES] = (bytes, ns);
        self.seen += 1;
        let (bytes, ns) = self.latest.iter().fold((0.0, 0.0), |sum, (bytes, ns)| (sum.0 + bytes, sum.1 + ns));
        bytes * 1e3 / ns
    }

    /// The network has become as slow as this: what passed faster is of the past.
    fn slow_down(&mut self, mb_s: f64) {
        self.latest.iter_mut().for_each(|(bytes, ns)| *ns = ns.max(*bytes * 1e3 / mb_s));
    }
}

/// The number of handovers in an estimate; the fourth least is used, where those that are missing count as 0. The first message in chunks touches new
/// memory, and the rank may be interrupted.
const HANDOVERS: usize = 8;

/// The latest times, in nanoseconds per byte, to hand over chunks to the network; 0 at the beginning.
#[derive(Clone, Copy, Debug, Default)]
struct Handovers {
    latest: [f64; HANDOVERS],
    seen: usize,
    usual: f64,
}

impl Handovers {
    fn add(&mut self, ns: f64) {
        self.latest[self.seen % HANDOVERS] = ns;
        self.seen += 1;
        let mut samples = self.latest;
        samples.sort_unstable_by(f64::total_cmp);
        self.usual = samples[HANDOVERS / 2 - 1];
    }
}

/// A link, and the observations of transfers over it.
///
/// Chunks of long messages tell which time was the network's ([`Trains`](crate::trains::Trains)). For other messages only bounds are known: a
/// transfer takes at least as long as the network needs, so the fourth fastest of sixteen is close to it, and up to twelve disturbed ones do no harm.
#[derive(Clone, Debug)]
pub(crate) struct Observed {
    link: Link,
    /// The bandwidths by trains.
    nodes: Nodes,
    /// What the last train that showed the bandwidth has told, and the number of passages since; `None` if there was none.
    told: Option<(f64, u32)>,
    /// Bandwidths by the waiting time, and by the total time.
    waits: Samples,
    passages: Passages,
    handovers: Handovers,
    suspicion: Option<Suspicion>,
}

impl Observed {
    pub(crate) fn new(link: Link) -> Self {
        let (nodes, told, waits, passages, handovers, suspicion) = Default::default();
        Self { link, nodes, told, waits, passages, handovers, suspicion }
    }

    /// The current estimate.
    #[inline]
    pub(crate) fn link(&self) -> &Link {
        &self.link
    }

    /// The nanoseconds to hand over a byte of a message in chunks; 0 after few observations.
    #[inline]
    pub(crate) fn handover_ns(&self) -> f64 {
        self.handovers.usual
    }

    /// Records that handing over this number of bytes in chunks took this long.
    pub(crate) fn handed_over(&mut self, bytes: usize, ns: f64) {
        if bytes > 0 && (0.0..1e12).contains(&ns) {
            self.handovers.add(ns / bytes as f64);
        }
    }

    /// The link to this node, if it is unlike that to most.
    #[inline]
    pub(crate) fn own(&self, node: Option<u32>) -> Option<Link> {
        self.nodes.own(node).map(|bandwidth_mb_s| Link { bandwidth_mb_s, ..self.link })
    }

    /// Whether there are tests of the network to be sent.
    #[inline]
    pub(crate) fn is_suspected(&self) -> bool {
        self.suspicion.is_some_and(|suspicion| suspicion.tests > 0)
    }

    /// Whether the next long message should be a test of the network.
    pub(crate) fn test(&mut self) -> bool {
        let suspicion = self.suspicion.as_mut().filter(|suspicion| suspicion.tests > 0);
        suspicion.map(|suspicion| suspicion.tests -= 1).is_some()
    }

    /// The bandwidths of all nodes that are unlike most, in MB/s.
    pub(crate) fn unlike(&self) -> impl Iterator<Item = f64> + '_ {
        self.nodes.unlike()
    }

    /// Records a train from a node, or from several. Returns the factor by which the estimated bandwidth has changed.
    pub(crate) fn came(&mut self, node: Option<u32>, train: Train) -> f64 {
        let Some(mb_s) = self.nodes.add(node, train, self.link.bandwidth_mb_s) else { return 1.0 };
        if train.is_exact() {
            if self.told.is_some_and(|(earlier, _)| mb_s < earlier) {
                self.passages.slow_down(mb_s);
            }
            self.told = Some((mb_s, 0));
            if let Some(suspicion) = &mut self.suspicion {
                suspicion.tests = 0;
            }
        }
        self.believe(mb_s)
    }

    /// Records that `bytes` bytes were transferred in the elapsed time, and that the rank waited this long: for the network, and perhaps for other
    /// ranks. Returns the same factor.
    pub(crate) fn passed(&mut self, bytes: usize, waited_ns: f64, elapsed_ns: f64) -> f64 {
        if bytes == 0 || waited_ns.is_nan() || elapsed_ns.is_nan() || elapsed_ns <= 0.0 {
            return 1.0;
        }
        let waits = self.waits.add(bytes as f64 * 1e3 / waited_ns.max(1.0), LUCKY);
        let least = self.passages.add(bytes as f64, elapsed_ns);
        if let Some(suspicion) = &mut self.suspicion {
            suspicion.age = suspicion.age.saturating_add(1);
        }
        self.told = self.told.map(|(mb_s, passages)| (mb_s, passages.saturating_add(1)));
        // What the last trains have shown is known better.
        let is_shown = self.told.is_some_and(|(_, passages)| passages <= SAMPLES as u32);
        if !is_shown {
            self.nodes.doubt();
        } else if self.unlike().next().is_some() {
            // What passed came from nodes of either sort.
            return 1.0;
        }
        let Some(waits) = waits else { return 1.0 };
        let most = if is_shown { f64::INFINITY } else { least.max(waits * LATE) };
        if most < self.link.bandwidth_mb_s {
            self.suspect(least.max(waits));
        }
        self.believe(self.link.bandwidth_mb_s.clamp(least, most))
    }

    fn suspect(&mut self, mb_s: f64) {
        let is_new = |earlier: Suspicion| mb_s * WORSE <= earlier.mb_s || earlier.age >= AGED;
        if is_bandwidth(mb_s) && self.suspicion.is_none_or(is_new) {
            self.suspicion = Some(Suspicion { mb_s, tests: TESTS, age: 0 });
        }
    }

    fn believe(&mut self, bandwidth_mb_s: f64) -> f64 {
        let before = self.link.bandwidth_mb_s;
        let now = Link { bandwidth_mb_s, ..self.link };
        if now.is_sane() {
            self.link = now;
        }
        self.link.bandwidth_mb_s / before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIGABIT: Link = Link { latency_us: 20.0, bandwidth_mb_s: 120.0 };

    fn came(link: &mut Observed, bytes: usize, ns: f64, sent_ns: f64) {
        if let Some(train) = Train::new(bytes, ns, sent_ns) {
            link.came(Some(1), train);
        }
    }

    #[test]
    fn a_change_shows_and_interruptions_do_not() {
        let mut link = Observed::new(GIGABIT);
        let time = |mb_s: f64| 1e6 * 1e3 / mb_s;
        for at in 0..64 {
            came(&mut link, 1_000_000, if at % 2 == 0 { time(110.0) } else { time(30.0) }, 1e6);
            link.passed(1_000_000, time(110.0), time(110.0));
        }
        assert!((link.link().bandwidth_mb_s - 110.0).abs() < 1e-6, "{link:?}");
        let slower = (1..100).find(|_| {
            came(&mut link, 1_000_000, time(11.0), 0.0);
            link.link().bandwidth_mb_s < 12.0
        });
        assert!(slower.is_some_and(|samples| samples <= 16), "{slower:?}");
        // What passed before the change is no bound after it.
        link.passed(1_000_000, time(11.0), time(11.0));
        assert!(link.link().bandwidth_mb_s < 12.0, "{link:?}");
        let faster = (1..100).find(|_| {
            came(&mut link, 1_000_000, time(110.0), 0.0);
            link.link().bandwidth_mb_s > 100.0
        });
        assert_eq!(faster, Some(6));
    }

    #[test]
    fn a_sender_that_takes_its_time_is_no_slow_network() {
        let mut link = Observed::new(GIGABIT);
        // The network takes 8.3 ms for what is sent within 100 or 4 ms.
        for _ in 0..64 {
            came(&mut link, 1_000_000, 100e6, 100e6);
        }
        assert_eq!(link.link().bandwidth_mb_s, 120.0);
        for _ in 0..64 {
            came(&mut link, 1_000_000, 4e6, 4e6);
        }
        assert!((link.link().bandwidth_mb_s - 250.0).abs() < 1e-6, "but it is at least this fast");
    }

    #[test]
    fn late_partners_do_not_hide_what_trains_have_shown() {
        let mut link = Observed::new(GIGABIT);
        for _ in 0..64 {
            came(&mut link, 4 << 20, 4.2e6, 0.0);
            // All the time the partner was 100 ms late.
            link.passed(4 << 20, 104e6, 104e6);
        }
        assert!((link.link().bandwidth_mb_s - 998.6).abs() < 1.0, "{link:?}");
        // Without trains only the bound remains.
        (0..SAMPLES + 1).for_each(|_| _ = link.passed(4 << 20, 104e6, 104e6));
        assert!(link.link().bandwidth_mb_s < 200.0, "{link:?}");
    }

    #[test]
    fn old_trains_do_not_come_back() {
        let mut link = Observed::new(GIGABIT);
        (0..SAMPLES).for_each(|_| came(&mut link, 1_000_000, 10e6, 0.0));
        assert!((link.link().bandwidth_mb_s - 100.0).abs() < 1e-6);
        (0..SAMPLES).for_each(|_| came(&mut link, 1_000_000, 1e6, 1e6));
        came(&mut link, 1_000_000, 2e6, 0.0);
        assert!((link.link().bandwidth_mb_s - 1000.0).abs() < 1e-6, "{link:?}");
    }

    #[test]
    fn what_passed_says_what_a_network_has_at_least_and_at_most() {
        let mut link = Observed::new(GIGABIT);
        let mut after = |waited: f64, elapsed: f64| {
            (0..SAMPLES).for_each(|_| {
                link.passed(1_000_000, 1e9 / waited, 1e9 / elapsed);
            });
            link.link().bandwidth_mb_s
        };
        assert_eq!(after(40.0, 10.0), 120.0, "others may have been late");
        assert_eq!(after(20.0, 10.0), 80.0, "but not as late as that");
        assert_eq!(
            after(1e6, 30.0),
            80.0,
            "messages that arrive while the rank computes say nothing of their speed"
        );
        assert!((after(1000.0, 1000.0) - 1000.0).abs() < 1e-6);
    }

    #[test]
    fn what_is_refuted_is_tested_until_trains_show_the_bandwidth() {
        let mut link = Observed::new(Link { bandwidth_mb_s: 1250.0, ..GIGABIT });
        let tests = |link: &mut Observed| (0..100).filter(|_| link.test()).count();
        let pass = |link: &mut Observed, mb_s: f64| {
            (0..SAMPLES).for_each(|_| _ = link.passed(1_000_000, 1e9 / mb_s, 1e9 / 50.0));
        };
        pass(&mut link, 400.0);
        assert_eq!(tests(&mut link), 0, "{link:?}");
        pass(&mut link, 100.0);
        assert_eq!(link.link().bandwidth_mb_s, 400.0);
        assert_eq!(tests(&mut link), 24);
        pass(&mut link, 80.0);
        assert_eq!(tests(&mut link), 0, "a little slower is nothing new");
        pass(&mut link, 40.0);
        assert!(link.test());
        (0..SAMPLES).for_each(|_| came(&mut link, 1_000_000, 1e6 * 1e3 / 1000.0, 0.0));
        assert_eq!(tests(&mut link), 0);
        // Ranks that are always late refute again and again what trains show.
        let late = (0..200).map(|_| {
            (0..2).for_each(|_| pass(&mut link, 40.0));
            let count = tests(&mut link);
            (0..SAMPLES).for_each(|_| came(&mut link, 1_000_000, 1e6 * 1e3 / 1000.0, 0.0));
            count
        });
        assert_eq!(late.sum::<usize>(), 24 * (200 * 2 * SAMPLES / 256 - 1));
    }

    #[test]
    fn a_burst_of_messages_that_were_there_already_is_no_bandwidth() {
        let mut link = Observed::new(GIGABIT);
        for phase in 0..64 {
            // The first of a phase took the time of the phase, the others only that of receiving them.
            let elapsed = if phase % 4 == 0 { 400e6 } else { 10e6 };
            link.passed(4 << 20, 1e3, elapsed);
        }
        assert_eq!(link.link().bandwidth_mb_s, 120.0);
    }

    #[test]
    fn a_handover_is_learned_from_several() {
        let mut link = Observed::new(GIGABIT);
        for ns in [2e6, 2e6, f64::NAN, 2e6, -1.0, f64::INFINITY, 2e6] {
            link.handed_over(1_000_000, ns);
        }
        link.handed_over(0, 1e6);
        assert_eq!(link.handover_ns(), 0.0, "four are not enough");
        link.handed_over(1_000_000, 1e6);
        assert_eq!(link.handover_ns(), 1.0);
        (0..16).for_each(|at| link.handed_over(1_000_000, if at % 3 == 0 { 9e6 } else { 3e6 }));
        assert_eq!(link.handover_ns(), 3.0);
    }

    #[test]
    fn nonsense_is_not_believed() {
        let mut link = Observed::new(GIGABIT);
        for (bytes, ns) in
            [(0, 1e9), (1_000_000, 0.0), (1_000_000, f64::NAN), (1, f64::INFINITY), (usize::MAX, 20_001.0)]
        {
            for _ in 0..20 {
                came(&mut link, bytes, ns, 0.0);
                came(&mut link, bytes, ns, f64::NAN);
                came(&mut link, bytes, 1e3, ns);
                link.passed(bytes, ns, ns);
                link.passed(bytes, 0.0, ns);
                assert!(link.link().is_sane(), "{bytes} {ns}");
            }
        }
    }
}
