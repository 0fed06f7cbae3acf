//! Compressed against raw by the clock.
//!
//! What a decision gains is estimated message by message, from what is believed of network and codecs. Here that belief is put to the test:
//! for some epochs of the run everything goes raw. A program that sends the same bytes in less time is faster, whatever the reason, and this
//! is all that is compared: bytes per time of both ways, over randomly chosen epochs, with the standard error of either. Waiting that
//! is hidden by computation, processors that others need while this one encodes, partners that come late: all are in it.
//!
//! All ranks must change at the same time, as a rank also waits for what others send. They do without a word if their clocks start together.

/// How long an epoch is. Many messages must pass in one, as those under way when it begins belong to the one before.
const EPOCH_NS: u64 = 25_000_000;
/// The clock is read after this number of bytes: short messages take less time than a look at it.
const UNREAD: usize = 16 << 10;
/// No epoch before this one is given away: what a short job could learn is less than what it would pay.
const FIRST: u64 = 16;
/// One epoch of this many goes to the way that is not in use, ...
const RARE: u64 = 32;
/// ... and of this many once it is known which is better. A multiple of [`RARE`], so that ranks that know and ranks that do not still
/// agree on most.
const RARER: u64 = 128;
/// Segments of the rarer way that there must be before anything is concluded.
const ENOUGH: f64 = 8.0;
/// How many standard errors, squared, make a difference certain.
const CERTAIN: f64 = 9.0;
/// What remains of old segments' weight after each new one: what a program did a thousand segments ago hardly counts.
const MEMORY: f64 = 1.0 - 1.0 / 1024.0;

/// How messages go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// As the selector decides.
    Decided,
    /// All raw.
    Raw,
}

impl Way {
    const fn other(self) -> Self {
        match self {
            Self::Decided => Self::Raw,
            Self::Raw => Self::Decided,
        }
    }
}

/// Bytes per nanosecond over several segments, as a ratio of means.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Throughput {
    segments: f64,
    bytes: f64,
    ns: f64,
    /// Sums of squares and products, for the error.
    bytes_bytes: f64,
    bytes_ns: f64,
    ns_ns: f64,
}

impl Throughput {
    fn add(&mut self, bytes: f64, ns: f64) {
        let terms = [1.0, bytes, ns, bytes * bytes, bytes * ns, ns * ns];
        let sums = [
            &mut self.segments,
            &mut self.bytes,
            &mut self.ns,
            &mut self.bytes_bytes,
            &mut self.bytes_ns,
            &mut self.ns_ns,
        ];
        sums.into_iter().zip(terms).for_each(|(sum, term)| *sum = *sum * MEMORY + term);
    }

    fn rate(&self) -> f64 {
        self.bytes / self.ns
    }

    /// The variance of the [rate](Self::rate): that of a ratio estimator (Cochran, Sampling Techniques, section 6.4).
    fn variance(&self) -> f64 {
        let rate = self.rate();
        let residuals = self.bytes_bytes - 2.0 * rate * self.bytes_ns + rate * rate * self.ns_ns;
        residuals.max(0.0) * self.segments / ((self.segments - 1.0) * self.ns * self.ns)
    }
}

/// What the clock says of both ways.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ByTheClock {
    /// By what factor messages as decided pass faster than raw ones.
    pub speedup: f64,
    /// The standard error of that.
    pub error: f64,
}

/// The stretch of time that is being measured: from a message to the first one of a later epoch.
#[derive(Clone, Copy, Debug)]
struct Segment {
    epoch: u64,
    way: Way,
    start_ns: u64,
    bytes: f64,
    /// Bytes since the clock was read last.
    unread: usize,
}

/// Gives each message its way, and learns which is better.
#[derive(Clone, Debug)]
pub(crate) struct Epochs {
    in_use: Way,
    /// Whether it is certain that the other one is worse.
    confirmed: bool,
    segment: Option<Segment>,
    throughputs: [Throughput; 2],
}

impl Epochs {
    pub(crate) fn new() -> Self {
        Self {
            in_use: Way::Decided,
            confirmed: false,
            segment: None,
            throughputs: [Throughput::default(); 2],
        }
    }

    /// The way of a message of this many bytes. `now_ns`: how long ago the common beginning was; it is not asked for each short message.
    pub(crate) fn way(&mut self, len: usize, now_ns: impl FnOnce() -> u64) -> Way {
        let bytes = len as f64;
        if let Some(segment) = self.segment.as_mut().filter(|segment| segment.unread < UNREAD) {
            segment.unread = segment.unread.saturating_add(len);
            segment.bytes += bytes;
            return segment.way;
        }
        let now_ns = now_ns();
        let epoch = now_ns / EPOCH_NS;
        if let Some(segment) = self.segment.as_mut().filter(|segment| segment.epoch >= epoch) {
            segment.unread = len;
            segment.bytes += bytes;
            return segment.way;
        }
        if let Some(Segment { way, start_ns, bytes, .. }) = self.segment {
            self.throughputs[way as usize].add(bytes, now_ns.saturating_sub(start_ns) as f64);
            self.conclude();
        }
        let way = self.way_in(epoch);
        self.segment = Some(Segment { epoch, way, start_ns: now_ns, bytes, unread: len });
        way
    }

    fn way_in(&self, epoch: u64) -> Way {
        let every = if self.confirmed { RARER } else { RARE };
        if epoch >= FIRST && random(epoch).is_multiple_of(every) { self.in_use.other() } else { self.in_use }
    }

    /// Changes to the other way once that is certainly faster.
    fn conclude(&mut self) {
        let [used, other] = [self.in_use, self.in_use.other()].map(|way| self.throughputs[way as usize]);
        if other.segments < ENOUGH || used.segments < ENOUGH {
            return;
        }
        let (difference, variance) = (other.rate() - used.rate(), used.variance() + other.variance());
        let certain = difference * difference > CERTAIN * variance;
        self.confirmed = certain && difference < 0.0;
        if certain && difference > 0.0 {
            self.in_use = self.in_use.other();
            self.throughputs = [Throughput::default(); 2];
        }
    }

    /// What the clock says; `None` while there are too few raw epochs.
    pub(crate) fn by_the_clock(&self) -> Option<ByTheClock> {
        let [decided, raw] = self.throughputs;
        if decided.segments < ENOUGH || raw.segments < ENOUGH {
            return None;
        }
        let speedup = decided.rate() / raw.rate();
        let relative = |of: &Throughput| of.variance() / (of.rate() * of.rate());
        let error = speedup * sqrt(relative(&decided) + relative(&raw));
        (speedup.is_finite() && error.is_finite()).then_some(ByTheClock { speedup, error })
    }
}

/// A number that looks random, of each epoch always the same (splitmix64, Steele, Lea and Flood 2014).
fn random(epoch: u64) -> u64 {
    let mut z = epoch.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The square root, which `core` does not have: Heron's method, from above.
fn sqrt(x: f64) -> f64 {
    if !(x > 0.0 && x.is_finite()) {
        return x;
    }
    let mut root = x.max(1.0);
    loop {
        let next = f64::midpoint(root, x / root);
        if next >= root {
            return root;
        }
        root = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that sends eight messages an iteration and then computes.
    struct Program {
        now_ns: f64,
        noise: u64,
    }

    impl Program {
        fn new() -> Self {
            Self { now_ns: 0.0, noise: 0 }
        }

        /// From 0.8 to 1.2, or now and then 3: other work on the machine.
        fn jitter(&mut self) -> f64 {
            self.noise += 1;
            let random = random(self.noise ^ 0xabcd) % 1000;
            if random < 10 { 3.0 } else { 0.8 + 0.4 * random as f64 / 1000.0 }
        }

        /// Runs for some seconds; gives iterations in all, and the iterations whose messages went raw.
        fn run(&mut self, epochs: &mut Epochs, seconds: f64, decided_us: f64, raw_us: f64) -> (u32, u32) {
            let end = self.now_ns + seconds * 1e9;
            let (mut all, mut raw) = (0, 0);
            while self.now_ns < end {
                let mut way = Way::Decided;
                for _ in 0..8 {
                    way = epochs.way(10_000, || self.now_ns as u64);
                    self.now_ns += 1e3;
                }
                let us = if way == Way::Raw { raw_us } else { decided_us };
                self.now_ns += us * 1e3 * self.jitter();
                all += 1;
                raw += u32::from(way == Way::Raw);
            }
            (all, raw)
        }
    }

    #[test]
    fn what_gains_is_kept_and_little_is_given_away() {
        let (mut epochs, mut program) = (Epochs::new(), Program::new());
        let (all, raw) = program.run(&mut epochs, 60.0, 900.0, 1000.0);
        assert!(raw * 25 < all, "{raw} of {all}");
        let clock = epochs.by_the_clock().unwrap();
        assert!(
            (clock.speedup - 1000.0 / 900.0).abs() < 3.0 * clock.error && clock.error < 0.02,
            "{clock:?}"
        );
        assert_eq!(epochs.in_use, Way::Decided);
    }

    #[test]
    fn what_loses_is_found_out_and_given_up() {
        // A loss of a twentieth, which no estimate has seen.
        let (mut epochs, mut program) = (Epochs::new(), Program::new());
        program.run(&mut epochs, 60.0, 1050.0, 1000.0);
        assert_eq!(epochs.in_use, Way::Raw);
        let (all, raw) = program.run(&mut epochs, 60.0, 1050.0, 1000.0);
        assert!(f64::from(raw) > 0.95 * f64::from(all), "{raw} of {all}");
        // And taken up again when the network has become slow.
        program.run(&mut epochs, 60.0, 1050.0, 2000.0);
        assert_eq!(epochs.in_use, Way::Decided);
    }

    #[test]
    fn no_difference_is_no_reason_to_change() {
        let (mut epochs, mut program) = (Epochs::new(), Program::new());
        program.run(&mut epochs, 120.0, 1000.0, 1000.0);
        let clock = epochs.by_the_clock().unwrap();
        assert!((clock.speedup - 1.0).abs() < 3.0 * clock.error, "{clock:?}");
    }

    #[test]
    fn a_short_job_is_not_experimented_with() {
        let (mut epochs, mut program) = (Epochs::new(), Program::new());
        let (_, raw) = program.run(&mut epochs, 0.4, 900.0, 1000.0);
        assert_eq!((raw, epochs.by_the_clock()), (0, None));
    }

    #[test]
    fn odd_clocks_do_no_harm() {
        let mut epochs = Epochs::new();
        for now in [0, u64::MAX, 5, u64::MAX, 0, 1 << 62] {
            let _ = epochs.way(usize::MAX, || now);
        }
        for now in 0..1000 {
            let _ = epochs.way(0, || now * EPOCH_NS);
        }
        assert_eq!(epochs.by_the_clock(), None, "nothing was sent");
    }

    #[test]
    fn ranks_that_know_and_ranks_that_do_not_agree_on_most() {
        let rarer = (0..100_000).filter(|epoch| random(*epoch).is_multiple_of(RARER));
        let mut rarer = rarer.peekable();
        assert!(rarer.peek().is_some() && rarer.all(|epoch| random(epoch).is_multiple_of(RARE)));
    }

    #[test]
    fn roots() {
        for x in [1e-30, 0.04, 1.0, 2.0, 9.0, 1e30] {
            assert!((sqrt(x) / x.sqrt() - 1.0).abs() < 1e-12, "{x}");
        }
        assert_eq!(sqrt(0.0), 0.0);
    }
}
