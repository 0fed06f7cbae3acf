//! What packet trains show of the bandwidth to a node: C. Dovrolis, P. Ramanathan and D. Moore, *What do packet dispersion techniques measure?*, 2001.

/// Bytes that take this many times longer to come than to be sent show how fast the network is: what the sender does before it starts them is not the
/// reason. What it computes after that can be, where its MPI moves messages only inside calls and buffers do not hold them.
const SLOWER: f64 = 1.5;
/// The number of samples in an estimate of the bandwidth.
pub(crate) const SAMPLES: usize = 16;
/// The fastest samples, this many, may be outliers; the next one is used.
pub(crate) const LUCKY: usize = 3;
/// The same of trains that show the bandwidth. Some are faster than a rank's share, since other ranks do not send at that moment, and others slower,
/// since this rank is interrupted.
const LUCKY_TRAINS: usize = 5;
/// Observations are used from this number of samples on.
const ENOUGH: usize = 8;

/// The latest observed bandwidths, in MB/s.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Samples {
    latest: [f64; SAMPLES],
    seen: usize,
}

impl Samples {
    /// Adds a sample; returns the bandwidth estimated from the latest ones, if there are enough.
    pub(crate) fn add(&mut self, mb_s: f64, lucky: usize) -> Option<f64> {
        self.latest[self.seen % SAMPLES] = mb_s;
        self.seen += 1;
        let mut samples = self.latest;
        let known = &mut samples[..self.seen.min(SAMPLES)];
        known.sort_unstable_by(|a, b| b.total_cmp(a));
        known.get(lucky).copied().filter(|_| self.seen >= ENOUGH)
    }
}

/// Bytes that came one after another, while a process only waited for them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Train {
    mb_s: f64,
    /// Whether this is the bandwidth, or only not more than it.
    is_exact: bool,
}

impl Train {
    /// `bytes` bytes that came within `ns` nanoseconds and were sent within `sent_ns`; `None` if no network is like that.
    pub(crate) fn new(bytes: usize, ns: f64, sent_ns: f64) -> Option<Self> {
        let mb_s = bytes as f64 * 1e3 / ns;
        let is_sane = bytes > 0 && ns > 0.0 && sent_ns >= 0.0 && crate::link::is_bandwidth(mb_s);
        is_sane.then_some(Self { mb_s, is_exact: ns >= SLOWER * sent_ns })
    }

    pub(crate) fn is_exact(&self) -> bool {
        self.is_exact
    }
}

/// The latest trains from one node.
///
/// A train takes at least as long as the network needs. The sixth fastest of the latest sixteen is used, so a network that gets slower is
/// detected after eleven, one that gets faster after six.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trains {
    /// Those that took longer to come than to be sent, and others, which show only that the bandwidth is not less.
    exact: Samples,
    least: Samples,
    mb_s: Option<f64>,
}

impl Trains {
    /// Adds a train. `believed`: the bandwidth if there is no estimate yet. Returns whether there is a new estimate.
    pub(crate) fn add(&mut self, train: Train, believed: f64) -> bool {
        let new = if train.is_exact {
            self.exact.add(train.mb_s, LUCKY_TRAINS)
        } else {
            let least = self.least.add(train.mb_s, LUCKY);
            let faster = least.filter(|&least| least > self.mb_s.unwrap_or(believed));
            if faster.is_some() {
                // Trains that were slower are of the past.
                self.exact = Samples::default();
            }
            faster
        };
        self.mb_s = new.or(self.mb_s);
        new.is_some()
    }

    /// The estimated bandwidth in MB/s, if there were enough trains.
    pub(crate) fn bandwidth(&self) -> Option<f64> {
        self.mb_s
    }
}
