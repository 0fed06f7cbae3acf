//! The rate of a link, and the token bucket that limits the link to it.

use std::fmt;

/// The rate of a link in bits per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// A rate in bits per second.
    #[must_use]
    pub const fn bits(per_second: u64) -> Self {
        Self(per_second)
    }

    /// A rate in megabits per second.
    #[must_use]
    pub const fn mbit(per_second: u64) -> Self {
        Self(per_second * 1_000_000)
    }

    /// A rate in gigabits per second.
    #[must_use]
    pub const fn gbit(per_second: u64) -> Self {
        Self(per_second * 1_000_000_000)
    }

    /// Bits per second.
    #[must_use]
    pub const fn bits_per_second(self) -> u64 {
        self.0
    }

    /// The size of the token bucket in bytes.
    ///
    /// If it is too small, the kernel's timer cannot sustain the rate; if it is too large, a whole message passes at memory speed: with 1 MiB, a 10
    /// Gbit/s link carried 1 MiB messages at 19 Gbit/s.
    pub(crate) const fn burst(self) -> u64 {
        const KIB: u64 = 1024;
        match self.0 {
            0..=100_000_000 => 16 * KIB,
            100_000_001..=1_000_000_000 => 64 * KIB,
            1_000_000_001..=10_000_000_000 => 256 * KIB,
            _ => 512 * KIB,
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bits if bits >= 1_000_000_000 && bits % 100_000_000 == 0 => {
                let tenths = bits / 100_000_000;
                if tenths % 10 == 0 {
                    write!(f, "{} Gbit/s", tenths / 10)
                } else {
                    write!(f, "{}.{} Gbit/s", tenths / 10, tenths % 10)
                }
            }
            bits if bits >= 1_000_000 && bits % 1_000_000 == 0 => write!(f, "{} Mbit/s", bits / 1_000_000),
            bits => write!(f, "{bits} bit/s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Rate;

    #[test]
    fn is_shown_as_people_say_it() {
        let shown = [
            (Rate::mbit(100), "100 Mbit/s"),
            (Rate::gbit(1), "1 Gbit/s"),
            (Rate::mbit(2500), "2.5 Gbit/s"),
            (Rate::mbit(1234), "1234 Mbit/s"),
            (Rate::gbit(25), "25 Gbit/s"),
            (Rate::bits(56_000), "56000 bit/s"),
        ];
        for (rate, text) in shown {
            assert_eq!(rate.to_string(), text);
        }
    }

    #[test]
    fn the_bucket_grows_with_the_rate() {
        let bursts = [Rate::mbit(100), Rate::gbit(1), Rate::gbit(10), Rate::gbit(25)].map(Rate::burst);
        assert_eq!(bursts, [16 << 10, 64 << 10, 256 << 10, 512 << 10]);
    }
}
