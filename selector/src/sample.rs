//! The redundancy level of a message, from a cheap sample.
//!
//! PRAcTICaL-MPI (section 3) chooses by "the message datatype and its redundancy level", but does not say how to determine the level. Here, the
//! sample consists of several groups of neighbouring words, spread over the message. The level depends on how many bits a word shares with a word
//! shortly before it. Zeros and repetitions share all bits, smooth numbers the high bits, noise no bits.

use core::hint::black_box;
use mpress_codec::Kind;

/// The redundancy of a message, from its sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Level {
    /// Almost no shared bits: noise, or structure that the sample does not detect.
    None = 0,
    /// Less than a sixth of the bits: numbers in a range.
    Low = 1,
    /// Less than a third: smooth numbers.
    Medium = 2,
    /// Less than two thirds: small integers, very smooth numbers, many zeros.
    High = 3,
    /// More: mostly zeros or repetitions.
    Extreme = 4,
    /// No sample was taken: the message is too short for sampling to pay.
    Unknown = 5,
}

impl Level {
    /// All levels.
    pub const ALL: [Self; 6] =
        [Self::None, Self::Low, Self::Medium, Self::High, Self::Extreme, Self::Unknown];

    /// A short name for files and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        ["none", "low", "medium", "high", "extreme", "unknown"][self as usize]
    }

    /// The level of a message whose words share this fraction of all bits with words shortly before them.
    fn of(shared: u32, all: u32) -> Self {
        match 100 * shared / all {
            ..7 => Self::None,
            7..17 => Self::Low,
            17..34 => Self::Medium,
            34..67 => Self::High,
            _ => Self::Extreme,
        }
    }
}

/// The number of groups in a sample.
const GROUPS: usize = 8;
/// The number of words in a group: two runs that are compared, and the preceding words that they are compared with.
const GROUP: usize = 2 * RUN + LONGEST_LAG;
/// The number of words in a run. Only the word with the most new bits counts, because most codecs use one width for several words.
const RUN: usize = 5;
/// Shared bits are searched at distances of 1, 2, 3 and 5 words. Elements often contain several numbers (a velocity has three).
const LONGEST_LAG: usize = 5;

/// The level of a message; [`Level::Unknown`] if it is shorter than a sample.
#[must_use]
pub fn level(kind: Kind, message: &[u8]) -> Level {
    // Integers have small differences; other words share bits. Bytes without a known structure are compared as words: text shares few bits,
    // repetitions and zeros share all.
    let differences = matches!(kind, Kind::Int64 | Kind::Int32 | Kind::Int16);
    if matches!(kind, Kind::F64 | Kind::Int64) {
        of_words::<8>(message, differences)
    } else if kind == Kind::Int16 {
        of_words::<2>(message, differences)
    } else {
        of_words::<4>(message, differences)
    }
}

/// The bits of a word of `N` bytes that are new relative to another one: the difference, of either sign, or differing bits.
#[inline]
fn news<const N: usize>(word: [u8; N], before: [u8; N], differences: bool) -> u64 {
    let [word, before] = [word, before].map(|bytes| {
        let mut all = [0; 8];
        all[..N].copy_from_slice(&bytes);
        u64::from_le_bytes(all)
    });
    let unused = 64 - 8 * N as u32;
    let less = (word.wrapping_sub(before) << unused).cast_signed() >> unused;
    if differences { ((less << 1) ^ (less >> 63)).cast_unsigned() } else { word ^ before }
}

/// The code is short rather than fast, and has no tables: the program's own work has evicted both from the caches, and loading them takes longer than
/// running the code. So the lengths of loops are hidden from the compiler, to prevent unrolling.
fn of_words<const N: usize>(message: &[u8], differences: bool) -> Level {
    let (words, _) = message.as_chunks::<N>();
    let Some(free) = words.len().checked_sub(GROUP) else { return Level::Unknown };
    let groups = || {
        (0..black_box(GROUPS))
            .filter_map(|group| words.get(free * group / (GROUPS - 1)..)?.first_chunk::<GROUP>())
    };
    // The memory of all groups is prefetched before any is waited for.
    black_box(groups().fold(0, |all, group| all | group[0][0]));
    let bits = 8 * N as u32;
    let mut most = 0;
    for lag in (1..=black_box(LONGEST_LAG)).filter(|lag| *lag != 4) {
        let mut shared = 0;
        for group in groups() {
            for run in [GROUP - 2 * RUN, GROUP - RUN] {
                let (run, before) = (&group[run..run + RUN], &group[run.saturating_sub(lag)..]);
                let new = run.iter().zip(before).fold(0, |new, (a, b)| new | news(*a, *b, differences));
                shared += bits - (u64::BITS - new.leading_zeros()).min(bits);
            }
        }
        most = most.max(shared);
    }
    Level::of(most, bits * 2 * GROUPS as u32)
}
