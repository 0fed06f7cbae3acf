//! Estimates the bandwidth of the network from observations.
//!
//! They show bounds. Chunks of long messages that a rank waits for arrive as fast as network and processor allow (C. Dovrolis,
//! P. Ramanathan and D. Moore, *What do packet dispersion techniques measure?*, 2001): the bounds are their rates with and without the rank's own coding
//! meanwhile, which are close on a slow network. For other messages, bytes over the whole time is a lower bound. Bytes over the time a rank waited is an
//! upper bound, because the rank may also have waited for other ranks.

use crate::link::Link;
use alloc::boxed::Box;

/// If bytes take this many times longer to arrive than to send, they show how fast the network is: the work of the sender before it starts them is
/// not the cause. Its computation after that can be, if its MPI moves messages only inside calls and buffers do not hold them.
const SLOWER: f64 = 1.5;
/// The number of transfers in an estimate of the bandwidth, and the number from which on they are used.
const LATEST: usize = 16;
const ENOUGH: usize = 8;
/// This many of the fastest transfers may be outliers; the next one is used.
const LUCKY: usize = 3;
/// The same for trains that show the bandwidth. Some are faster than a rank's share, because other ranks do not send at that moment. Others are
/// slower, because this rank is interrupted.
const LUCKY_TRAINS: usize = 5;
/// Trains whose bounds differ by less than this factor are more accurate than other messages, which are then ignored.
const CLOSE: f64 = 2.0;
/// If the other side is late, a rank is assumed to wait at most this many times longer for a message than the network needs. The fourth shortest of
/// sixteen waits is used.
const LATE: f64 = 4.0;

/// The latest transfers.
#[derive(Clone, Copy, Debug, Default)]
struct Transfers {
    /// Numbers of bytes, and the nanoseconds that they took.
    latest: [(f64, f64); LATEST],
    seen: usize,
}

impl Transfers {
    fn add(&mut self, bytes: usize, ns: f64) {
        self.latest[self.seen % LATEST] = (bytes as f64, ns);
        self.seen += 1;
    }

    /// The bandwidth of the fastest transfer after the first `lucky`, in MB/s, if there are enough.
    fn fastest(&self, lucky: usize) -> Option<f64> {
        let mut all = self.latest.map(rate);
        all.sort_unstable_by(|a, b| b.total_cmp(a));
        (self.seen >= ENOUGH).then_some(all[lucky])
    }

    /// The bandwidth of all transfers together, in MB/s. A single one would be misleading: the program may have received in a moment the messages
    /// that arrived while it computed.
    fn together(&self) -> f64 {
        rate(self.latest.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1)))
    }
}

/// Bytes over nanoseconds, in MB/s.
fn rate((bytes, ns): (f64, f64)) -> f64 {
    bytes * 1e3 / ns.max(1.0)
}

/// A link, and its observed transfers, which are stored elsewhere because a decision needs only the link.
#[derive(Clone, Debug)]
pub(crate) struct Observed {
    /// The current estimate.
    pub(crate) link: Link,
    transfers: Box<Observations>,
}

#[derive(Clone, Debug, Default)]
struct Observations {
    /// Trains that took longer to arrive than to send, by their time with and without coding: both bounds of the bandwidth.
    with_coding: Transfers,
    without: Transfers,
    /// The other trains, which show only a lower bound.
    least: Transfers,
    /// Transfers by the waiting time, and by the total time.
    waits: Transfers,
    passages: Transfers,
    /// The number of further passages that are ignored, because trains have shown the bandwidth.
    shown: usize,
}

impl Observed {
    pub(crate) fn new(link: Link) -> Self {
        Self { link, transfers: Box::default() }
    }

    /// Records a train: `bytes` bytes that arrived within `ns` nanoseconds, in which the rank only waited for them or spent `coding_ns` coding, and were
    /// sent within `sent_ns`. The bandwidth is between bytes over `ns` and bytes over the time waited: on a slow network the two are almost equal, on a
    /// fast one the processor may be what is slow. The sixth fastest of the latest sixteen counts, so a slower network is detected after eleven trains, a
    /// faster one after six.
    pub(crate) fn arrived(&mut self, bytes: usize, (ns, coding_ns): (f64, f64), sent_ns: f64) {
        if bytes == 0 || ns.is_nan() || ns <= 0.0 || sent_ns.is_nan() || sent_ns < 0.0 {
            return;
        }
        let waited_ns = (ns - coding_ns.max(0.0)).max(0.0);
        let (all, believed) = (&mut *self.transfers, self.link.bandwidth_mb_s);
        let (shown, is_exact) = if waited_ns < SLOWER * sent_ns {
            all.least.add(bytes, ns);
            // This train shows no more than its own rate: the earlier ones may be from when the network was faster.
            let least = all.least.fastest(LUCKY).map(|mb_s| mb_s.min(rate((bytes as f64, ns))));
            if least.is_some_and(|mb_s| mb_s > believed) {
                // Slower trains are out of date.
                (all.with_coding, all.without) = Default::default();
            }
            (least.filter(|&mb_s| mb_s >= believed), true)
        } else {
            all.with_coding.add(bytes, ns);
            all.without.add(bytes, waited_ns);
            let bounds = all.with_coding.fastest(LUCKY_TRAINS).zip(all.without.fastest(LUCKY_TRAINS));
            let is_exact = bounds.is_some_and(|(least, most)| most < CLOSE * least);
            (bounds.map(|(least, most)| believed.clamp(least, most)), is_exact)
        };
        if let Some(mb_s) = shown {
            if is_exact {
                all.shown = LATEST;
            }
            self.believe(mb_s);
        }
    }

    /// Records that `bytes` bytes were transferred in the elapsed time, and that the rank waited this long for the network, and perhaps for other
    /// ranks.
    pub(crate) fn passed(&mut self, bytes: usize, waited_ns: f64, elapsed_ns: f64) {
        if bytes == 0 || waited_ns.is_nan() || elapsed_ns.is_nan() || elapsed_ns <= 0.0 {
            return;
        }
        let all = &mut *self.transfers;
        all.waits.add(bytes, waited_ns);
        all.passages.add(bytes, elapsed_ns);
        all.shown = all.shown.saturating_sub(1);
        // What trains have shown is more accurate, and passages before them are out of date.
        if let Some(waits) = all.waits.fastest(LUCKY).filter(|_| all.shown == 0) {
            let least = all.passages.together();
            self.believe(self.link.bandwidth_mb_s.clamp(least, least.max(waits * LATE)));
        }
    }

    fn believe(&mut self, bandwidth_mb_s: f64) {
        let now = Link { bandwidth_mb_s, ..self.link };
        if now.is_sane() {
            self.link = now;
        }
    }
}
