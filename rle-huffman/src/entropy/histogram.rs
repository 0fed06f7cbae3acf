//! Byte counts, and estimates from them.
#![forbid(unsafe_code)]

/// The number of occurrences of each byte in a plane of at most 2^16 bytes.
pub(crate) type Counts = [u32; 256];

/// The number of bytes that are sampled, and the number of pieces.
const SAMPLE: usize = 512;
const PIECES: usize = 8;
/// A sample with more bits per byte than this, in 1/256, is considered noise.
const NOISE: u32 = 8 * 256 - 40;

/// Fewer bytes than this are counted in a single table.
const FEW: usize = 1024;

/// Counts the bytes of a plane. For many bytes, uses eight tables: otherwise repeated equal bytes would wait for their own count.
#[inline(always)]
pub(crate) fn count(bytes: &[u8]) -> Counts {
    let mut counts = [0; 256];
    let (words, rest) = if bytes.len() < FEW { (&[][..], bytes) } else { bytes.as_chunks::<8>() };
    if !words.is_empty() {
        let mut tables = [[0_u16; 256]; 8];
        for word in words {
            // A load of eight bytes with shifts is cheaper than eight loads.
            let word = u64::from_le_bytes(*word);
            for (table, shift) in tables.iter_mut().zip((0..).step_by(8)) {
                let count = &mut table[usize::from((word >> shift) as u8)];
                *count = count.wrapping_add(1);
            }
        }
        for table in tables {
            for (count, more) in counts.iter_mut().zip(table) {
                *count += u32::from(more);
            }
        }
    }
    for byte in rest {
        counts[usize::from(*byte)] += 1;
    }
    counts
}

/// Whether some samples of a plane look like noise, so that counting its bytes does not pay.
#[inline(always)]
pub(crate) fn is_noise(plane: &[u8]) -> bool {
    if plane.len() < 4 * SAMPLE {
        return false;
    }
    let mut sample = [0; SAMPLE];
    for (to, from) in sample.chunks_exact_mut(SAMPLE / PIECES).zip(plane.chunks_exact(plane.len() / PIECES)) {
        to.copy_from_slice(&from[..SAMPLE / PIECES]);
    }
    let pairs: u64 = count(&sample).iter().map(|n| u64::from(*n) * u64::from(n.saturating_sub(1))).sum();
    let all = (SAMPLE * (SAMPLE - 1)) as u64;
    log2(all).saturating_sub(log2(pairs.max(1))) > NOISE
}

/// A lower bound on the bits that any code takes for this number of bytes: the collision entropy (Renyi's of order 2), which never exceeds Shannon's.
#[inline(always)]
pub(crate) fn least_bits(counts: &Counts, len: usize) -> u64 {
    let squares: u64 = counts.iter().map(|n| u64::from(*n) * u64::from(*n)).sum();
    let len = len as u64;
    u64::from(log2(len * len).saturating_sub(log2(squares.max(1)) + 10)) * len / 256
}

/// The binary logarithm of a number above 0, in 1/256, with an error of at most 5.
fn log2(n: u64) -> u32 {
    let zeros = n.leading_zeros();
    let x = (n << zeros << 1 >> 56) as u32;
    (63 - zeros) * 256 + x + ((x * (256 - x) * 88) >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_counted() {
        let bytes: [u8; 3001] = core::array::from_fn(|i| (i % 7) as u8);
        assert_eq!(count(&bytes[..300])[..8], [43, 43, 43, 43, 43, 43, 42, 0]);
        assert_eq!(count(&bytes)[..8], [429, 429, 429, 429, 429, 428, 428, 0]);
    }

    #[test]
    fn logarithms_are_near() {
        for n in (1..5000).chain((1..60).map(|shift| (1 << shift) + 12_345)) {
            let exact = (n as f64).log2() * 256.0;
            assert!((f64::from(log2(n)) - exact).abs() < 5.0, "{n}");
        }
    }

    #[test]
    fn the_collision_entropy_is_a_lower_bound() {
        let mut counts = [0; 256];
        (counts[0], counts[1]) = (32, 32);
        assert!((60..=64).contains(&least_bits(&counts, 64)));
    }
}
