//! The bandwidth of the network, as it is observed.
//!
//! Chunks of long messages tell which time was the network's: C. Dovrolis, P. Ramanathan and D. Moore, *What do packet dispersion techniques measure?*,
//! 2001. Of other messages only bounds are known: bytes over all of the time from below, and over the time a rank waited from above, as it may have waited
//! for other ranks, too.

use crate::link::{Link, is_bandwidth};

/// Bytes that take this many times longer to come than to be sent show how fast the network is: what the sender does before it starts them is not the
/// reason. What it computes after that can be, where its MPI moves messages only inside calls and buffers do not hold them.
const SLOWER: f64 = 1.5;
/// The number of samples in an estimate of the bandwidth, and the number from which on they are used.
const SAMPLES: usize = 16;
const ENOUGH: usize = 8;
/// The fastest samples, this many, may be outliers; the next one is used.
const LUCKY: usize = 3;
/// The same of trains that show the bandwidth. Some are faster than a rank's share, since other ranks do not send at that moment, and others slower,
/// since this rank is interrupted.
const LUCKY_TRAINS: usize = 5;
/// If the other side is late, a rank waits at most this many times longer for a message than the network needs: this is assumed for the fourth
/// shortest of sixteen waits.
const LATE: f64 = 4.0;

/// The latest observed bandwidths, in MB/s.
#[derive(Clone, Copy, Debug, Default)]
struct Samples {
    latest: [f64; SAMPLES],
    seen: usize,
}

impl Samples {
    /// Adds a sample; returns the bandwidth estimated from the latest ones, if there are enough.
    fn add(&mut self, mb_s: f64, lucky: usize) -> Option<f64> {
        self.latest[self.seen % SAMPLES] = mb_s;
        self.seen += 1;
        let mut samples = self.latest;
        let known = &mut samples[..self.seen.min(SAMPLES)];
        known.sort_unstable_by(|a, b| b.total_cmp(a));
        known.get(lucky).copied().filter(|_| self.seen >= ENOUGH)
    }
}

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

/// A link, and the observations of transfers over it.
#[derive(Clone, Debug)]
pub(crate) struct Observed {
    link: Link,
    /// Trains that took longer to come than to be sent, and others, which show only that the bandwidth is not less.
    exact: Samples,
    least: Samples,
    /// What the last train that showed the bandwidth has told, and the number of passages since; `None` if there was none.
    told: Option<(f64, u32)>,
    /// Bandwidths by the waiting time, and by the total time.
    waits: Samples,
    passages: Passages,
}

impl Observed {
    pub(crate) fn new(link: Link) -> Self {
        let (exact, least, told, waits, passages) = Default::default();
        Self { link, exact, least, told, waits, passages }
    }

    /// The current estimate.
    #[inline]
    pub(crate) fn link(&self) -> &Link {
        &self.link
    }

    /// Records a train: `bytes` bytes that came within `ns` nanoseconds, while the rank only waited for them, and were sent within `sent_ns`. The sixth
    /// fastest of the latest sixteen is believed, so a network that gets slower is detected after eleven, one that gets faster after six.
    pub(crate) fn came(&mut self, bytes: usize, ns: f64, sent_ns: f64) {
        let mb_s = bytes as f64 * 1e3 / ns;
        if bytes == 0 || ns.is_nan() || ns <= 0.0 || sent_ns.is_nan() || sent_ns < 0.0 || !is_bandwidth(mb_s)
        {
            return;
        }
        if ns < SLOWER * sent_ns {
            let faster = self.least.add(mb_s, LUCKY).filter(|&least| least > self.link.bandwidth_mb_s);
            if let Some(mb_s) = faster {
                // Trains that were slower are of the past.
                self.exact = Samples::default();
                self.believe(mb_s);
            }
        } else if let Some(mb_s) = self.exact.add(mb_s, LUCKY_TRAINS) {
            if self.told.is_some_and(|(earlier, _)| mb_s < earlier) {
                self.passages.slow_down(mb_s);
            }
            self.told = Some((mb_s, 0));
            self.believe(mb_s);
        }
    }

    /// Records that `bytes` bytes were transferred in the elapsed time, and that the rank waited this long: for the network, and perhaps for other
    /// ranks.
    pub(crate) fn passed(&mut self, bytes: usize, waited_ns: f64, elapsed_ns: f64) {
        if bytes == 0 || waited_ns.is_nan() || elapsed_ns.is_nan() || elapsed_ns <= 0.0 {
            return;
        }
        let waits = self.waits.add(bytes as f64 * 1e3 / waited_ns.max(1.0), LUCKY);
        let least = self.passages.add(bytes as f64, elapsed_ns);
        self.told = self.told.map(|(mb_s, passages)| (mb_s, passages.saturating_add(1)));
        let Some(waits) = waits else { return };
        // What the last trains have shown is known better.
        let is_shown = self.told.is_some_and(|(_, passages)| passages <= SAMPLES as u32);
        let most = if is_shown { f64::INFINITY } else { least.max(waits * LATE) };
        self.believe(self.link.bandwidth_mb_s.clamp(least, most));
    }

    fn believe(&mut self, bandwidth_mb_s: f64) {
        let now = Link { bandwidth_mb_s, ..self.link };
        if now.is_sane() {
            self.link = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIGABIT: Link = Link { latency_us: 20.0, bandwidth_mb_s: 120.0 };

    #[test]
    fn a_change_shows_and_interruptions_do_not() {
        let mut link = Observed::new(GIGABIT);
        let time = |mb_s: f64| 1e6 * 1e3 / mb_s;
        for at in 0..64 {
            link.came(1_000_000, if at % 2 == 0 { time(110.0) } else { time(30.0) }, 1e6);
            link.passed(1_000_000, time(110.0), time(110.0));
        }
        assert!((link.link().bandwidth_mb_s - 110.0).abs() < 1e-6, "{link:?}");
        let slower = (1..100).find(|_| {
            link.came(1_000_000, time(11.0), 0.0);
            link.link().bandwidth_mb_s < 12.0
        });
        assert!(slower.is_some_and(|samples| samples <= 16), "{slower:?}");
        // What passed before the change is no bound after it.
        link.passed(1_000_000, time(11.0), time(11.0));
        assert!(link.link().bandwidth_mb_s < 12.0, "{link:?}");
        let faster = (1..100).find(|_| {
            link.came(1_000_000, time(110.0), 0.0);
            link.link().bandwidth_mb_s > 100.0
        });
        assert_eq!(faster, Some(6));
    }

    #[test]
    fn a_sender_that_takes_its_time_is_no_slow_network() {
        let mut link = Observed::new(GIGABIT);
        // The network takes 8.3 ms for what is sent within 100 or 4 ms.
        (0..64).for_each(|_| link.came(1_000_000, 100e6, 100e6));
        assert_eq!(link.link().bandwidth_mb_s, 120.0);
        (0..64).for_each(|_| link.came(1_000_000, 4e6, 4e6));
        assert!((link.link().bandwidth_mb_s - 250.0).abs() < 1e-6, "but it is at least this fast");
    }

    #[test]
    fn late_partners_do_not_hide_what_trains_have_shown() {
        let mut link = Observed::new(GIGABIT);
        for _ in 0..64 {
            link.came(4 << 20, 4.2e6, 0.0);
            // All the time the partner was 100 ms late.
            link.passed(4 << 20, 104e6, 104e6);
        }
        assert!((link.link().bandwidth_mb_s - 998.6).abs() < 1.0, "{link:?}");
        // Without trains only the bound remains.
        (0..SAMPLES + 1).for_each(|_| link.passed(4 << 20, 104e6, 104e6));
        assert!(link.link().bandwidth_mb_s < 200.0, "{link:?}");
    }

    #[test]
    fn old_trains_do_not_come_back() {
        let mut link = Observed::new(GIGABIT);
        (0..SAMPLES).for_each(|_| link.came(1_000_000, 10e6, 0.0));
        assert!((link.link().bandwidth_mb_s - 100.0).abs() < 1e-6);
        (0..SAMPLES).for_each(|_| link.came(1_000_000, 1e6, 1e6));
        link.came(1_000_000, 2e6, 0.0);
        assert!((link.link().bandwidth_mb_s - 1000.0).abs() < 1e-6, "{link:?}");
    }

    #[test]
    fn what_passed_says_what_a_network_has_at_least_and_at_most() {
        let mut link = Observed::new(GIGABIT);
        let mut after = |waited: f64, elapsed: f64| {
            (0..SAMPLES).for_each(|_| link.passed(1_000_000, 1e9 / waited, 1e9 / elapsed));
            link.link().bandwidth_mb_s
        };
        assert_eq!(after(40.0, 10.0), 120.0, "others may have been late");
        assert_eq!(after(20.0, 10.0), 80.0, "but not as late as that");
        assert_eq!(after(1e6, 30.0), 80.0, "what arrives while the rank computes says nothing of its speed");
        assert!((after(1000.0, 1000.0) - 1000.0).abs() < 1e-6);
    }

    #[test]
    fn a_burst_of_messages_that_were_there_already_is_no_bandwidth() {
        let mut link = Observed::new(GIGABIT);
        for phase in 0..64 {
            // The first of a phase took the time of the phase, the others only that of receiving them.
            link.passed(4 << 20, 1e3, if phase % 4 == 0 { 400e6 } else { 10e6 });
        }
        assert_eq!(link.link().bandwidth_mb_s, 120.0);
    }

    #[test]
    fn nonsense_is_not_believed() {
        let mut link = Observed::new(GIGABIT);
        for (bytes, ns) in
            [(0, 1e9), (1_000_000, 0.0), (1_000_000, f64::NAN), (1, f64::INFINITY), (usize::MAX, 20_001.0)]
        {
            for _ in 0..20 {
                link.came(bytes, ns, 0.0);
                link.came(bytes, ns, f64::NAN);
                link.came(bytes, 1e3, ns);
                link.passed(bytes, ns, ns);
                link.passed(bytes, 0.0, ns);
                assert!(link.link().is_sane(), "{bytes} {ns}");
            }
        }
    }
}
