//! Data families: typical messages, from smooth fields to noise.

use std::vec::Vec;

/// A named generator of a message of a given length in bytes.
pub type Family = (&'static str, fn(usize) -> Vec<u8>);

/// All families of test data. The same length always gives the same bytes.
#[must_use]
pub fn families() -> [Family; 13] {
    [
        ("random", |n| random_bytes(1, n)),
        ("zeros", |n| fill(n, |_| 0)),
        ("constant", |n| fill(n, |_| 1.234_567_89_f64.to_bits())),
        ("smooth f64", |n| fill(n, |i| (1.0 + 0.5 * (i as f64 * 0.01).sin()).to_bits())),
        ("smooth f32", |n| {
            fill(n, |i| {
                let at = |j: u64| u64::from(((j as f32) * 0.02).cos().to_bits());
                at(2 * i) | at(2 * i + 1) << 32
            })
        }),
        ("records of five", |n| {
            fill(n, |i| ((i % 5) as f64 * 100.0 + (i / 5) as f64 * (1.0 + (i % 5) as f64)).to_bits())
        }),
        ("noise on a level", |n| fill(n, |i| (1000.0 + (mix(i) >> 11) as f64 * 2.0_f64.powi(-53)).to_bits())),
        ("f64 specials", |n| fill(n, |i| SPECIALS_64[(mix(i) % SPECIALS_64.len() as u64) as usize])),
        ("f32 specials", |n| {
            let at = |j: u64| u64::from(SPECIALS_32[(mix(j) % SPECIALS_32.len() as u64) as usize]);
            fill(n, |i| at(2 * i) | at(2 * i + 1) << 32)
        }),
        ("sorted integers", |n| fill(n, |i| i * 1000 + mix(i) % 1000)),
        ("small signed integers", |n| fill(n, |i| (mix(i) % 200).wrapping_sub(100))),
        ("text", |n| {
            b"It was the best of times, it was the worst of times; ".iter().copied().cycle().take(n).collect()
        }),
        ("zeros and noise", |n| fill(n, |i| if mix(i / 16).is_multiple_of(2) { 0 } else { mix(i) })),
    ]
}

const SPECIALS_64: [u64; 12] = [
    0,
    1 << 63,               // -0
    0x7ff0_0000_0000_0000, // infinity
    0xfff0_0000_0000_0000, // -infinity
    0x7ff8_0000_0000_0000, // quiet NaN
    0x7ff0_0000_0000_0001, // signalling NaN
    0xffff_ffff_ffff_ffff, // NaN with every payload bit
    1,                     // smallest denormal
    0x000f_ffff_ffff_ffff, // largest denormal
    0x0010_0000_0000_0000, // smallest normal
    0x7fef_ffff_ffff_ffff, // largest finite
    0x3ff0_0000_0000_0000, // 1
];

const SPECIALS_32: [u32; 10] = [
    0,
    1 << 31,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x7f80_0001,
    0xffff_ffff,
    1,
    0x007f_ffff,
    0x3f80_0000,
];

/// `n` pseudo-random bytes, the same for the same `seed`.
#[must_use]
pub fn random_bytes(seed: u64, n: usize) -> Vec<u8> {
    fill(n, |i| mix(seed.wrapping_mul(0x0100_0000_01b3).wrapping_add(i)))
}

/// A header as in the formats of mpress: the bytes `first`, then `len` in groups of 7 bits. A second implementation, so that tests do not depend on
/// the [code under test](crate::length).
#[must_use]
pub fn header(first: &[u8], mut len: usize) -> Vec<u8> {
    let mut header = first.to_vec();
    while len >= 128 {
        header.push(len as u8 | 128);
        len >>= 7;
    }
    header.push(len as u8);
    header
}

/// `n` bytes from little-endian words, the last of which may be cut off.
fn fill(n: usize, word: impl Fn(u64) -> u64) -> Vec<u8> {
    (0..n.div_ceil(8) as u64).flat_map(|i| word(i).to_le_bytes()).take(n).collect()
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): a bijection whose output looks random.
fn mix(i: u64) -> u64 {
    let z = i.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
