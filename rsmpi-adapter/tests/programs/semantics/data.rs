//! Test messages: smooth data, which becomes frames, and noise, which does not.

/// Lengths in elements: around the shortest frame and the steps of frame lengths, up to a block and more.
pub(crate) const LENGTHS: [usize; 12] = [0, 1, 100, 127, 128, 129, 255, 1000, 4099, 50_000, 131_072, 140_001];

/// A message of doubles that differs for each seed.
pub(crate) fn doubles(smooth: bool, seed: i32, len: usize) -> Vec<f64> {
    let at = |i: usize| {
        if smooth { f64::from(seed) + (i as f64 * 1e-3).sin() } else { f64::from_bits(noise(seed, i)) }
    };
    (0..len).map(at).collect()
}

/// A message of bytes that differs for each seed.
pub(crate) fn bytes(smooth: bool, seed: i32, len: usize) -> Vec<u8> {
    let at = |i: usize| if smooth { (i / 50) as u8 ^ seed as u8 } else { noise(seed, i) as u8 };
    (0..len).map(at).collect()
}

/// The mixing function of splitmix64.
pub(crate) fn noise(seed: i32, i: usize) -> u64 {
    let mut word = (i as u64 + 1).wrapping_add((seed as u64) << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// The bits of the values, because NaNs do not compare equal.
pub(crate) fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}
