//! The unit-delay predictor and its mapper (CCSDS 121.0-B-3, section 4).
//!
//! The prediction of a sample is the previous sample. The difference becomes an unsigned number, small for small differences. Samples have a minimum
//! and a maximum, so each such number corresponds to a sample. Signed samples are passed with the sign bit flipped: the minimum is then 0, and
//! nothing else changes.
#![forbid(unsafe_code)]

/// The residual of a sample, given the previous one; neither exceeds `greatest`.
#[inline(always)]
pub(super) fn residual(sample: u32, before: u32, greatest: u32) -> u32 {
    // Up to this distance, there are samples on both sides.
    let reach = before.min(greatest.wrapping_sub(before));
    let distance = sample.abs_diff(before);
    let below = u32::from(sample < before);
    if distance <= reach { (distance << 1).wrapping_sub(below) } else { reach.wrapping_add(distance) }
}

/// The inverse: the sample with this residual, which must not exceed `greatest`.
#[inline(always)]
pub(super) fn sample(residual: u32, before: u32, greatest: u32) -> u32 {
    let reach = before.min(greatest.wrapping_sub(before));
    let distance = (residual >> 1) + (residual & 1);
    if distance > reach {
        return far(residual, before, reach);
    }
    // An odd residual means a smaller sample. Only this addition depends on the previous sample.
    before.wrapping_add(residual >> 1 ^ (residual & 1).wrapping_neg())
}

/// The sample on the side that still has samples. A separate function, so that it is a branch and not a selection between two results.
#[cold]
#[inline(never)]
fn far(residual: u32, before: u32, reach: u32) -> u32 {
    let distance = residual.wrapping_sub(reach);
    if reach == before { before.wrapping_add(distance) } else { before.wrapping_sub(distance) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_has_a_residual_of_its_own() {
        for greatest in [1, 3, 7, 63, 255] {
            for before in 0..=greatest {
                let mut seen = [false; 256];
                for next in 0..=greatest {
                    let residual = residual(next, before, greatest);
                    assert_eq!(sample(residual, before, greatest), next, "{before}, {greatest}");
                    assert!(residual <= greatest && !seen[residual as usize]);
                    seen[residual as usize] = true;
                }
            }
        }
        for before in [0, 1, 1 << 31, (1 << 31) - 1, u32::MAX] {
            for next in [0, 1, 1 << 31, (1 << 31) - 1, u32::MAX, 12345] {
                let residual = residual(next, before, u32::MAX);
                assert_eq!(sample(residual, before, u32::MAX), next, "{before}");
            }
        }
    }
}
