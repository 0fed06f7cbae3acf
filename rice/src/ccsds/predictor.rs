//! The unit-delay predictor and its mapper (CCSDS 121.0-B-3, section 4).
//!
//! A sample is predicted to be the one before it. How far it is from that becomes a number without a sign, small for small distances;
//! since samples have a least and a greatest value, all numbers are samples again. Signed samples come here with their
//! sign bit flipped: then the least one is 0, and all else is the same.
#![forbid(unsafe_code)]

/// The residual of a sample after another; neither is above `greatest`.
#[inline(always)]
pub(super) fn residual(sample: u32, before: u32, greatest: u32) -> u32 {
    // So far samples can be on both sides.
    let reach = before.min(greatest.wrapping_sub(before));
    let distance = sample.abs_diff(before);
    let below = u32::from(sample < before);
    if distance <= reach { (distance << 1).wrapping_sub(below) } else { reach.wrapping_add(distance) }
}

/// The inverse: the sample that a residual, not above `greatest`, is of.
#[inline(always)]
pub(super) fn sample(residual: u32, before: u32, greatest: u32) -> u32 {
    let reach = before.min(greatest.wrapping_sub(before));
    let distance = (residual >> 1) + (residual & 1);
    if distance > reach {
        return far(residual, before, reach);
    }
    // An odd residual is below. Only this addition waits for the sample before.
    before.wrapping_add(residual >> 1 ^ (residual & 1).wrapping_neg())
}

/// The sample on the side where there are any left. Apart, so that it is a branch and not a choice of two results.
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
