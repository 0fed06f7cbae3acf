//! The redundancy level of a message, from a cheap sample.
//!
//! PRAcTICaL-MPI (section 3) chooses by "the message datatype and its redundancy level" without saying how the latter is determined. Here, the sample
//! is several groups of neighbouring words, spread over the message; the level is given by the bits that a word shares with one shortly before it.
//! Zeros and repetitions share all bits, smooth numbers the high ones, noise none.

use core::hint::black_box;
use mpress_codec::Kind;

/// The redundancy of a message in its sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Level {
    /// Almost no shared bits: noise, or structure that the sample does not detect.
    None = 0,
    /// Less than a sixth of the bits: numbers of a range.
    Low = 1,
    /// Less than a third: smooth numbers.
    Medium = 2,
    /// Less than two thirds: small integers, very smooth numbers, many zeros.
    High = 3,
    /// More: mostly zeros or repetitions.
    Extreme = 4,
    /// No sample was taken: the message is too short for it to pay.
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

    /// The level of a message whose words share this fraction (0 to 1) of their bits with words shortly before them.
    fn of(shared: f32) -> Self {
        match shared {
            ..0.07 => Self::None,
            ..0.17 => Self::Low,
            ..0.34 => Self::Medium,
            ..0.67 => Self::High,
            _ => Self::Extreme,
        }
    }
}

/// The number of groups in a sample.
const GROUPS: usize = 8;
/// The number of words in a group: two runs that are compared, and the words before them that they are compared with.
const GROUP: usize = 2 * RUN + LAGS[LAGS.len() - 1];
/// The number of words in a run; only the word with the most new bits counts, as most codecs use one width for several words.
const RUN: usize = 5;
/// The distances in words at which shared bits are looked for. Elements often contain several numbers (a velocity has three).
const LAGS: [usize; 4] = [1, 2, 3, 5];

/// The level of a message; [`Level::Unknown`] if it is shorter than a sample.
#[must_use]
pub fn level(kind: Kind, message: &[u8]) -> Level {
    match kind {
        Kind::F64 => of_words(message, u64::from_le_bytes, |a, b| a ^ b),
        Kind::Int64 => of_words(message, u64::from_le_bytes, |a, b| zigzag(a.wrapping_sub(b).cast_signed())),
        Kind::F32 => of_words(message, u32::from_le_bytes, |a, b| u64::from(a ^ b)),
        Kind::Int32 => {
            of_words(message, u32::from_le_bytes, |a, b| zigzag(i64::from(a.wrapping_sub(b).cast_signed())))
        }
        Kind::Int16 => {
            of_words(message, u16::from_le_bytes, |a, b| zigzag(i64::from(a.wrapping_sub(b).cast_signed())))
        }
        // Bytes without a known structure are compared as words; text shares few bits, repetitions and zeros share all.
        Kind::Int8 | Kind::Other => of_words(message, u32::from_le_bytes, |a, b| u64::from(a ^ b)),
    }
}

/// Maps small differences to small numbers, whatever their sign.
fn zigzag(difference: i64) -> u64 {
    ((difference << 1) ^ (difference >> 63)).cast_unsigned()
}

/// The code is short rather than fast: a program's own work has taken it from the caches, and it takes longer to load it than to run it. So no loop is
/// unrolled whose length can be hidden.
fn of_words<const N: usize, W: Copy>(
    message: &[u8],
    word: impl Fn([u8; N]) -> W,
    news: impl Fn(W, W) -> u64,
) -> Level {
    let (words, _) = message.as_chunks::<N>();
    let Some(free) = words.len().checked_sub(GROUP) else { return Level::Unknown };
    let groups = || {
        (0..black_box(GROUPS))
            .filter_map(|group| words.get(free * group / (GROUPS - 1)..)?.first_chunk::<GROUP>())
    };
    // The memory of all groups is asked for before one is waited for.
    black_box(groups().fold(0, |all, group| all | group[0][0]));
    let bits = 8 * N as u32;
    let mut most = 0;
    for &lag in black_box(&LAGS[..]) {
        let mut shared = 0;
        for group in groups() {
            for run in [GROUP - 2 * RUN, GROUP - RUN] {
                let (run, before) = (&group[run..run + RUN], &group[run.saturating_sub(lag)..]);
                let new = run.iter().zip(before).fold(0, |new, (a, b)| new | news(word(*a), word(*b)));
                shared += bits - (u64::BITS - new.leading_zeros()).min(bits);
            }
        }
        most = most.max(shared);
    }
    Level::of(most as f32 / (bits * 2 * GROUPS as u32) as f32)
}
