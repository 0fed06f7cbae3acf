//! Chooses the symbols' width by sampling.
#![forbid(unsafe_code)]

use super::runs::least_run;
use crate::width::Width;

/// The length of a sample in bytes, and the number of samples.
const PLACE: usize = 128;
const PLACES: usize = 8;
/// The bytes that a run takes besides its symbol. The symbol is not counted: otherwise bytes would win for a single long run.
const TOKEN: usize = 2;

/// The width whose runs save most; the greatest one if there are ties.
pub(super) fn width(raw: &[u8]) -> Width {
    let mut savings = [0; 4];
    // Samples begin at whole symbols of every width.
    let step = (raw.len() / PLACES).max(PLACE) / 8 * 8;
    for place in raw.chunks(step).map(|rest| &rest[..rest.len().min(PLACE)]) {
        let by_width = [saving::<1>(place), saving::<2>(place), saving::<4>(place), saving::<8>(place)];
        savings.iter_mut().zip(by_width).for_each(|(sum, saving)| *sum += saving);
    }
    let pairs = Width::ALL.into_iter().zip(savings);
    pairs.max_by_key(|(_, saving)| *saving).map_or(Width::Eight, |(width, _)| width)
}

/// The bytes that runs of symbols of `S` bytes save.
fn saving<const S: usize>(bytes: &[u8]) -> usize {
    let symbols = bytes.as_chunks::<S>().0;
    let mut sum = 0;
    let mut repeats = 0;
    for (symbol, next) in symbols.iter().zip(symbols.iter().skip(1).map(Some).chain([None])) {
        if Some(symbol) == next {
            repeats += 1;
            continue;
        }
        if repeats >= least_run(S) {
            sum += ((repeats + 1) * S).saturating_sub(TOKEN);
        }
        repeats = 0;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use std::vec;
    use std::vec::Vec;

    #[test]
    fn the_width_is_that_of_what_repeats() {
        for width in Width::ALL {
            let symbols = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
            let raw: Vec<u8> =
                (0..4000_u64).flat_map(|i| symbols(i / 11).into_iter().take(width.bytes())).collect();
            assert_eq!(super::width(&raw), width);
        }
        assert_eq!(super::width(&vec![7; 10_000]), Width::Eight);
        assert_eq!(super::width(&[]), Width::Eight);
    }
}
