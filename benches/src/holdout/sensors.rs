//! External numbers: readings rounded to a few decimals, eight interleaved channels; and random numbers.

use super::{Messages, Rng, bytes, length};
use bytemuck::Pod;
use num_traits::Float;
use rand::RngExt;
use rand_distr::StandardNormal;

/// The initial value of each channel, its change per reading, and the number of decimals.
const CHANNELS: [(f64, f64, i32); 8] = [
    (21.5, 0.02, 2),
    (1013.2, 0.1, 1),
    (47.0, 0.3, 1),
    (3.305, 0.002, 3),
    (0.0, 1.5, 0),
    (8.15, 0.05, 2),
    (230.1, 0.4, 1),
    (49.998, 0.003, 3),
];

pub(super) fn readings<T: Float + Pod>(rng: &mut Rng) -> Messages {
    let mut now = CHANNELS.map(|(start, ..)| start);
    let mut message = |len: usize| {
        let mut elements: Vec<T> = Vec::new();
        while elements.len() < len / size_of::<T>() {
            let (channel, reading) = (elements.len() % 8, &mut now[elements.len() % 8]);
            let (_, step, decimals) = CHANNELS[channel];
            *reading += step * rng.sample::<f64, _>(StandardNormal);
            let unit = 10_f64.powi(decimals);
            elements.push(T::from((*reading * unit).round() / unit).unwrap_or_else(T::zero));
        }
        bytes(&elements)
    };
    (0..8).flat_map(|_| [4 << 10, 24 << 10, 64 << 10, 128 << 10]).map(&mut message).collect()
}

/// Doubles from 0 to 1, of 53 random bits.
pub(super) fn random(rng: &mut Rng) -> Messages {
    let message = |_| (0..length(rng) / 8).map(|_| rng.random::<f64>()).collect::<Vec<_>>();
    (0..36).map(message).map(|elements| bytes(&elements)).collect()
}
